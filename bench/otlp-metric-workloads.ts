import { gzipSync } from 'node:zlib';
import { type Random, seededRandom } from '../test/support/lib/random.ts';
import { type Fields, metricsJson, metricsProtobuf } from '../test/support/otlp/otlp-metrics.ts';
import { seed, type Workload } from './workloads.ts';

const seriesCount = 16_384;
const pointsPerMetric = 16;
const pointsPerResource = 512;
const intervalMs = 15_000;

/** A case of data points, named as those of logs and traces are. */
export interface OtlpMetricCase {
  readonly encoding: 'json' | 'protobuf';
  /** Points a request. */
  readonly batch: 512 | 8192;
  readonly gzip: boolean;
}

export const otlpMetricCases: readonly OtlpMetricCase[] = (['json', 'protobuf'] as const).flatMap(
  (encoding) =>
    ([512, 8192] as const).flatMap((batch) => [false, true].map((gzip) => ({ encoding, batch, gzip }))),
);

export const metricCaseName = ({ encoding, batch, gzip }: OtlpMetricCase): string =>
  `metrics, ${encoding}, ${batch}, ${gzip ? 'gzip' : 'plain'}`;

/**
 * Sums as an SDK exports them: each of 16,384 series again every 15 seconds, 16 of a metric, 512 of a
 * resource. The last export is of now, so that no receiver finds a point too old.
 */
export function otlpMetricWorkload(
  kind: OtlpMetricCase,
  points: number,
): Workload & { readonly plain: readonly Buffer[] } {
  const { encoding, batch, gzip } = kind;
  const random = seededRandom(seed);
  const requests = Math.ceil(points / batch);
  const values = Array.from({ length: seriesCount }, () => random.integer(0, 1_000_000));
  const requestsPerExport = seriesCount / batch;
  const firstMs = Date.now() - Math.ceil(requests / requestsPerExport) * intervalMs;
  const plain = Array.from({ length: requests }, (_, index) => {
    const first = (index % requestsPerExport) * batch;
    const timeMs = firstMs + Math.floor(index / requestsPerExport) * intervalMs;
    const request = exportRequest(first, batch, timeMs, values, random);
    return encoding === 'json' ? metricsJson(request) : metricsProtobuf(request);
  });
  const items = requests * batch;
  return {
    name: metricCaseName(kind),
    protocol: 'otlp',
    unit: 'points',
    warmUp: [],
    warmUpItems: 0,
    bodies: gzip ? plain.map((body) => gzipSync(body)) : plain,
    plain,
    items,
    bytesPerItem: plain.reduce((sum, body) => sum + body.length, 0) / items,
    route: {
      path: '/v1/metrics',
      headers: {
        'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
        ...(gzip ? { 'content-encoding': 'gzip' } : {}),
      },
    },
  };
}

const texts = (pairs: Readonly<Record<string, string>>): Fields[] =>
  Object.entries(pairs).map(([key, stringValue]) => ({ key, value: { stringValue } }));

function exportRequest(
  first: number,
  points: number,
  timeMs: number,
  values: number[],
  random: Random,
): Fields {
  const resources = Math.ceil(points / pointsPerResource);
  return {
    resourceMetrics: Array.from({ length: resources }, (_, index) => {
      const start = first + index * pointsPerResource;
      const pod = start / pointsPerResource;
      const metrics = pointsPerResource / pointsPerMetric;
      return {
        resource: { attributes: resourceAttributes(pod) },
        scopeMetrics: [
          {
            scope: { name: '@opentelemetry/instrumentation-http', version: '0.57.1' },
            metrics: Array.from({ length: metrics }, (__, metric) =>
              sum(metric, start + metric * pointsPerMetric, timeMs, values, random),
            ),
          },
        ],
      };
    }),
  };
}

const resourceAttributes = (pod: number): Fields[] =>
  texts({
    'service.name': `checkout-${pod % 5}`,
    'service.namespace': 'shop',
    'service.instance.id': `7f0c2a1e-55b1-4c0f-9d3c-${String(pod).padStart(12, '0')}`,
    'k8s.pod.name': `checkout-6d8f7c9b5-${String(pod).padStart(5, '0')}`,
    'k8s.namespace.name': 'production',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.version': '2.0.1',
  });

function sum(metric: number, first: number, timeMs: number, values: number[], random: Random): Fields {
  const dataPoints = Array.from({ length: pointsPerMetric }, (_, offset) => {
    const series = first + offset;
    values[series] = (values[series] ?? 0) + random.integer(0, 50);
    return {
      startTimeUnixNano: BigInt(timeMs - 3_600_000) * 1_000_000n,
      timeUnixNano: BigInt(timeMs) * 1_000_000n,
      asInt: BigInt(values[series] ?? 0),
      attributes: texts({
        'http.request.method': offset % 2 === 0 ? 'GET' : 'POST',
        'http.route': `/api/v1/orders/${Math.floor(offset / 4)}`,
        'http.response.status_code': String(200 + (offset % 4) * 100),
        'network.protocol.version': '1.1',
      }),
    };
  });
  return {
    name: `http.server.requests.${metric}`,
    unit: '{request}',
    description: 'Requests that were answered',
    sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints },
  };
}
