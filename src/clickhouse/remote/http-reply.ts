import type { IncomingHttpHeaders } from 'node:http';
import { finished, type Readable } from 'node:stream';
import type { CancelSignal } from '../../lib/cancellation.ts';
import { readAhead } from '../../lib/read-ahead.ts';
import { limits } from '../../limits/limits.ts';
import type { ReadProgress, ResultChunk } from '../store.ts';
import { StoreError } from '../store-error.ts';

/** An answer of ClickHouse's HTTP interface, as `exec` gives it when it leaves errors to its caller. */
export interface HttpReply {
  readonly stream: Readable;
  readonly response_headers: IncomingHttpHeaders;
  readonly http_status_code?: number | undefined;
}

/**
 * Reads an answer to its end and tells success from failure, by codes and never by words:
 *
 * - The header `X-ClickHouse-Exception-Code`: the statement failed before it had any output.
 * - A status other than 200 without it: something in between answered, a proxy for example.
 * - The tag of the header `X-ClickHouse-Exception-Tag` in the body: the statement failed after a part of its
 *   output was sent under a 200. The tag is random, so no data can look like it. A server may also cut the
 *   connection after it, so it is looked for in broken answers, too.
 * @throws StoreError with ClickHouse's code, or without one when ClickHouse did not answer
 */
export async function readReply(reply: HttpReply, signal?: CancelSignal): Promise<Uint8Array> {
  const { stream, response_headers: headers, http_status_code: status } = reply;
  const { body, failure } = await collect(stream, signal);
  const code = headers['x-clickhouse-exception-code'];
  if (code !== undefined) throw new StoreError(excerpt(body), numberOf(String(code)), failure);
  if (status !== 200) throw new StoreError(`HTTP status ${status}: ${excerpt(body)}`, undefined, failure);
  const tag = headers['x-clickhouse-exception-tag'];
  const late = typeof tag === 'string' ? lateError(body, tag, failure) : undefined;
  if (late !== undefined) throw late;
  if (failure !== undefined) throw failure;
  return body;
}

/**
 * The same for an answer that is too large for memory: its output piece by piece, then how much was read for
 * it. The output contains no part of an exception, so its last bytes are held back until it is clear that no
 * exception begins there.
 * @throws StoreError as `readReply` does
 */
