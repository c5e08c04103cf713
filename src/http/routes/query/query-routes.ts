import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import { AppError, type ErrorCode, errorDefinitions } from '../../../errors.ts';
import type { Query, QueryRequest } from '../../../query/request.ts';
import type { OutputForm, ResultFormat } from '../../../query/result-format.ts';
import { serviceRoute } from '../../server/declare-route.ts';
import { jsonReply, type Reply } from '../../server/reply.ts';
import { bytes, jsonContent, timestamp } from '../../server/reply-content.ts';
import type { AuthorizedRequest, ReplyReference, Route } from '../../server/route.ts';
import { countsBody, type QueryBody, queryBody } from './query-body.ts';
import { arraysReply, resultReply } from './query-reply.ts';
import { chooseFormat, resultParameters } from './result-formats.ts';

const sqlErrors = (Object.keys(errorDefinitions) as ErrorCode[]).filter(
  (code) => code.startsWith('sql_') && code !== 'sql_too_large',
);
const readErrors = [
  'bad_time_range',
  'query_timeout',
  'query_memory',
  'query_result_too_large',
  'queries_paused',
  'query_cancelled',
] as const satisfies readonly ErrorCode[];

const records = v.array(v.record(v.string(), v.unknown()));
const resultInObject = v.object({
  fields: v.array(v.string()),
  records,
  statistics: v.object({
    elapsedMs: v.number(),
    rowsRead: v.optional(v.number()),
    bytesRead: v.optional(v.number()),
  }),
});
const result: ReplyReference = {
  status: 200,
  description: 'The result. If the query fails after a part of it was sent, the connection is closed.',
  content: {
    'application/json': v.union([records, resultInObject]),
    'application/x-ndjson': bytes,
    'text/csv': v.string(),
    'application/vnd.apache.arrow.stream': bytes,
    'application/vnd.apache.parquet': bytes,
  },
  headers: {
    'Millrace-Query-Id': 'Names the query, here and in ClickHouse.',
    'Millrace-Elapsed-Ms': 'From the request to the end of the result, where that is small.',
    'Millrace-Rows-Read': 'Rows that the store has read, where the result is small.',
    'Millrace-Bytes-Read': 'Bytes that the store has read, where the result is small.',
  },
};

const explanation = v.object({
  sql: v.pipe(v.string(), v.description('What the store would run.')),
  fields: v.array(v.object({ name: v.string(), type: v.string() })),
  datasets: v.pipe(v.array(v.string()), v.description('The datasets that it reads.')),
});

const countsResult = v.object({
  fields: v.array(v.string()),
  records: v.array(v.object({ start_time: timestamp, end_time: timestamp, count: v.number() })),
});

/** SQL over HTTP. Which datasets may be read is decided when they are named. */
export function queryRoutes(query: Query, audit?: Pick<AuditLog, 'changed'>): Route[] {
  return [
    serviceRoute({
      method: 'POST',
      path: '/api/v1/query',
      permission: 'query',
      dataset: 'none',
      query: resultParameters,
      reference: {
        headers: [
          {
            name: 'Millrace-Consistency',
            description:
              '`latest`: the query waits until it can see what this node acknowledged before, as long as queries may take.',
            schema: v.picklist(['latest']),
          },
        ],
        group: 'Query',
        summary: 'Run a query',
        details:
          'The parameter `format` sets the format of the result, otherwise the header `Accept`; the default is JSON.',
        replies: [result],
        errors: [...sqlErrors, ...readErrors, 'sql_too_large', 'not_acceptable', 'overloaded'],
      },
      body: queryBody,
      handler: async (request, { body, query: { format, fields, export: exported } }) => {
        const isExport = exported === 'true';
        // Only what is audited needs the address, which takes a call into the HTTP library. It is asked for
        // now: it is not known any more if the client leaves.
        const from = isExport ? request.clientAddress() : '';
        const form = {
          format: chooseFormat(format, request.accept),
          fields,
          isExport,
        };
        const { reply, datasets } = await answer(query, request, body, form);
        if (isExport) audit?.changed(request, from, 'query.export', datasets.join(', '));
        return reply;
      },
    }),
    serviceRoute({
      method: 'POST',
      path: '/api/v1/query/explain',
      permission: 'query',
      dataset: 'none',
      reference: {
        group: 'Query',
        summary: 'Show what a query would do',
        replies: [{ status: 200, description: 'The query, translated.', content: jsonContent(explanation) }],
        errors: [...sqlErrors, ...readErrors, 'sql_too_large'],
      },
      body: queryBody,
      handler: async (request, { body }) =>
        jsonReply(await query.explain(requestOf(request, body, 'json', false))),
    }),
    serviceRoute({
      method: 'POST',
      path: '/api/v1/counts',
      permission: 'query',
      dataset: 'none',
      reference: {
        group: 'Query',
        summary: 'Count the rows of a dataset by time',
        replies: [
          { status: 200, description: 'A record for each part.', content: jsonContent(countsResult) },
        ],
        errors: [...sqlErrors, ...readErrors, 'dataset_not_found', 'bad_dataset_name'],
      },
      body: countsBody,
      handler: async ({ principal, tenant, signal }, { body }) => {
        const bins = await query.counts({ principal, tenant, ...body, signal: signal() });
        return jsonReply({
          fields: ['start_time', 'end_time', 'count'],
          records: bins.map(({ startTime, endTime, count }) => ({
            start_time: startTime,
            end_time: endTime,
            count,
          })),
        });
      },
    }),
  ];
}

interface ResultOptions {
  readonly format: ResultFormat;
  readonly fields: 'true' | 'false' | 'arrays' | undefined;
  readonly isExport: boolean;
}

async function answer(
  query: Query,
  request: AuthorizedRequest,
  body: QueryBody,
  { format, fields, isExport }: ResultOptions,
): Promise<{ readonly reply: Reply; readonly datasets: readonly string[] }> {
  if (fields === 'true' && format !== 'json')
    throw new AppError('bad_request', 'fields=true works only with the format json');
  if (fields === 'arrays' && format !== 'ndjson')
    throw new AppError('bad_request', 'fields=arrays works only with the format ndjson');
  const isArrays = fields === 'arrays';
  const result = await query.run(requestOf(request, body, isArrays ? 'arrays' : format, isExport));
  const reply = isArrays ? await arraysReply(result) : await resultReply(result, format, fields === 'true');
  return { reply, datasets: result.datasets };
}

function requestOf(
  { principal, tenant, signal, consistency }: AuthorizedRequest,
  body: QueryBody,
  format: OutputForm,
  isExport: boolean,
): QueryRequest {
  if (consistency !== '' && consistency !== 'latest')
    throw new AppError('bad_header', 'the header Millrace-Consistency can be "latest", or be left out');
  const latest = consistency === 'latest';
  // Listed one by one, as `QueryService` does: each copy of a part of it would take V8 microseconds.
  const { query: sql, params: parameters, timeZone, startTime, endTime, streamName } = body;
  return {
    principal,
    tenant,
    sql,
    parameters,
    timeSettings: timeZone === undefined ? undefined : { timeZone },
    startTime,
    endTime,
    streamName,
    latest,
    format,
    isExport,
    signal: signal(),
  };
}
