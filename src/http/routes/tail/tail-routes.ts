import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import type { ErrorCode } from '../../../errors.ts';
import { limits } from '../../../limits/limits.ts';
import type { LiveTails } from '../../../tail/live-tails.ts';
import { datasetRoute } from '../../server/declare-route.ts';
import { jsonBody } from '../../server/json-body.ts';
import type { Reply } from '../../server/reply.ts';
import type { DatasetRequest, ReplyReference, Route, RouteReference } from '../../server/route.ts';

const path = '/api/v1/logstream/{dataset}/tail';

const tailMembers = v.pipe(
  v.strictObject({
    where: v.optional(
      v.pipe(
        v.string(),
        v.nonEmpty('must have a condition'),
        v.description("A condition in SQL, as behind WHERE: `level = 'error'`."),
      ),
    ),
    limit: v.optional(
      v.pipe(
        v.number(),
        v.integer('must be a whole number'),
        v.minValue(1, 'must be at least 1'),
        v.maxValue(limits.maxTailRows, `must be at most ${limits.maxTailRows}`),
        v.description('Rows that are sent in a second; more are counted as skipped.'),
      ),
    ),
  }),
  v.title('Tail'),
);

const tailBody = jsonBody(
  {
    schema: tailMembers,
    name: '',
    whole: 'the body must be an object: {"where": "level = \'error\'", "limit": 100}',
    code: 'bad_request',
  },
  { maxBytes: limits.maxQueryBodyBytes, description: 'Which rows, and how many in a second.' },
);

const stream: ReplyReference = {
  status: 200,
  description:
    'Server-sent events. A message is a row as JSON. The event `skipped` counts rows that were left out, and `end` says why the service ends the tail. The `id` of any event resumes behind it, in the header `Last-Event-ID`.',
  content: { 'text/event-stream': v.string() },
};

const reference = {
  group: 'Query',
  replies: [stream],
  headers: [
    {
      name: 'Last-Event-ID',
      description: 'The `id` of the last event that was read: the tail goes on behind it.',
      schema: v.pipe(v.string(), v.maxLength(limits.maxEventIdLength)),
    },
  ],
} as const satisfies Partial<RouteReference>;

const errors = ['dataset_not_found', 'overloaded', 'shutting_down'] as const satisfies readonly ErrorCode[];

/** The rows of a dataset as they arrive. */
export function tailRoutes(tails: Pick<LiveTails, 'open'>, audit: Pick<AuditLog, 'changed'>): Route[] {
  const open = async (
    request: DatasetRequest,
    { where = '', limit = limits.maxTailRows }: v.InferOutput<typeof tailMembers>,
  ): Promise<Reply> => {
    const from = request.clientAddress();
    const { principal, tenant, dataset, lastEventId, authorizeAgain, signal } = request;
    const body = await tails.open({
      principal,
      tenant,
      dataset,
      condition: where,
      maxRows: limit,
      lastEventId: lastEventId.slice(0, limits.maxEventIdLength),
      authorizeAgain,
      signal: signal(),
    });
    audit.changed(request, from, 'query.tail', dataset);
    return {
      status: 200,
      contentType: 'text/event-stream',
      body,
      cacheControl: 'no-cache, no-transform',
      // nginx would hold the events back.
      headers: [['X-Accel-Buffering', 'no']],
    };
  };
  return [
    datasetRoute({
      method: 'GET',
      path,
      permission: 'query',
      dataset: 'path',
      reference: {
        ...reference,
        summary: 'Follow the rows of a dataset as they arrive',
        errors,
      },
      handler: (request) => open(request, {}),
    }),
    datasetRoute({
      method: 'POST',
      path,
      permission: 'query',
      dataset: 'path',
      reference: {
        ...reference,
        summary: 'Follow the rows that meet a condition as they arrive',
        errors: [
          ...errors,
          'sql_syntax',
          'sql_unknown_column',
          'sql_unsupported',
          'sql_type',
          'sql_too_large',
        ],
      },
      body: tailBody,
      handler: (request, { body }) => open(request, body),
    }),
  ];
}
