import type { PresentedCredential } from '../../auth/credentials.ts';
import { schemeOf } from '../../auth/credentials.ts';
import { AppError } from '../../errors.ts';
import { talksHttps } from './cookies.ts';
import { type CorsOrigins, isTrustedOrigin } from './cors.ts';
import type { RequestHeaders } from './headers.ts';

const hostHeader = /^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/;

/**
 * The origin at which a browser reaches the service: the configured one, or else from its request and the
 * proxy.
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
 * Refuses requests that another site made a browser send. A browser adds its session, and a password that the
 * user once entered, also to requests of other sites. So a request that changes something must come from a
 * page of this service. `Sec-Fetch-Site` shows that, or `Origin` if the browser does not send it. Programs
 * use passwords and no sessions, and send neither header. Pages of configured origins count as pages of this
 * service.
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
  // The scheme is not compared: between the browser and a proxy it may be another one.
  return url !== null && host !== '' && url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}
