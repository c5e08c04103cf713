import { emptyReply, type Reply } from './reply.ts';

/** Origins whose pages may call the API: these, or with `*` all. */
export type CorsOrigins = ReadonlySet<string> | '*';

/** What a preflight asks for; absent headers are empty. */
export interface PreflightHeaders {
  readonly origin: string;
  readonly requestMethod: string;
  readonly requestHeaders: string;
}

type Headers = NonNullable<Reply['headers']>;

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const requestHeaders: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'content-encoding',
  'content-type',
  'idempotency-key',
  'millrace-consistency',
  'x-api-key',
]);
/** `X-P-Stream`, `X-P-Tenant`, labels of events, options of datasets. */
const ownHeader = /^x-p-[a-z0-9_-]{1,64}$/;
const maxRequestHeaders = 32;
/** Of replies, beside those that pages always see. */
const exposed = [
  'Allow',
  'Millrace-Bytes-Read',
  'Millrace-Elapsed-Ms',
  'Millrace-Query-Id',
  'Millrace-Replayed',
  'Millrace-Rows-Read',
  'Retry-After',
  'WWW-Authenticate',
].join(', ');
/** Chromium keeps no preflight for longer than two hours. */
const maxAgeSeconds = 7200;
const preflightVary = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

/** Whether pages of an origin are trusted like those of the service: by name, not because all may call. */
export const isTrustedOrigin = (origins: CorsOrigins | undefined, origin: string): boolean =>
  origins !== undefined && origins !== '*' && origins.has(origin);

/**
 * The reply to a browser that asks whether a page may send a request (Fetch standard, CORS preflight). It
 * says nothing about whether the request itself is allowed.
 */
export function preflightReply(origins: CorsOrigins, asked: PreflightHeaders): Reply {
  const allowed = allowance(origins, asked.origin);
  if (allowed.length === 0) return emptyReply(204, [['Vary', preflightVary]]);
  const names = asked.requestHeaders
    .split(',', maxRequestHeaders)
    .map((name) => name.trim().toLowerCase())
    .filter((name) => requestHeaders.has(name) || ownHeader.test(name));
  return emptyReply(204, [
    ...allowed,
    ['Access-Control-Allow-Methods', methods],
    ...(names.length === 0 ? [] : [['Access-Control-Allow-Headers', names.join(', ')] as const]),
    ['Access-Control-Max-Age', String(maxAgeSeconds)],
    ['Vary', preflightVary],
  ]);
}

/** A reply as pages of other origins may read it, if they may. */
export function withCors(reply: Reply, origins: CorsOrigins | undefined, origin: string): Reply {
  if (origins === undefined) return reply;
  const allowed = allowance(origins, origin);
  const seen: Headers = allowed.length === 0 ? [] : [...allowed, ['Access-Control-Expose-Headers', exposed]];
  // With `*` the reply is the same for all.
  const vary: Headers = origins === '*' ? [] : [['Vary', 'Origin']];
  return { ...reply, headers: [...(reply.headers ?? []), ...seen, ...vary] };
}

/** Sessions and passwords are for pages that are named: with `*` a browser would not take the reply. */
function allowance(origins: CorsOrigins, origin: string): Headers {
  if (origins === '*') return [['Access-Control-Allow-Origin', '*']];
  if (!origins.has(origin)) return [];
  return [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Allow-Credentials', 'true'],
  ];
}
