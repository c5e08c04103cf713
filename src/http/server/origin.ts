import type { PresentedCredential } from '../../auth/credentials.ts';
import { schemeOf } from '../../auth/credentials.ts';
import { AppError } from '../../errors.ts';
import { talksHttps } from './cookies.ts';
import { type CorsOrigins, isTrustedOrigin } from './cors.ts';
import type { RequestHeaders } from './headers.ts';

const hostHeader = /^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/;

/**
 * Where a browser reaches the service: as configured, or as its request and the proxy in front say.
 * @param forwardedProto `X-Forwarded-Proto`
 * @throws AppError `bad_header`
 */
export function browserOrigin(configured: string | undefined, host: string, forwardedProto: string): string {
  if (configured !== undefined) return configured;
  if (!hostHeader.test(host)) throw new AppError('bad_header', 'the header Host is not a host');
  const scheme = talksHttps(undefined, forwardedProto) ? 'https' : 'http';
  return `${scheme}://${host.toLowerCase()}`;
}

/**
 * A browser sends its session along with what other sites make it ask for, and a password that it was
 * once asked for, so what changes anything must come from a page of this one: `Sec-Fetch-Site` says so,
 * or, in browsers and on connections without it, `Origin`. Programs, which have passwords and no
 * sessions, send neither. Pages of origins that the configuration names count as pages of this one.
 * @throws AppError `forbidden`
 */
export function requireSameSite(
  credential: Omit<PresentedCredential, 'tenant'>,
  method: string,
  headers: RequestHeaders,
  configured: string | undefined,
  corsOrigins: CorsOrigins | undefined,
): void {
  if (method === 'GET' || method === 'HEAD') return;
  const scheme = schemeOf(credential);
  if (scheme !== 'session' && scheme !== 'basic') return;
  const { fetchSite, origin, host } = headers;
  if (fetchSite === 'same-origin' || isTrustedOrigin(corsOrigins, origin)) return;
  if (fetchSite === '' && origin !== '' && isOwn(origin, host, configured)) return;
  if (scheme === 'basic' && ((fetchSite === '' && origin === '') || fetchSite === 'none')) return;
  throw new AppError('forbidden', 'requests of a browser must come from a page of this service');
}

function isOwn(origin: string, host: string, configured: string | undefined): boolean {
  if (configured !== undefined) return origin === configured;
  const url = URL.parse(origin);
  // The scheme is left out: a proxy may talk another one to the browser.
  return url !== null && host !== '' && url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}
