import { STATUS_CODES } from 'node:http';
import type { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';

/** A body that is made while it is sent. Iterated once. What it throws breaks the connection off. */
export type BodyStream = AsyncIterable<Uint8Array>;

/** An answer. */
export interface Reply {
  readonly status: number;
  /** Undefined for a reply without a body. */
  readonly contentType: string | undefined;
  /**
   * Parts are sent one after another; large ones are not copied. A stream is not for routes that answer HEAD.
   */
  readonly body: string | readonly Uint8Array[] | BodyStream;
  /**
   * `Cache-Control`; without it `no-store`, since nearly all that is answered is for one reader, at one time.
   */
  readonly cacheControl?: string;
  /** Further headers. Values never carry client input. */
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>;
}

export const jsonReply = (value: unknown): Reply => ({
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(value),
});

/** An answer without a body. */
export const emptyReply = (status: number, headers: NonNullable<Reply['headers']> = []): Reply => ({
  status,
  contentType: undefined,
  body: '',
  headers,
});
/** Says that the request had been stored before, where that is so. */
export const withReplayed = (reply: Reply, replayed: boolean): Reply =>
  replayed ? { ...reply, headers: [...(reply.headers ?? []), ['Millrace-Replayed', 'true']] } : reply;

export const textReply = (body: string, contentType = 'text/plain; charset=utf-8'): Reply => ({
  status: 200,
  contentType,
  body,
});

/** What a handler throws for an error whose reply carries headers of the protocol that it speaks. */
export class RefusalWithHeaders extends Error {
  override readonly name = 'RefusalWithHeaders';
  readonly headers: NonNullable<Reply['headers']>;

  /** @param thrown what the reply is about */
  constructor(thrown: unknown, headers: NonNullable<Reply['headers']>) {
    super('the request was refused', { cause: thrown });
    this.headers = headers;
  }
}

/** What went wrong, for the client. The text of an internal error stays inside. */
export const publicDetail = (error: AppError): string =>
  error.code === 'internal' ? 'see the log of the service for what happened' : error.message;

/** The headers of a refusal, whatever the form of its body. */
export function refusalHeaders(error: AppError): NonNullable<Reply['headers']> {
  const headers: Array<readonly [string, string]> = [];
  if (error.code === 'unauthenticated') {
    headers.push(['WWW-Authenticate', 'Basic realm="Millrace", charset="UTF-8"']);
  }
  const allow = error.details?.['allow'];
  if (Array.isArray(allow)) headers.push(['Allow', allow.join(', ')]);
  if (error.definition.retryable) {
    headers.push(['Retry-After', String(Math.ceil(error.retryAfterSeconds ?? limits.retryAfterSeconds))]);
  }
  return headers;
}

/**
 * Problem details (RFC 9457), the code also as their type.
 * @param status another one than that of the error, where a protocol wants it
 */
export function problemReply(error: AppError, status = error.definition.status): Reply {
  const { title } = error.definition;
  const type = `urn:millrace:error:${error.code}`;
  const standard = { type, title, status, detail: publicDetail(error), code: error.code };
  return {
    status,
    contentType: 'application/problem+json',
    // The standard members come first, since senders log the beginning of a reply; and again, so that no
    // detail can take the place of one.
    body: JSON.stringify({ ...standard, ...error.details, ...standard }),
    headers: refusalHeaders(error),
  };
}

/** 499 is not registered: the client left before the answer. */
const unregistered: ReadonlyMap<number, string> = new Map([[499, 'Client Closed Request']]);

/**
 * Beginnings of replies with the default `Cache-Control`, by status: there are few, and every reply has one.
 */
const beginnings = new Map<number, string>();

/**
 * The status line of a reply and the headers that each has, as one text: a call into uWebSockets.js costs
 * more than to send a line.
 */
export function beginningOf({ status, cacheControl }: Reply): string {
  if (cacheControl !== undefined) return makeBeginning(status, cacheControl);
  const kept = beginnings.get(status);
  if (kept !== undefined) return kept;
  const made = makeBeginning(status, 'no-store');
  beginnings.set(status, made);
  return made;
}

const makeBeginning = (status: number, cacheControl: string): string => {
  const reason = STATUS_CODES[status] ?? unregistered.get(status) ?? 'Unknown';
  return `${status} ${reason}\r\nCache-Control: ${cacheControl}\r\nX-Content-Type-Options: nosniff`;
};
