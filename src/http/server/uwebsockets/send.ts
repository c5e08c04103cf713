import type { HttpResponse } from 'uWebSockets.js';
import type { Sending, SendOptions, SendOutcome } from '../listener.ts';
import { bodyLength, commonHeaders, isStream, type Reply, reasonPhrase } from '../reply.ts';
import { sendStream } from './send-stream.ts';

/**
 * In a request handler, uWebSockets.js buffers this much output until it has processed all received bytes. A
 * longer body is sent at once, and `end` then also closes the connection at once.
 */
const heldBackBytes = 16 * 1024;

/**
 * The longest text that is sent in one call: in UTF-8 and with its headers it fits the buffer. Of a longer
 * text, the headers are sent first. If the client does not accept those, versions of uWebSockets.js before
 * commit 6b7f354 (April 2026) drop the text.
 */
const maxTextLength = 4 * 1024;

/**
 * Implements `ServerRequest.send`.
 * @param secure whether the reply is sent over TLS
 */
export function send(
  res: HttpResponse,
  reply: Reply,
  options: SendOptions,
  secure: boolean,
  outcome: SendOutcome,
): Sending | undefined {
  const { headOnly, connection } = options;
  const closes = connection !== 'keep';
  const isLongText = typeof reply.body === 'string' && reply.body.length > maxTextLength;
  const whole = isLongText ? [Buffer.from(reply.body)] : reply.body;
  // `tryEnd`, which sends parts, cannot close the connection afterwards, so they are sent as a stream.
  const body = closes && !headOnly && isParts(whole) ? streamOf(whole) : whole;
  const onSent = () => outcome.onSent();
  let finished = true;
  res.cork(() => {
    writeHead(res, reply, secure);
    const hasBody = reply.contentType !== undefined;
    if (isStream(body)) return;
    if (typeof body === 'string' && connection === 'cut') {
      res.end(body.padEnd(heldBackBytes), true);
    } else if (typeof body === 'string' && hasBody && !headOnly) {
      res.end(body, closes);
    } else if (closes) {
      // This gives a 204 a length, which is not allowed (RFC 9110 section 8.6), but clients ignore it
      // (RFC 9112 section 6.3).
      res.endWithoutBody(hasBody ? bodyLength(body) : 0, true);
    } else if (!hasBody) {
      // A 204 must have no length (RFC 9110 section 8.6). Any other reply needs one: without it, only the end
      // of the connection would end the reply.
      if (reply.status !== 204) res.writeHeader('Content-Length', '0');
      // With an argument, even undefined, this would write a length.
      res.endWithoutBody();
    } else if (typeof body === 'string' || headOnly) {
      // Not with endWithoutBody(length), after which uWebSockets.js would still wait for a body.
      res.writeHeader('Content-Length', String(bodyLength(body)));
      res.endWithoutBody();
    } else if (bodyLength(body) === 0) {
      res.end();
    } else {
      finished = sendParts(res, body, onSent);
    }
  });
  if (isStream(body)) return sendStream(res, body, closes, outcome);
  if (finished) onSent();
  return undefined;
}

function writeHead(res: HttpResponse, reply: Reply, secure: boolean): void {
  res.writeStatus(beginningOf(reply, secure));
  if (reply.contentType !== undefined) res.writeHeader('Content-Type', reply.contentType);
  for (const [name, value] of reply.headers ?? []) res.writeHeader(name, value);
}

const isParts = (body: Reply['body']): body is readonly Uint8Array[] => Array.isArray(body);

async function* streamOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* parts;
}

/** Sends parts under backpressure. Returns true if all was sent; otherwise calls `onSent` later. */
function sendParts(res: HttpResponse, parts: readonly Uint8Array[], onSent: () => void): boolean {
  const totalBytes = bodyLength(parts);
  /** Index of the current part, and the offset in the reply at which it begins. */
  let current = 0;
  let beginBytes = 0;

  /** Sends from an offset in the reply, until the socket accepts no more. True if all was sent. */
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

/** The beginnings of replies with the default `Cache-Control`, cached by status: there are only a few. */
const beginnings = { plain: new Map<number, string>(), secure: new Map<number, string>() };

/**
 * The status line and the common headers of a reply as one text, because each call into uWebSockets.js costs
 * more than sending a line.
 */
function beginningOf(reply: Reply, secure: boolean): string {
  if (reply.cacheControl !== undefined) return makeBeginning(reply, secure);
  const kept = secure ? beginnings.secure : beginnings.plain;
  const beginning = kept.get(reply.status) ?? makeBeginning(reply, secure);
  kept.set(reply.status, beginning);
  return beginning;
}

const makeBeginning = (reply: Reply, secure: boolean): string => {
  const headers = commonHeaders(reply, secure);
  const lines = headers.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${headers[index + 1] ?? ''}`] : [],
  );
  return [`${reply.status} ${reasonPhrase(reply.status)}`, ...lines].join('\r\n');
};
