import { emptyReply, type Reply } from './reply.ts';

/** The origins whose pages may call the API; `*` means all. */
export type CorsOrigins = ReadonlySet<string> | '*';

/** The headers of a preflight request; absent headers are empty. */
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
  'if-match',
  'millrace-consistency',
  'x-api-key',
]);
/** Such as `X-P-Stream`, `X-P-Tenant`, labels of events and options of datasets. */
const ownHeader = /^x-p-[a-z0-9_-]{1,64}$/;
const maxRequestHeaders = 32;
/** Headers of replies that pages may read, in addition to those that browsers always allow. */
const exposed = [
  'Allow',
  'ETag',
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

/**
 * Whether pages of an origin are trusted like those of the service. This takes its name; `*` is not enough.
 */
export const isTrustedOrigin = (origins: CorsOrigins | undefined, origin: string): boolean =>
  origins !== undefined && origins !== '*' && origins.has(origin);

/**
 * The reply to a browser that asks whether a page may send a request (Fetch standard, CORS preflight). The
 * request itself is authorized later, when it arrives.
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

/** Adds the headers that let pages of an allowed origin read the reply. */
export function withCors(reply: Reply, origins: CorsOrigins | undefined, origin: string): Reply {
  if (origins === undefined) return reply;
  const allowed = allowance(origins, origin);
  const seen: Headers = allowed.length === 0 ? [] : [...allowed, ['Access-Control-Expose-Headers', exposed]];
  // With `*` the reply is the same for all.
  const vary: Headers = origins === '*' ? [] : [['Vary', 'Origin']];
  return { ...reply, headers: [...(reply.headers ?? []), ...seen, ...vary] };
}

/** Credentials are allowed only for named origins: browsers reject them together with `*`. */
function allowance(origins: CorsOrigins, origin: string): Headers {
  if (origins === '*') return [['Access-Control-Allow-Origin', '*']];
  if (!origins.has(origin)) return [];
  return [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Allow-Credentials', 'true'],
  ];
}
