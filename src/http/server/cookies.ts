/**
 * Cookies (RFC 6265). On HTTPS their names begin with `__Host-`. Browsers accept such cookies only from this
 * host itself and over HTTPS, so another host of the same domain cannot set them.
 */
export type CookieName = 'millrace-session' | 'millrace-login';

const hostPrefix = '__Host-';

export interface CookieOptions {
  /** Whether the browser uses HTTPS. */
  readonly secure: boolean;
  readonly maxAgeSeconds: number;
}

/**
 * The value of a cookie in a `Cookie` header, empty if it is not there.
 * @param secure whether the browser uses HTTPS. Then only a cookie with the prefix counts; otherwise another
 *   host of the same domain could make a browser use somebody else's session
 */
export const cookieIn = (header: string, name: CookieName, secure: boolean): string =>
  cookieValue(header, secure ? hostPrefix + name : name);

/**
 * Whether the browser uses HTTPS, according to the configuration or else to the proxy.
 * @param origin the configured origin of the service; undefined if there is none
 * @param forwardedProto `X-Forwarded-Proto`; of several values the first counts, which the proxy nearest to
 *   the browser has set
 */
export const talksHttps = (origin: string | undefined, forwardedProto: string): boolean =>
  origin === undefined
    ? forwardedProto.split(',')[0]?.trim().toLowerCase() === 'https'
    : origin.startsWith('https:');

/**
 * A `Set-Cookie` value. Scripts cannot read the cookie, and requests from other sites do not carry it, except
 * when a user follows a link. An age of 0 removes the cookie.
 * @param value has only characters that are allowed in a cookie
 */
export function setCookie(name: CookieName, value: string, { secure, maxAgeSeconds }: CookieOptions): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`;
  return secure ? `${hostPrefix}${name}=${value}; ${attributes}; Secure` : `${name}=${value}; ${attributes}`;
}

function cookieValue(header: string, name: string): string {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return '';
}