export async function* streamReply(
  reply: HttpReply,
  signal: CancelSignal,
): AsyncGenerator<ResultChunk, ReadProgress | undefined> {
  const { stream, response_headers: headers, http_status_code: status } = reply;
  const tag = headers['x-clickhouse-exception-tag'];
  if (status !== 200 || headers['x-clickhouse-exception-code'] !== undefined || typeof tag !== 'string') {
    // What fails before there is any output, and servers that do not mark late exceptions.
    const body = await readReply(reply, signal);
    if (body.byteLength > 0) yield chunkOf(body);
    return progressOf(headers);
  }
  const split = new ExceptionSplitter(openingOf(tag));
  let outputBytes = 0;
  const stop = () => stream.destroy(new Error('the answer is no longer wanted'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of readAhead(stream, limits.storeReadAheadBytes)) {
      const output = split.push(chunk);
      outputBytes += output.byteLength;
      if (output.byteLength > 0) yield chunkOf(output);
    }
  } catch (failure) {
    // A server may cut the connection after the exception.
    throw lateError(split.exception, tag, failure) ?? failure;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  const late = lateError(split.exception, tag, undefined);
  if (late !== undefined) throw late;
  if (split.held.byteLength > 0) yield chunkOf(split.held);
  // The headers of a larger one went out before the query had read everything.
  return outputBytes <= limits.storeSummaryBytes ? progressOf(headers) : undefined;
}

/** The end of the answer tells whether it was the last one. */
const chunkOf = (output: Uint8Array): ResultChunk => ({ parts: [output], isLast: false });

/** Tells output from the exception behind it, in chunks that are cut anywhere. */
class ExceptionSplitter {
  readonly #opening: Buffer;
  #held: Buffer = Buffer.alloc(0);
  #exception: Buffer | undefined;

  constructor(opening: string) {
    this.#opening = Buffer.from(opening, 'latin1');
  }

  /** Output that may still turn out to begin an exception. */
  get held(): Buffer {
    return this.#held;
  }

  /** The bytes from the opening on; undefined if there was none. */
  get exception(): Buffer | undefined {
    return this.#exception;
  }

  /** The output that the chunk completes. */
  push(chunk: Buffer): Buffer {
    if (this.#exception !== undefined) {
      const room = maxExceptionBytes - this.#exception.byteLength;
      if (room > 0) this.#exception = Buffer.concat([this.#exception, chunk.subarray(0, room)]);
      return Buffer.alloc(0);
    }
    const all = this.#held.byteLength === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const start = all.indexOf(this.#opening);
    const end = start < 0 ? all.byteLength - this.#beginningAtEnd(all) : start;
    this.#held = start < 0 ? all.subarray(end) : Buffer.alloc(0);
    if (start >= 0) this.#exception = all.subarray(start);
    return all.subarray(0, end);
  }

  /** How many bytes at the end may be the beginning of an opening. */
  #beginningAtEnd(bytes: Buffer): number {
    const from = Math.max(0, bytes.byteLength - this.#opening.byteLength + 1);
    for (let start = bytes.indexOf(0x0d, from); start >= 0; start = bytes.indexOf(0x0d, start + 1)) {
      const length = bytes.byteLength - start;
      if (bytes.subarray(start).equals(this.#opening.subarray(0, length))) return length;
    }
    return 0;
  }
}

/** More than the length of any exception that can be told from the output. */
const maxExceptionBytes = 64 * 1024;

function lateError(exception: Buffer | undefined, tag: string, failure: unknown): StoreError | undefined {
  const late = exception === undefined ? undefined : lateException(exception, tag);
  if (late === undefined) return undefined;
  return new StoreError(late, numberOf(/^Code: (\d+)\./.exec(late)?.[1]), failure);
}

function progressOf(headers: IncomingHttpHeaders): ReadProgress | undefined {
  const summary = headers['x-clickhouse-summary'];
  if (typeof summary !== 'string') return undefined;
  const { read_rows: rows, read_bytes: bytes } = JSON.parse(summary) as Record<string, string | undefined>;
  return { rows: Number(rows ?? 0), bytes: Number(bytes ?? 0) };
}

/** In flowing mode, since a stream that breaks drops what an iterator has not taken yet. */
function collect(
  stream: Readable,
  signal: CancelSignal | undefined,
): Promise<{ body: Buffer; failure?: Error }> {
  return new Promise((done) => {
    const chunks: Buffer[] = [];
    const stop = () => stream.destroy(new Error('the answer is no longer wanted'));
    finished(stream, (failure) => {
      signal?.removeEventListener('abort', stop);
      const [only] = chunks;
      const body = only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
      done(failure ? { body, failure } : { body });
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * The text of an exception at the end of a body:
 *
 *     \r\n__exception__\r\n<tag>\r\n<text>\n<length of text> <tag>\r\n__exception__\r\n
 *
 * ClickHouse writes it so since 25.11 (src/Server/HTTP/WriteBufferFromHTTPServerResponse.cpp).
 */
function lateException(body: Buffer, tag: string): string | undefined {
  const opening = openingOf(tag);
  const start = body.lastIndexOf(opening, undefined, 'latin1');
  if (start < 0) return undefined;
  const rest = body.subarray(start + opening.length).toString('utf8');
  const end = rest.lastIndexOf(` ${tag}\r\n__exception__\r\n`);
  return (end < 0 ? rest : rest.slice(0, rest.lastIndexOf('\n', end))).trim();
}

const openingOf = (tag: string): string => `\r\n__exception__\r\n${tag}\r\n`;

const numberOf = (code: string | undefined): number | undefined =>
  code !== undefined && /^\d{1,5}$/.test(code) ? Number(code) : undefined;

/** Errors quote statements, which can be long. */
const excerpt = (body: Buffer): string => body.toString('utf8', 0, 4000).trim();
