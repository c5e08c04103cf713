/** What a person pastes to send the first data; all of it works as it is. */
export interface SnippetValues {
  /** Where this browser reaches the service. */
  readonly origin: string;
  readonly dataset: string;
  readonly key: string;
}

export interface Snippet {
  readonly id: string;
  readonly label: string;
  /** The dataset that is proposed. */
  readonly dataset: string;
  /** What to do with the text. */
  readonly hint: string;
  readonly text: (values: SnippetValues) => string;
}

const hostOf = (
  origin: string,
): { readonly host: string; readonly port: string; readonly isTls: boolean } => {
  const { hostname, port, protocol } = new URL(origin);
  const isTls = protocol === 'https:';
  return { host: hostname, port: port === '' ? (isTls ? '443' : '80') : port, isTls };
};

export const snippets: readonly Snippet[] = [
  {
    id: 'curl',
    label: 'curl',
    dataset: 'app',
    hint: 'Paste it into a shell.',
    text: ({ origin, dataset, key }) => `curl ${origin}/api/v1/ingest \\
  -H 'X-API-Key: ${key}' \\
  -H 'X-P-Stream: ${dataset}' \\
  -H 'Content-Type: application/json' \\
  -d '[{"level":"info","message":"hello from curl","ms":12},
       {"level":"error","message":"payment refused","ms":950}]'`,
  },
  {
    id: 'collector',
    label: 'Collector',
    dataset: 'otel-logs',
    hint: 'collector.yaml: logs that come by OTLP on port 4318.',
    text: ({ origin, dataset, key }) => `receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:4318
processors:
  batch:
exporters:
  otlphttp:
    endpoint: ${origin}
    headers:
      X-API-Key: ${key}
      X-P-Stream: ${dataset}
service:
  pipelines:
    logs:
      receivers: [otlp]
      processors: [batch]
      exporters: [otlphttp]`,
  },
  {
    id: 'prometheus',
    label: 'Prometheus',
    dataset: 'prometheus',
    hint: 'prometheus.yml; the dataset holds metrics alone.',
    text: ({ origin, dataset, key }) => `remote_write:
  - url: ${origin}/v1/prometheus/write
    headers:
      X-P-Stream: ${dataset}
    authorization:
      credentials: ${key}`,
  },
  {
    id: 'vector',
    label: 'Vector',
    dataset: 'app-logs',
    hint: 'vector.yaml: lines of files.',
    text: ({ origin, dataset, key }) => `sources:
  app:
    type: file
    include: ["/var/log/app/*.log"]
sinks:
  millrace:
    type: http
    inputs: [app]
    uri: ${origin}/api/v1/ingest
    method: post
    encoding:
      codec: json
    compression: gzip
    request:
      headers:
        X-API-Key: "${key}"
        X-P-Stream: ${dataset}`,
  },
  {
    id: 'sdk',
    label: 'OpenTelemetry SDK',
    dataset: 'otel-logs',
    hint: 'Variables of the environment that every SDK reads.',
    text: ({ origin, dataset, key }) => `export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=${origin}/v1/logs
export OTEL_EXPORTER_OTLP_LOGS_HEADERS=X-API-Key=${key},X-P-Stream=${dataset}`,
  },
  {
    id: 'fluent-bit',
    label: 'Fluent Bit',
    dataset: 'app-logs',
    hint: 'fluent-bit.yaml: lines of files, by OTLP.',
    text: ({ origin, dataset, key }) => {
      const { host, port, isTls } = hostOf(origin);
      return `pipeline:
  inputs:
    - name: tail
      path: /var/log/app/*.log
  outputs:
    - name: opentelemetry
      match: "*"
      host: ${host}
      port: ${port}
      tls: ${isTls ? 'on' : 'off'}
      http2: off
      logs_uri: /v1/logs
      header:
        - X-API-Key ${key}
        - X-P-Stream ${dataset}`;
    },
  },
];
