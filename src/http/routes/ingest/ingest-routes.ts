import { schemaOf } from '../../../datasets/schema.ts';
import type { Ingest } from '../../../ingest/ingest-request.ts';
import { limits } from '../../../limits/limits.ts';
import { acceptMediaTypes } from '../../server/content-type.ts';
import { jsonReply, type Reply, withReplayed } from '../../server/reply.ts';
import type { BodyRules, DatasetRequest, Route } from '../../server/route.ts';
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
const formatOf = (contentType: string): 'json' | 'ndjson' => formats.get(contentType) ?? 'json';

/**
 * JSON events: an array, a single object or one object a line. All of a body is taken, or nothing. And the schema that
 * such events would have.
 */
export function ingestRoutes({ ingest, maxBodyBytes }: IngestRouteOptions): Route[] {
  const events: BodyRules = {
    maxBytes: maxBodyBytes,
    // Many clients post JSON without saying so.
    contentType: acceptMediaTypes(['application/json', ...ndjsonTypes]),
    encodings: ['identity', 'gzip', 'deflate', 'snappy'],
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
    });
    return withReplayed(jsonReply({ accepted: counts.events }), replayed);
  };

  return [
    {
      method: 'POST',
      path: '/api/v1/ingest',
      permission: 'ingest',
      dataset: 'header',
      body,
      handler: (request) => write(request, false),
    },
    {
      method: 'POST',
      path: '/api/v1/logstream/{dataset}',
      permission: 'ingest',
      dataset: 'path',
      body,
      handler: (request) => write(request, true),
    },
    {
      method: 'POST',
      path: '/api/v1/logstream/schema/detect',
      permission: 'query',
      dataset: 'none',
      body: { ...events, maxBytes: Math.min(limits.maxSampleBodyBytes, maxBodyBytes) },
      handler: async ({ tenant, contentType, encoding, body: sample }) => {
        const format = formatOf(contentType);
        const columns = await ingest.columnsOf({ tenant, format, encoding, body: sample });
        return jsonReply(schemaOf('events', columns));
      },
    },
  ];
}
