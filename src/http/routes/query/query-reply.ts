import type { ResultChunk } from '../../../clickhouse/store.ts';
import { AppError } from '../../../errors.ts';
import type { QueryResult, QueryStatistics } from '../../../query/request.ts';
import type { ResultFormat } from '../../../query/result-format.ts';
import { typeLabel } from '../../../sql/types.ts';
import { type BodyStream, publicDetail, type Reply } from '../../server/reply.ts';
import { mediaTypeOf } from './result-formats.ts';

/**
 * The reply to a query. It waits for the first chunk of the result. An error before that chunk is thrown and
 * becomes an error reply. After a later error, text formats end with a line about it, and the connection is
 * closed. The statistics are known only at the end: they are in the headers if the first chunk is the whole
 * result, and after the records if `withFields` is set.
 * @param withFields whether the records are within an object; only for JSON
 * @throws AppError
 */
export async function resultReply(
  result: QueryResult,
  format: ResultFormat,
  withFields: boolean,
): Promise<Reply> {
  const chunks = result.chunks[Symbol.asyncIterator]();
  const { value: first, done } = await chunks.next();
  if (done === true) throw new Error('BUG: a result without a chunk');
  const contentType = mediaTypeOf[format];
  const id = ['Millrace-Query-Id', result.id] as const;
  if (!first.isLast) {
    const body = restOf(first, chunks, isText(format));
    return { status: 200, contentType, body: withFields ? inObject(result, body) : body, headers: [id] };
  }
  return {
    status: 200,
    contentType,
    body: withFields ? [beginning(result), ...first.parts, ending(result)] : first.parts,
    headers: [id, ...statisticsHeaders(result.statistics())],
  };
}

async function* restOf(
  first: ResultChunk,
  chunks: AsyncIterator<ResultChunk>,
  saysWhy: boolean,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* first.parts;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
      yield* next.value.parts;
  } catch (thrown) {
    if (saysWhy && thrown instanceof AppError) yield problemLine(thrown);
    throw thrown;
  } finally {
    await chunks.return?.();
  }
}

const isText = (format: ResultFormat): boolean =>
  format === 'json' || format === 'ndjson' || format === 'csv';

/**
 * The reply to a query whose rows are arrays: a line that describes the columns, a line for each row, and a
 * line with the statistics, without which the result is incomplete.
 * @throws AppError
 */
export async function arraysReply(result: QueryResult): Promise<Reply> {
  const chunks = result.chunks[Symbol.asyncIterator]();
  const { value: first, done } = await chunks.next();
  if (done === true) throw new Error('BUG: a result without a chunk');
  const id = ['Millrace-Query-Id', result.id] as const;
  const columns = result.columns.map(({ label, type }) => ({ name: label, type: typeLabel(type.sql) }));
  const beginning = Buffer.from(`${JSON.stringify({ columns })}\n`);
  const ending = (): Uint8Array =>
    Buffer.from(`${JSON.stringify({ statistics: statisticsMembers(result.statistics()) })}\n`);
  const body = first.isLast
    ? [beginning, ...first.parts, ending()]
    : (async function* lines() {
        yield beginning;
        yield* restOf(first, chunks, true);
        yield ending();
      })();
  return { status: 200, contentType: mediaTypeOf.ndjson, body, headers: [id] };
}

/** The last line of an incomplete text. It is for people; programs notice that the connection was closed. */
const problemLine = (error: AppError): Uint8Array =>
  Buffer.from(`\n${JSON.stringify({ error: { code: error.code, detail: publicDetail(error) } })}\n`);

async function* inObject(result: QueryResult, body: BodyStream): AsyncGenerator<Uint8Array, void> {
  yield beginning(result);
  yield* body;
  yield ending(result);
}

const beginning = ({ columns }: QueryResult): Uint8Array =>
  Buffer.from(`{"fields":${JSON.stringify(columns.map(({ name }) => name))},"records":`);

function ending(result: QueryResult): Uint8Array {
  return Buffer.from(`,"statistics":${JSON.stringify(statisticsMembers(result.statistics()))}}`);
}

const statisticsMembers = ({ elapsedMs, read }: QueryStatistics) => ({
  elapsedMs: Number(elapsedMs.toFixed(3)),
  ...(read === undefined ? {} : { rowsRead: read.rows, bytesRead: read.bytes }),
});

const statisticsHeaders = ({ elapsedMs, read }: QueryStatistics): NonNullable<Reply['headers']> => [
  ['Millrace-Elapsed-Ms', elapsedMs.toFixed(3)],
  ...(read === undefined
    ? []
    : [
        ['Millrace-Rows-Read', String(read.rows)] as const,
        ['Millrace-Bytes-Read', String(read.bytes)] as const,
      ]),
];
