import { STATUS_CODES } from 'node:http';
import { AppError } from '../../errors.ts';
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

/** The text behind a status code. */
export const reasonPhrase = (status: number): string =>
  STATUS_CODES[status] ?? unregistered.get(status) ?? 'Unknown';

/**
 * The headers that each reply has, whatever it is: names and values in turn.
 * @param secure whether it goes out over TLS; then browsers are told to come by TLS alone from now on
 */
export const commonHeaders = ({ cacheControl = 'no-store' }: Reply, secure: boolean): readonly string[] => [
  'Cache-Control',
  cacheControl,
  'X-Content-Type-Options',
  'nosniff',
  ...(secure ? ['Strict-Transport-Security', `max-age=${limits.hstsMaxAgeSeconds}`] : []),
];

/** The length of a body that is no stream, in bytes. */
export const bodyLength = (body: string | readonly Uint8Array[]): number =>
  typeof body === 'string'
    ? Buffer.byteLength(body)
    : body.reduce((total, part) => total + part.byteLength, 0);

export const isStream = (body: Reply['body']): body is BodyStream =>
  typeof body === 'object' && Symbol.asyncIterator in body;

/** What a connection gets that is one too many. */
export const tooManyConnections = (maxConnections: number): Reply =>
  problemReply(new AppError('overloaded', `there are ${maxConnections} connections, as many as may be`));
