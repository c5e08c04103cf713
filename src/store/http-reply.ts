import type { IncomingHttpHeaders } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { StoreError } from './errors.ts';

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
export async function readReply(reply: HttpReply, signal?: AbortSignal): Promise<Uint8Array> {
  const { stream, response_headers: headers, http_status_code: status } = reply;
  const { body, failure } = await collect(stream, signal);
  const code = headers['x-clickhouse-exception-code'];
  if (code !== undefined) throw new StoreError(excerpt(body), numberOf(String(code)), failure);
  if (status !== 200) throw new StoreError(`HTTP status ${status}: ${excerpt(body)}`, undefined, failure);
  const late = lateException(body, headers['x-clickhouse-exception-tag']);
  if (late !== undefined) {
    throw new StoreError(late, numberOf(/^Code: (\d+)\./.exec(late)?.[1]), failure);
  }
  if (failure !== undefined) throw failure;
  return body;
}

/** In flowing mode, since a stream that breaks drops what an iterator has not taken yet. */
function collect(
  stream: Readable,
  signal: AbortSignal | undefined,
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
function lateException(body: Buffer, tag: string | string[] | undefined): string | undefined {
  if (typeof tag !== 'string' || tag === '') return undefined;
  const opening = `\r\n__exception__\r\n${tag}\r\n`;
  const start = body.lastIndexOf(opening, undefined, 'latin1');
  if (start < 0) return undefined;
  const rest = body.subarray(start + opening.length).toString('utf8');
  const end = rest.lastIndexOf(` ${tag}\r\n__exception__\r\n`);
  return (end < 0 ? rest : rest.slice(0, rest.lastIndexOf('\n', end))).trim();
}

const numberOf = (code: string | undefined): number | undefined =>
  code !== undefined && /^\d{1,5}$/.test(code) ? Number(code) : undefined;

/** Errors quote statements, which can be long. */
const excerpt = (body: Buffer): string => body.toString('utf8', 0, 4000).trim();
