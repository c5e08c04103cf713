import * as v from 'valibot';
import { schemaOf } from '../../../datasets/schema.ts';
import type { ErrorCode } from '../../../errors.ts';
import type { Ingest } from '../../../ingest/ingest-request.ts';
import { limits } from '../../../limits/limits.ts';
import { acceptMediaTypes } from '../../server/content-type.ts';
import { jsonReply, type Reply, withReplayed } from '../../server/reply.ts';
import { bytes, jsonContent } from '../../server/reply-content.ts';
import type { BodyReference, BodyRules, DatasetRequest, ReplyReference, Route } from '../../server/route.ts';
import { arrowSchema } from '../datasets/arrow-schema.ts';
import { eventLabels } from './event-labels.ts';

export interface IngestRouteOptions {
  readonly ingest: Ingest;
  readonly maxBodyBytes: number;
}

const ndjsonTypes = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;
const formats: ReadonlyMap<string, 'json' | 'ndjson'> = new Map([
  ['application/json', 'json'],
  ...ndjsonTypes.map((type) => [type, 'ndjson'] as const),
]);
/** Errors that any ingest route can return after a body was accepted. */
export const ingestErrors = [
  'bad_encoding',
  'body_too_large',
  'too_many_datasets',
  'kind_conflict',
  'dataset_not_found',
  'dataset_changed',
  'rate_limited',
  'log_full',
  'log_failed',
] as const satisfies readonly ErrorCode[];
const eventErrors = ['bad_json', 'bad_event', 'event_too_large', 'too_many_columns'] as const;

const event = v.record(v.string(), v.unknown());
const eventsReference: BodyReference = {
  description: 'An array of objects, a single object, or one object per line.',
  content: {
    'application/json': v.union([v.array(event), event]),
    ...Object.fromEntries(ndjsonTypes.map((type) => [type, bytes])),
  },
  isRequired: true,
  errors: [],
};
const accepted: ReplyReference = {
  status: 200,
  description: 'All events are stored.',
  content: jsonContent(v.object({ accepted: v.number() })),
  headers: {
    'Millrace-Replayed': '`true` where an earlier request with the same Idempotency-Key stored them.',
  },
};
const labels = 'Each header `X-P-Meta-…` or `X-P-Tag-…` adds a field to every event, `meta-…` or `tag-…`.';

const formatOf = (contentType: string): 'json' | 'ndjson' => formats.get(contentType) ?? 'json';

/**
 * JSON events: an array, a single object, or one object per line. Either all events of a body are stored, or
 * none. A further route shows the schema that events would have.
 */
export function ingestRoutes({ ingest, maxBodyBytes }: IngestRouteOptions): Route[] {
  const events: BodyRules = {
    maxBytes: maxBodyBytes,
    // Many clients post JSON without saying so.
    contentType: acceptMediaTypes(['application/json', ...ndjsonTypes]),
    encodings: ['identity', 'gzip', 'deflate', 'snappy', 'zstd'],
    reference: eventsReference,
  };
  const body: BodyRules = {
    ...events,
    takesIdempotencyKey: true,
    reserve: (tenant, dataset) => ingest.admit(tenant, dataset),
  };

  const write = async (request: DatasetRequest, mustExist: boolean): Promise<Reply> => {
    const { counts, replayed } = await ingest.write({
      tenant: request.tenant,
      dataset: request.dataset,
      format: formatOf(request.contentType),
      encoding: request.encoding,
      body: request.body,
      mustExist,
      idempotencyKey: request.idempotencyKey,
      labels: eventLabels(request.extensions),
      origin: { address: request.clientAddress(), userAgent: request.userAgent },
    });
    return withReplayed(jsonReply({ accepted: counts.events }), replayed);
  };

  return [
    {
      method: 'POST',
      path: '/api/v1/ingest',
      permission: 'ingest',
      dataset: 'header',
      reference: {
        group: 'Ingest',
        summary: 'Write events into the dataset that a header names',
        details: `Either all events of a body are stored, or none. The first events create the dataset. ${labels}`,
        replies: [accepted],
        errors: [...ingestErrors, ...eventErrors, 'idempotency_key_reused'],
      },
      body,
      handler: (request) => write(request, false),
    },
    {
      method: 'POST',
      path: '/api/v1/logstream/{dataset}',
      permission: 'ingest',
      dataset: 'path',
      reference: {
        group: 'Ingest',
        summary: 'Write events into a dataset that exists',
        details: `Either all events of a body are stored, or none. ${labels}`,
        replies: [accepted],
        errors: [...ingestErrors, ...eventErrors, 'idempotency_key_reused'],
      },
      body,
      handler: (request) => write(request, true),
    },
    {
      method: 'POST',
      path: '/api/v1/logstream/schema/detect',
      permission: 'query',
      dataset: 'none',
      reference: {
        group: 'Datasets',
        summary: 'Show the columns that events would have',
        replies: [{ status: 200, description: 'A schema.', content: jsonContent(arrowSchema) }],
        errors: ['bad_encoding', ...eventErrors],
      },
      body: { ...events, maxBytes: Math.min(limits.maxSampleBodyBytes, maxBodyBytes) },
      handler: async ({ tenant, contentType, encoding, body: sample }) => {
        const format = formatOf(contentType);
        const columns = await ingest.columnsOf({ tenant, format, encoding, body: sample });
        return jsonReply(schemaOf('events', columns));
      },
    },
  ];
}
