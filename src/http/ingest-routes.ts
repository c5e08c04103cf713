import type { BodyFormat } from '../decode/task.ts';
import type { Ingest } from '../ingest/request.ts';
import { acceptMediaTypes } from './content.ts';
import { jsonReply, type Reply, withReplayed } from './reply.ts';
import type { BodyRules, DatasetRequest, Route } from './routes.ts';

export interface IngestRouteOptions {
  readonly ingest: Ingest;
  readonly maxBodyBytes: number;
}

const ndjsonTypes = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;
const formats: ReadonlyMap<string, BodyFormat> = new Map([
  ['application/json', 'json'],
  ...ndjsonTypes.map((type) => [type, 'ndjson'] as const),
]);

/** JSON events: an array, a single object or one object a line. All of a body is taken, or nothing. */
export function ingestRoutes({ ingest, maxBodyBytes }: IngestRouteOptions): Route[] {
  const body: BodyRules = {
    maxBytes: maxBodyBytes,
    // Many clients post JSON without saying so.
    contentType: acceptMediaTypes(['application/json', ...ndjsonTypes]),
    encodings: ['identity', 'gzip', 'deflate', 'snappy'],
    takesIdempotencyKey: true,
    reserve: (tenant, dataset) => ingest.admit(tenant, dataset),
  };

  const write = async (request: DatasetRequest, mustExist: boolean): Promise<Reply> => {
    const { counts, replayed } = await ingest.write({
      tenant: request.tenant,
      dataset: request.dataset,
      format: formats.get(request.contentType) ?? 'json',
      encoding: request.encoding,
      body: request.body,
      mustExist,
      idempotencyKey: request.idempotencyKey,
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
  ];
}
