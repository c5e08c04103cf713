/**
 * Cookies (RFC 6265). On HTTPS their names begin with `__Host-`: browsers take these from this very host
 * alone, over HTTPS, so that no neighbouring host can put one of its own in their place.
 */
export type CookieName = 'millrace-session' | 'millrace-login';

const hostPrefix = '__Host-';

export interface CookieOptions {
  /** Whether the browser talks HTTPS. */
  readonly secure: boolean;
  readonly maxAgeSeconds: number;
}

/**
 * The value of a cookie in a `Cookie` header, empty if it is not there.
 * @param secure whether the browser talks HTTPS: then only one with the prefix counts, or a neighbouring host
 *   could make somebody use a session that is not theirs
 */
export const cookieIn = (header: string, name: CookieName, secure: boolean): string =>
  cookieValue(header, secure ? hostPrefix + name : name);

/**
 * Whether the browser talks HTTPS: as configured, or as the proxy in front says.
 * @param origin where browsers reach the service; undefined if it was not configured
 * @param forwardedProto `X-Forwarded-Proto`; of several the first, which the browser's side has set
 */
export const talksHttps = (origin: string | undefined, forwardedProto: string): boolean =>
  origin === undefined
    ? forwardedProto.split(',')[0]?.trim().toLowerCase() === 'https'
    : origin.startsWith('https:');

/**
 * A `Set-Cookie` value: out of reach of scripts, and not sent along with what other sites ask for, but for
 * following a link. An age of 0 removes the cookie.
 * @param value of characters that a cookie may hold
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
