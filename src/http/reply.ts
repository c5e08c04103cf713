import { STATUS_CODES } from 'node:http';
import type { AppError } from '../errors.ts';
import { limits } from '../limits.ts';

/** An answer, complete. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  /** Sent one after another; large ones are not copied. */
  readonly body: string | readonly Uint8Array[];
  /** Further headers. Values never carry client input. */
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>;
}

export const jsonReply = (value: unknown): Reply => ({
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(value),
});

/** Says that the request had been stored before, where that is so. */
export const withReplayed = (reply: Reply, replayed: boolean): Reply =>
  replayed ? { ...reply, headers: [...(reply.headers ?? []), ['Millrace-Replayed', 'true']] } : reply;

/** A body that is JSON text already. */
export const jsonBytesReply = (body: readonly Uint8Array[]): Reply => ({
  status: 200,
  contentType: 'application/json',
  body,
});

export const textReply = (body: string, contentType = 'text/plain; charset=utf-8'): Reply => ({
  status: 200,
  contentType,
  body,
});

/** Problem details (RFC 9457), the code also as their type. The text of an internal error stays inside. */
export function problemReply(error: AppError): Reply {
  const { status, title, retryable } = error.definition;
  const detail = error.code === 'internal' ? 'see the log of the service for what happened' : error.message;
  const headers: Array<readonly [string, string]> = [];
  if (error.code === 'unauthenticated') {
    headers.push(['WWW-Authenticate', 'Basic realm="Millrace", charset="UTF-8"']);
  }
  const allow = error.details?.['allow'];
  if (Array.isArray(allow)) headers.push(['Allow', allow.join(', ')]);
  if (retryable) {
    headers.push(['Retry-After', String(Math.ceil(error.retryAfterSeconds ?? limits.retryAfterSeconds))]);
  }
  return {
    status,
    contentType: 'application/problem+json',
    // Details first, so that none of them can take the place of a standard member.
    body: JSON.stringify({
      ...error.details,
      type: `urn:millrace:error:${error.code}`,
      title,
      status,
      detail,
      code: error.code,
    }),
    headers,
  };
}

/** 499 is not registered: the client left before the answer. */
const unregistered: ReadonlyMap<number, string> = new Map([[499, 'Client Closed Request']]);

export const statusLine = (status: number): string =>
  `${status} ${STATUS_CODES[status] ?? unregistered.get(status) ?? 'Unknown'}`;
