import { AppError } from '../../../errors.ts';
import { limits } from '../../../limits/limits.ts';
import type { Query, QueryQuestion } from '../../../query/request.ts';
import { acceptMediaTypes } from '../../server/content-type.ts';
import { jsonReply, type Reply } from '../../server/reply.ts';
import type { AuthorizedRequest, Route, ServiceRoute } from '../../server/route.ts';
import { parseCountsBody, parseQueryBody } from './query-body.ts';
import { resultReply } from './query-reply.ts';
import { chooseFormat } from './result-formats.ts';

/** SQL over HTTP. Which datasets may be read is decided when they are named. */
export function queryRoutes(query: Query): Route[] {
  const route = (path: string, handler: ServiceRoute['handler']): Route => ({
    method: 'POST',
    path,
    permission: 'query',
    dataset: 'none',
    body: {
      maxBytes: limits.maxQueryBodyBytes,
      contentType: acceptMediaTypes(['application/json']),
      encodings: ['identity'],
    },
    handler,
  });
  return [
    route('/api/v1/query', (request) => answer(query, request)),
    route('/api/v1/query/explain', async (request) => jsonReply(await query.explain(questionOf(request)))),
    route('/api/v1/counts', (request) => count(query, request)),
  ];
}

const noParameters = new URLSearchParams();

async function answer(query: Query, request: AuthorizedRequest): Promise<Reply> {
  const { queryString } = request;
  const parameters = queryString === '' ? noParameters : new URLSearchParams(queryString);
  const format = chooseFormat(parameters.get('format'), request.accept);
  const withFields = wantsFields(parameters.get('fields'));
  if (withFields && format !== 'json')
    throw new AppError('bad_request', 'fields=true is for the format json alone');
  const result = await query.run({ ...questionOf(request), format });
  return await resultReply(result, format, withFields);
}

async function count(query: Query, request: AuthorizedRequest): Promise<Reply> {
  const { principal, tenant } = request;
  const counts = parseCountsBody(request.body);
  const bins = await query.counts({ principal, tenant, ...counts, signal: request.signal() });
  return jsonReply({
    fields: ['start_time', 'end_time', 'count'],
    records: bins.map(({ startTime, endTime, count }) => ({
      start_time: startTime,
      end_time: endTime,
      count,
    })),
  });
}

function questionOf({ principal, tenant, body, signal }: AuthorizedRequest): QueryQuestion {
  const { query: sql, params, ...options } = parseQueryBody(body);
  const parameters = params === undefined ? {} : { parameters: params };
  return { principal, tenant, sql, ...parameters, ...options, signal: signal() };
}

/** @throws AppError `bad_request` */
function wantsFields(fields: string | null): boolean {
  if (fields === null || fields === 'false') return false;
  if (fields === 'true') return true;
  throw new AppError('bad_request', 'the parameter fields may be true or false');
}
