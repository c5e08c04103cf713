import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Query, QueryResult } from '../query/request.ts';
import { acceptMediaTypes } from './content.ts';
import { parseJsonBody } from './json-body.ts';
import { jsonBytesReply, type Reply } from './reply.ts';
import type { AuthorizedRequest, Route } from './routes.ts';

const members = ['query', 'startTime', 'endTime', 'streamName'] as const;
type Member = (typeof members)[number];
type QueryBody = { readonly query: string } & { readonly [Name in Exclude<Member, 'query'>]?: string };

/** SQL over HTTP. */
export function queryRoutes(query: Query): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/v1/query',
      permission: 'query',
      dataset: 'none',
      body: {
        maxBytes: limits.maxQueryBodyBytes,
        contentType: acceptMediaTypes(['application/json']),
        encodings: ['identity'],
      },
      handler: (request) => answer(query, request),
    },
  ];
}

async function answer(query: Query, request: AuthorizedRequest): Promise<Reply> {
  const withFields = wantsFields(request.queryString);
  const { query: sql, ...options } = parseQueryBody(request.body);
  const result = await query.run({
    principal: request.principal,
    tenant: request.tenant,
    sql,
    ...options,
    signal: request.signal(),
  });
  return jsonBytesReply(withFields ? recordsWithFields(result) : [result.records]);
}

const recordsWithFields = (result: QueryResult): Uint8Array[] => [
  Buffer.from(`{"fields":${JSON.stringify(result.fields)},"records":`),
  result.records,
  Buffer.from('}'),
];

/** @throws AppError `bad_request` */
function wantsFields(queryString: string): boolean {
  if (queryString === '') return false;
  const fields = new URLSearchParams(queryString).get('fields');
  if (fields === null || fields === 'false') return false;
  if (fields === 'true') return true;
  throw new AppError('bad_request', 'the parameter fields may be true or false');
}

/**
 * Reads the body of a query. A member that is not known is refused: a misspelled `startTime` would otherwise
 * quietly read all of the data.
 * @throws AppError `bad_json`, `bad_request`
 */
export function parseQueryBody(body: Uint8Array): QueryBody {
  const value = parseJsonBody(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('bad_request', 'the body must be an object: {"query": "SELECT …"}');
  }
  const given: { [Name in Member]?: string } = {};
  for (const [name, text] of Object.entries(value)) {
    const member = members.find((known) => known === name);
    if (member === undefined) {
      throw new AppError(
        'bad_request',
        `${JSON.stringify(name.slice(0, 40))} is not a member of a query; known are ${members.join(', ')}`,
      );
    }
    if (typeof text !== 'string') throw new AppError('bad_request', `${member} must be a string`);
    given[member] = text;
  }
  const { query, ...rest } = given;
  if (query === undefined || query.trim() === '') throw new AppError('bad_request', 'query must hold SQL');
  return { query, ...rest };
}
