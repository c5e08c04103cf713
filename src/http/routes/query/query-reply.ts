import { limits } from '../../../limits/limits.ts';
import type { QueryResult, QueryStatistics } from '../../../query/request.ts';
import type { ResultFormat } from '../../../query/result-format.ts';
import type { BodyStream, Reply } from '../../server/reply.ts';
import { mediaTypeOf } from './result-formats.ts';

/**
 * The reply to a query. It begins when the result is complete or, where that is not small, has more bytes than are held
 * back, whichever comes first: a failure before that is thrown here and becomes a reply of its own, one behind it breaks the connection off.
 * What is known only at the end (how long it took, what was read) is in the headers of a complete result, and behind
 * the records where these are in an object.
 * @param withFields an object around the records, which are JSON then
 * @throws AppError
 */
export async function resultReply(
  result: QueryResult,
  format: ResultFormat,
  withFields: boolean,
): Promise<Reply> {
  const { parts, rest } = await held(result, withFields);
  const id = ['Millrace-Query-Id', result.id] as const;
  return {
    status: 200,
    contentType: mediaTypeOf[format],
    body: rest === undefined ? parts : rest,
    headers: rest === undefined ? [id, ...statisticsHeaders(result.statistics())] : [id],
  };
}

async function held(result: QueryResult, withFields: boolean): Promise<Held> {
  const whole = await result.whole();
  if (whole === undefined)
    return await hold(withFields ? inObject(result) : result.output, limits.queryReplyBufferBytes);
  return { parts: withFields ? [beginning(result), ...whole, ending(result)] : whole, rest: undefined };
}

async function* inObject(result: QueryResult): AsyncGenerator<Uint8Array, void> {
  yield beginning(result);
  yield* result.output;
  yield ending(result);
}

const beginning = ({ fields }: QueryResult): Uint8Array =>
  Buffer.from(`{"fields":${JSON.stringify(fields)},"records":`);

function ending(result: QueryResult): Uint8Array {
  const { elapsedMs, read } = result.statistics();
  const statistics = {
    elapsedMs: Number(elapsedMs.toFixed(3)),
    ...(read === undefined ? {} : { rowsRead: read.rows, bytesRead: read.bytes }),
  };
  return Buffer.from(`,"statistics":${JSON.stringify(statistics)}}`);
}

interface Held {
  readonly parts: readonly Uint8Array[];
  /** All of it, if there is more than was to be held. */
  readonly rest: BodyStream | undefined;
}

/** Takes the beginning of a body; all of it, if it is not larger than that. */
async function hold(body: BodyStream, maxBytes: number): Promise<Held> {
  const iterator = body[Symbol.asyncIterator]();
  const parts: Uint8Array[] = [];
  for (let bytes = 0; bytes <= maxBytes; ) {
    const { value, done } = await iterator.next();
    if (done === true) return { parts, rest: undefined };
    parts.push(value);
    bytes += value.byteLength;
  }
  async function* rest(): AsyncGenerator<Uint8Array, void> {
    try {
      yield* parts;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { parts, rest: rest() };
}

const statisticsHeaders = ({ elapsedMs, read }: QueryStatistics): NonNullable<Reply['headers']> => [
  ['Millrace-Elapsed-Ms', elapsedMs.toFixed(3)],
  ...(read === undefined
    ? []
    : [
        ['Millrace-Rows-Read', String(read.rows)] as const,
        ['Millrace-Bytes-Read', String(read.bytes)] as const,
      ]),
];
