import * as v from 'valibot';
import type { BodyEncoding, BodyFormat } from '../../../decode/task.ts';
import type { Ingest } from '../../../ingest/ingest-request.ts';
import { bytes } from '../../server/reply-content.ts';
import type { DatasetRequest, Route } from '../../server/route.ts';
import { ingestErrors } from './ingest-routes.ts';
import {
  exportReply,
  otlpContentType,
  otlpJson,
  otlpProtobuf,
  otlpRefusal,
  type PartialSuccess,
} from './otlp-replies.ts';

export interface OtlpRouteOptions {
  readonly ingest: Ingest;
  readonly maxBodyBytes: number;
}

interface Signal {
  readonly path: string;
  readonly name: string;
  /** The name of the protocol's messages, without `Request` or `Response`. */
  readonly message: string;
  /** The dataset for requests that name none: some exporters cannot set a header. */
  readonly defaultDataset: string;
  readonly json: BodyFormat;
  readonly protobuf: BodyFormat;
  readonly partial: PartialSuccess;
}

const signals: readonly Signal[] = [
  {
    path: '/v1/logs',
    name: 'log records',
    message: 'ExportLogsService',
    defaultDataset: 'otel-logs',
    json: 'otlp-logs-json',
    protobuf: 'otlp-logs-protobuf',
    partial: { field: 'rejectedLogRecords', count: ({ counts }) => counts.logs },
  },
  {
    path: '/v1/traces',
    name: 'spans',
    message: 'ExportTraceService',
    defaultDataset: 'otel-traces',
    json: 'otlp-traces-json',
    protobuf: 'otlp-traces-protobuf',
    partial: { field: 'rejectedSpans', count: ({ counts }) => counts.spans },
  },
  {
    path: '/v1/metrics',
    name: 'metrics',
    message: 'ExportMetricsService',
    defaultDataset: 'otel-metrics',
    json: 'otlp-metrics-json',
    protobuf: 'otlp-metrics-protobuf',
    partial: { field: 'rejectedDataPoints', count: ({ counts }) => counts.points },
  },
];

/** 64-bit integers are strings in the JSON of protobuf. */
const partialSuccess = (field: PartialSuccess['field']) =>
  v.object({
    partialSuccess: v.optional(v.object({ [field]: v.string(), errorMessage: v.string() })),
  });

const encodings: readonly BodyEncoding[] = ['identity', 'gzip', 'deflate', 'zstd'];

/**
 * OTLP over HTTP, in JSON and protobuf. The valid part of a request is stored, and the reply counts the rest.
 */
export const otlpRoutes = ({ ingest, maxBodyBytes }: OtlpRouteOptions): Route[] =>
  signals.map(({ path, name, message, defaultDataset, json, protobuf, partial }): Route => {
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
      reference: {
        group: 'Ingest',
        summary: `Write ${name} by OTLP/HTTP`,
        details: 'The valid part of a request is stored, and the reply counts the rest.',
        replies: [
          {
            status: 200,
            description: `An \`${message}Response\`, empty where all of the request is stored.`,
            content: { [otlpJson]: partialSuccess(partial.field), [otlpProtobuf]: bytes },
          },
        ],
        errors: [...ingestErrors, 'bad_json', 'bad_protobuf', 'bad_record', 'too_many_columns'],
      },
      body: {
        reference: {
          description: `An \`${message}Request\`.`,
          content: { [otlpJson]: v.record(v.string(), v.unknown()), [otlpProtobuf]: bytes },
          isRequired: true,
          errors: [],
        },
        maxBytes: maxBodyBytes,
        contentType: otlpContentType,
        encodings,
        reserve: (tenant, dataset) => ingest.admit(tenant, dataset),
      },
      handler,
    };
  });
