import { STATUS_CODES } from 'node:http';
import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';

/** A body that is produced while it is sent. It is iterated once. If it throws, the connection is closed. */
export type BodyStream = AsyncIterable<Uint8Array>;

/** A reply, independent of the HTTP library. */
export interface Reply {
  readonly status: number;
  /** Undefined for a reply without a body. */
  readonly contentType: string | undefined;
  /**
   * Parts are sent one after another, and large ones are not copied. Of a stream, HEAD takes the first part
   * and ends it.
   */
  readonly body: string | readonly Uint8Array[] | BodyStream;
  /**
   * `Cache-Control`; `no-store` unless given, since nearly all replies are for one client at one time.
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

/** A reply without a body. */
export const emptyReply = (status: number, headers: NonNullable<Reply['headers']> = []): Reply => ({
  status,
  contentType: undefined,
  body: '',
  headers,
});
/** Adds the header that tells a retry that its data had already been stored. */
export const withReplayed = (reply: Reply, replayed: boolean): Reply =>
  replayed ? { ...reply, headers: [...(reply.headers ?? []), ['Millrace-Replayed', 'true']] } : reply;

export const textReply = (body: string, contentType = 'text/plain; charset=utf-8'): Reply => ({
  status: 200,
  contentType,
  body,
});

/** Thrown by a handler for an error whose reply needs further headers of the protocol. */
export class RefusalWithHeaders extends Error {
  override readonly name = 'RefusalWithHeaders';
  readonly headers: NonNullable<Reply['headers']>;

  /** @param thrown the error that the reply reports */
  constructor(thrown: unknown, headers: NonNullable<Reply['headers']>) {
    super('the request was refused', { cause: thrown });
    this.headers = headers;
  }
}

/** The message for the client. The text of an internal error is not sent. */
export const publicDetail = (error: AppError): string =>
  error.code === 'internal' ? 'see the log of the service for what happened' : error.message;

/** The headers of an error reply, for every format of its body. */
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
 * A reply to a script of a page: at the challenge `Basic`, a browser would ask for a password in a window of
 * its own.
 */
export function withoutPrompt(reply: Reply): Reply {
  if (reply.status !== 401) return reply;
  const headers = (reply.headers ?? []).filter(([name]) => name !== 'WWW-Authenticate');
  return { ...reply, headers: [...headers, ['WWW-Authenticate', 'Bearer realm="Millrace"']] };
}

/**
 * An error as problem details (RFC 9457). The type contains the code.
 * @param status a status other than that of the error, if a protocol needs it
 */
export function problemReply(error: AppError, status = error.definition.status): Reply {
  const { title } = error.definition;
  const type = `urn:millrace:error:${error.code}`;
  const standard = { type, title, status, detail: publicDetail(error), code: error.code };
  return {
    status,
    contentType: 'application/problem+json',
    // The standard members come first, because senders log the beginning of a reply. They are repeated at the
    // end so that no detail can replace them.
    body: JSON.stringify({ ...standard, ...error.details, ...standard }),
    headers: refusalHeaders(error),
  };
}

/** 499 is not a registered status; it means that the client left before the reply. */
const unregistered: ReadonlyMap<number, string> = new Map([[499, 'Client Closed Request']]);

/** The text after the status code. */
export const reasonPhrase = (status: number): string =>
  STATUS_CODES[status] ?? unregistered.get(status) ?? 'Unknown';

/**
 * The headers that every reply has: names and values alternate.
 * @param secure whether the reply is sent over TLS; then it tells browsers to use only TLS from now on
 */
export const commonHeaders = ({ cacheControl = 'no-store' }: Reply, secure: boolean): readonly string[] => [
  'Cache-Control',
  cacheControl,
  'X-Content-Type-Options',
  'nosniff',
  ...(secure ? ['Strict-Transport-Security', `max-age=${limits.hstsMaxAgeSeconds}`] : []),
];

/** The length of a body that is not a stream, in bytes. */
export const bodyLength = (body: string | readonly Uint8Array[]): number =>
  typeof body === 'string'
    ? Buffer.byteLength(body)
    : body.reduce((total, part) => total + part.byteLength, 0);

export const isStream = (body: Reply['body']): body is BodyStream =>
  typeof body === 'object' && Symbol.asyncIterator in body;

/** The reply on a connection beyond the allowed number. */
export const tooManyConnections = (maxConnections: number): Reply =>
  problemReply(new AppError('overloaded', `all ${maxConnections} connections are in use`));
