import type { HttpResponse } from 'uWebSockets.js';
import { type BodyStream, beginningOf, type Reply } from './reply.ts';
import { type Sending, type SendOutcome, sendStream } from './send-stream.ts';

export interface SendOptions {
  /** Headers only, as HEAD asks. */
  readonly headOnly: boolean;
  /**
   * What becomes of the connection: it stays, or closes when the reply is out. `cut`, for a text body and
   * from within the request handler alone: it closes before anything more that has arrived is looked at.
   */
  readonly connection: 'keep' | 'close' | 'cut';
}

/**
 * Within a request handler uWebSockets.js holds back this much of what is sent, until it has served all that
 * it has received. A longer body goes out at once, and `end` then closes the connection at once.
 */
const heldBackBytes = 16 * 1024;

const isStream = (body: Reply['body']): body is BodyStream =>
  typeof body === 'object' && Symbol.asyncIterator in body;

/**
 * Sends a reply. A text body goes out in one piece; a body of bytes goes as fast as the client takes it, and
 * is never copied into a send queue; a stream is asked for more as fast as the client takes it.
 * @returns what is to be told if the client leaves meanwhile
 */
export function send(
  res: HttpResponse,
  reply: Reply,
  options: SendOptions,
  outcome: SendOutcome,
): Sending | undefined {
  const { headOnly, connection } = options;
  const closes = connection !== 'keep';
  // Parts cannot close a connection: uWebSockets.js does not tell after which the reply is complete.
  const body = closes && !headOnly && isParts(reply.body) ? streamOf(reply.body) : reply.body;
  const onSent = () => outcome.onSent();
  let finished = true;
  res.cork(() => {
    writeHead(res, reply);
    const hasBody = reply.contentType !== undefined;
    if (isStream(body)) return;
    if (typeof body === 'string' && connection === 'cut') {
      res.end(body.padEnd(heldBackBytes), true);
    } else if (typeof body === 'string' && hasBody && !headOnly) {
      res.end(body, closes);
    } else if (closes) {
      // A 204 has a length here, which it must not (RFC 9110 section 8.6) and which is not looked at
      // (RFC 9112 section 6.3).
      res.endWithoutBody(hasBody ? byteLength(body) : 0, true);
    } else if (!hasBody) {
      // 204 has no length either (RFC 9110 section 8.6). An argument here, even undefined, would make one.
      res.endWithoutBody();
    } else if (typeof body === 'string' || headOnly) {
      // Written here and not by endWithoutBody(length), after which uWebSockets.js still waits for a body.
      res.writeHeader('Content-Length', String(byteLength(body)));
      res.endWithoutBody();
    } else if (byteLength(body) === 0) {
      res.end();
    } else {
      finished = sendParts(res, body, onSent);
    }
  });
  if (isStream(body)) return sendStream(res, body, closes, outcome);
  if (finished) onSent();
  return undefined;
}

function writeHead(res: HttpResponse, reply: Reply): void {
  res.writeStatus(beginningOf(reply));
  if (reply.contentType !== undefined) res.writeHeader('Content-Type', reply.contentType);
  for (const [name, value] of reply.headers ?? []) res.writeHeader(name, value);
}

const isParts = (body: Reply['body']): body is readonly Uint8Array[] => Array.isArray(body);

async function* streamOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* parts;
}

const byteLength = (body: string | readonly Uint8Array[]): number =>
  typeof body === 'string'
    ? Buffer.byteLength(body)
    : body.reduce((total, part) => total + part.byteLength, 0);

/** Sends parts under backpressure. True when all is out already; otherwise `onSent` follows. */
function sendParts(res: HttpResponse, parts: readonly Uint8Array[], onSent: () => void): boolean {
  const totalBytes = byteLength(parts);
  /** Index of the part under way, and the offset in the reply at which it begins. */
  let current = 0;
  let beginBytes = 0;

  /** Sends from an offset of the whole on, until the client takes no more. True when all is out. */
  const advance = (offset: number): boolean => {
    let sentBytes = offset;
    for (let part = parts[current]; part !== undefined; part = parts[current]) {
      if (sentBytes - beginBytes < part.byteLength) {
        const [accepted, responded] = res.tryEnd(part.subarray(sentBytes - beginBytes), totalBytes);
        if (responded) return true;
        if (!accepted) return false;
      }
      beginBytes += part.byteLength;
      sentBytes = beginBytes;
      current += 1;
    }
    return true;
  };

  if (advance(0)) return true;
  res.onWritable((offset) => {
    let finished = false;
    res.cork(() => {
      finished = advance(offset);
    });
    if (finished) onSent();
    return finished;
  });
  return false;
}
