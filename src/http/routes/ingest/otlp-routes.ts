import type { BodyEncoding, BodyFormat } from '../../../decode/task.ts';
import type { Ingest } from '../../../ingest/ingest-request.ts';
import type { DatasetRequest, Route } from '../../server/route.ts';
import { exportReply, otlpContentType, otlpJson, otlpRefusal, type PartialSuccess } from './otlp-replies.ts';

export interface OtlpRouteOptions {
  readonly ingest: Ingest;
  readonly maxBodyBytes: number;
}

interface Signal {
  readonly path: string;
  /** Where a request goes that names no dataset: some exporters cannot set a header. */
  readonly defaultDataset: string;
  readonly json: BodyFormat;
  readonly protobuf: BodyFormat;
  readonly partial: PartialSuccess;
}

const signals: readonly Signal[] = [
  {
    path: '/v1/logs',
    defaultDataset: 'otel-logs',
    json: 'otlp-logs-json',
    protobuf: 'otlp-logs-protobuf',
    partial: { field: 'rejectedLogRecords', count: ({ counts }) => counts.logs },
  },
  {
    path: '/v1/traces',
    defaultDataset: 'otel-traces',
    json: 'otlp-traces-json',
    protobuf: 'otlp-traces-protobuf',
    partial: { field: 'rejectedSpans', count: ({ counts }) => counts.spans },
  },
  {
    path: '/v1/metrics',
    defaultDataset: 'otel-metrics',
    json: 'otlp-metrics-json',
    protobuf: 'otlp-metrics-protobuf',
    partial: { field: 'rejectedDataPoints', count: ({ counts }) => counts.points },
  },
];

const encodings: readonly BodyEncoding[] = ['identity', 'gzip', 'deflate', 'zstd'];

/** OTLP over HTTP, in JSON and in protobuf: what can be stored of a request is, and the reply counts the rest. */
export const otlpRoutes = ({ ingest, maxBodyBytes }: OtlpRouteOptions): Route[] =>
  signals.map(({ path, defaultDataset, json, protobuf, partial }): Route => {
    const handler = async (request: DatasetRequest) => {
      const { tenant, dataset, contentType, encoding, body } = request;
      const format = contentType === otlpJson ? json : protobuf;
      const stored = await ingest.write({ tenant, dataset, format, encoding, body, mustExist: false });
      return exportReply(stored, contentType, partial);
    };
    return {
      method: 'POST',
      path,
      permission: 'ingest',
      dataset: 'header',
      defaultDataset,
      refusal: otlpRefusal,
      body: {
        maxBytes: maxBodyBytes,
        contentType: otlpContentType,
        encodings,
        reserve: (tenant, dataset) => ingest.admit(tenant, dataset),
      },
      handler,
    };
  });
