import type { PresentedCredential } from '../../auth/credentials.ts';
import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import { cookieIn, talksHttps } from './cookies.ts';
import type { ServerRequest } from './listener.ts';

/** The request headers that this server uses. An absent header is the empty string. */
export interface RequestHeaders {
  /** May be sent in several parts. */
  accept: string;
  userAgent: string;
  authorization: string;
  apiKey: string;
  tenant: string;
  stream: string;
  contentType: string;
  contentEncoding: string;
  contentLength: string;
  transferEncoding: string;
  idempotencyKey: string;
  consistency: string;
  /** May be sent in several parts. */
  ifMatch: string;
  lastEventId: string;
  cookie: string;
  host: string;
  /** May be sent in several parts. */
  connection: string;
  origin: string;
  fetchSite: string;
  requestedWith: string;
  /** The values of all proxies, in their order; `https` if the connection itself is TLS. */
  forwardedProto: string;
  /** The values of all proxies, in their order; see `clientAddress`. */
  forwardedFor: string;
  forwarded: string;
  /** All other headers that begin with `x-p-`, by their names in lower case. */
  extensions: ReadonlyMap<string, string>;
}

type TextHeader = Exclude<keyof RequestHeaders, 'extensions'>;

const noExtensions: ReadonlyMap<string, string> = new Map();

/** At most as many digits as a `Number` holds exactly. */
const lengthDigits = /^\d{1,15}$/;

const fields: ReadonlyMap<string, TextHeader> = new Map([
  ['accept', 'accept'],
  ['user-agent', 'userAgent'],
  ['authorization', 'authorization'],
  ['x-api-key', 'apiKey'],
  ['x-p-tenant', 'tenant'],
  ['x-p-stream', 'stream'],
  ['content-type', 'contentType'],
  ['content-encoding', 'contentEncoding'],
  ['content-length', 'contentLength'],
  ['transfer-encoding', 'transferEncoding'],
  ['idempotency-key', 'idempotencyKey'],
  ['millrace-consistency', 'consistency'],
  ['if-match', 'ifMatch'],
  ['last-event-id', 'lastEventId'],
  ['cookie', 'cookie'],
  ['host', 'host'],
  ['connection', 'connection'],
  ['origin', 'origin'],
  ['sec-fetch-site', 'fetchSite'],
  ['x-requested-with', 'requestedWith'],
  ['x-forwarded-proto', 'forwardedProto'],
  ['x-forwarded-for', 'forwardedFor'],
  ['forwarded', 'forwarded'],
]);

/** Headers that may be sent several times; the values form one list. */
const lists: ReadonlySet<TextHeader> = new Set([
  'accept',
  'userAgent',
  'ifMatch',
  'connection',
  'forwardedProto',
  'forwardedFor',
  'forwarded',
]);

/** A header of a request, by its name in lower case; undefined if it is not one of those that are kept. */
export function keptHeader(headers: RequestHeaders, name: string): string | undefined {
  const field = fields.get(name);
  return field === undefined ? undefined : headers[field];
}

/**
 * Reads all headers in one loop. This costs 0.2 µs more than asking for each by name, but it also finds a
 * header that was sent twice, of which a proxy may have used the other one.
 *
 * Most checks here are for uWebSockets.js; `node:http` makes them itself. uWebSockets.js trims bytes above
 * 127 from both ends of a value as if they were spaces. It takes the first of two lengths, a length without
 * digits as 0, and any transfer coding as chunked. In these cases a proxy may see a different end of the
 * request.
 * @throws AppError `bad_framing` or `headers_too_large`, after which the connection cannot be used any more;
 *   `bad_header`
 */
