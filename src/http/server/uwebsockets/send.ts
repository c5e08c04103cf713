import type { HttpResponse } from 'uWebSockets.js';
import type { Sending, SendOptions, SendOutcome } from '../listener.ts';
import { bodyLength, commonHeaders, isStream, type Reply, reasonPhrase } from '../reply.ts';
import { sendStream } from './send-stream.ts';

/**
 * Within a request handler uWebSockets.js holds back this much of what is sent, until it has served all that
 * it has received. A longer body goes out at once, and `end` then closes the connection at once.
 */
const heldBackBytes = 16 * 1024;

/**
 * The longest text that is sent in one go: in UTF-8 and with its headers it fits what is held back. Of a
 * longer one the headers go out first, and if the client does not take those, versions of uWebSockets.js
 * before commit 6b7f354 (April 2026) drop the text.
 */
const maxTextLength = 4 * 1024;

/**
 * Sends a reply, as `ServerRequest.send` says.
 * @param secure whether it goes out over TLS
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
  // Parts cannot close a connection: uWebSockets.js does not tell after which the reply is complete.
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
      // A 204 has a length here, which it must not (RFC 9110 section 8.6) and which is not looked at
      // (RFC 9112 section 6.3).
      res.endWithoutBody(hasBody ? bodyLength(body) : 0, true);
    } else if (!hasBody) {
      // 204 has no length either (RFC 9110 section 8.6), any other reply ends with its connection without
      // one.
      if (reply.status !== 204) res.writeHeader('Content-Length', '0');
      // An argument here, even undefined, would make a length.
      res.endWithoutBody();
    } else if (typeof body === 'string' || headOnly) {
      // Written here and not by endWithoutBody(length), after which uWebSockets.js still waits for a body.
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

/** Sends parts under backpressure. True when all is out already; otherwise `onSent` follows. */
function sendParts(res: HttpResponse, parts: readonly Uint8Array[], onSent: () => void): boolean {
  const totalBytes = bodyLength(parts);
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

/** Beginnings of replies with the default `Cache-Control`: there are few, and every reply has one. */
const beginnings = { plain: new Map<number, string>(), secure: new Map<number, string>() };

/**
 * The status line of a reply and the headers that each has, as one text: a call into uWebSockets.js costs
 * more than to send a line.
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