export function readHeaders(request: ServerRequest): RequestHeaders {
  const headers: RequestHeaders = {
    accept: '',
    userAgent: '',
    authorization: '',
    apiKey: '',
    tenant: '',
    stream: '',
    contentType: '',
    contentEncoding: '',
    contentLength: '',
    transferEncoding: '',
    idempotencyKey: '',
    consistency: '',
    ifMatch: '',
    lastEventId: '',
    cookie: '',
    host: '',
    connection: '',
    origin: '',
    fetchSite: '',
    requestedWith: '',
    forwardedProto: '',
    forwardedFor: '',
    forwarded: '',
    extensions: noExtensions,
  };
  let extensions: Map<string, string> | undefined;
  let repeated: string | undefined;
  let misframed = '';
  let hasHost = false;
  let count = 0;
  let length = request.path.length + request.queryString.length;
  // The callback must not throw: the native loop would continue with a pending exception.
  request.forEachHeader((name, value) => {
    count += 1;
    length += name.length + value.length + headerOverhead;
    const field = fields.get(name);
    if (field === undefined) {
      if (!name.startsWith('x-p-')) return;
      extensions ??= new Map();
      if (extensions.has(name)) repeated = name;
      extensions.set(name, value);
      return;
    }
    const before = headers[field];
    if (isMisframed(field, value, before) || (field === 'host' && hasHost)) misframed = name;
    if (field === 'host') hasHost = true;
    if (before !== '' && !lists.has(field)) repeated = name;
    headers[field] = before === '' ? value : `${before},${value}`;
  });
  if (misframed !== '' || (headers.contentLength !== '' && headers.transferEncoding !== '')) {
    throw new AppError('bad_framing', framingRules);
  }
  if (!hasHost && !request.isHttp10) throw new AppError('bad_framing', 'the header Host is missing');
  if (!request.path.startsWith('/')) throw new AppError('bad_framing', 'the target must begin with a slash');
  if (length > limits.maxHeaderBytes) {
    throw new AppError(
      'headers_too_large',
      `the request line and the headers have ${length} bytes; ${limits.maxHeaderBytes} are allowed`,
    );
  }
  if (count > limits.maxHeaders) {
    throw new AppError(
      'headers_too_large',
      `the request has ${count} headers; ${limits.maxHeaders} are allowed`,
    );
  }
  if (repeated !== undefined)
    throw new AppError('bad_header', `the header ${repeated} was sent more than once`);
  if (extensions !== undefined) headers.extensions = extensions;
  if (request.isSecure) headers.forwardedProto = 'https';
  return headers;
}

/** Whether a header makes the end of the request uncertain: a wrong or repeated length or coding. */
function isMisframed(field: TextHeader, value: string, before: string): boolean {
  if (field === 'contentLength') return before !== '' || !lengthDigits.test(value);
  if (field === 'transferEncoding') return before !== '' || value.toLowerCase() !== 'chunked';
  return false;
}

const framingRules =
  'Host and Content-Length or Transfer-Encoding may be sent once, a length as digits, and the only coding understood is chunked';

/** The characters between a name, its value and the next line. */
const headerOverhead = ': \r\n'.length;

/** Length of the body in bytes, from the headers; undefined for a chunked body. */
export const declaredLength = (headers: RequestHeaders): number | undefined =>
  headers.transferEncoding === '' ? Number(headers.contentLength) : undefined;

/** Whether the client asks to close the connection after the reply. */
export const closesConnection = ({ connection }: RequestHeaders): boolean =>
  connection !== '' && connection.split(',').some((option) => option.trim().toLowerCase() === 'close');

/**
 * The one credential of a request. A header takes precedence over the session cookie: browsers send the
 * cookie with every request, and a header only on purpose.
 * @param publicOrigin the origin at which browsers reach the service; if undefined, it is derived from the
 *   request
 * @throws AppError `unauthenticated`, `credentials_ambiguous`, `headers_too_large`
 */
export function presentedCredential(
  headers: RequestHeaders,
  publicOrigin: string | undefined,
): Omit<PresentedCredential, 'tenant'> {
  if (headers.authorization !== '' && headers.apiKey !== '') {
    throw new AppError('credentials_ambiguous', 'send either Authorization or X-API-Key, not both');
  }
  if (headers.authorization !== '') return bounded({ header: 'authorization', value: headers.authorization });
  if (headers.apiKey !== '') return bounded({ header: 'x-api-key', value: headers.apiKey });
  const secure = () => talksHttps(publicOrigin, headers.forwardedProto);
  const session = headers.cookie === '' ? '' : cookieIn(headers.cookie, 'millrace-session', secure());
  if (session !== '') return bounded({ header: 'cookie', value: session });
  throw new AppError('unauthenticated', 'send credentials in the header Authorization or X-API-Key');
}

function bounded(presented: Omit<PresentedCredential, 'tenant'>): typeof presented {
  if (presented.value.length <= limits.maxCredentialBytes) return presented;
  throw new AppError(
    'headers_too_large',
    `the ${presented.header} header has ${presented.value.length} bytes; ${limits.maxCredentialBytes} are allowed`,
  );
}

/** A string of RFC 8941: printable ASCII in quotes, with quotes and backslashes escaped. */
const quotedKey = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])+)"$/;
const bareKey = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x7e]+$/;

/**
 * The idempotency key of a request; undefined if it has none. The header is a string in quotes
 * (draft-ietf-httpapi-idempotency-key-header). Many clients send it without the quotes, which gives the same
 * key.
 * @throws AppError `bad_header`
 */
export function idempotencyKey({ idempotencyKey: header }: RequestHeaders): string | undefined {
  if (header === '') return undefined;
  const key = quotedKey.exec(header)?.[1]?.replace(/\\(.)/g, '$1') ?? bareKey.exec(header)?.[0];
  if (key !== undefined && key.length <= limits.maxIdempotencyKeyLength) return key;
  throw new AppError(
    'bad_header',
    `the header Idempotency-Key is not a string of 1 to ${limits.maxIdempotencyKeyLength} printable ASCII characters, in quotes or without spaces, commas and semicolons`,
  );
}
