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
  const { fetchSite, origin } = headers;
  if (isTrustedOrigin(corsOrigins, origin) || isOwnPage(headers, configured)) return;
  if (scheme === 'basic' && ((fetchSite === '' && origin === '') || fetchSite === 'none')) return;
  throw foreignPage();
}

/** What a request says about the page that sent it; absent headers are empty. */
type PageHeaders = Pick<RequestHeaders, 'fetchSite' | 'origin' | 'host'>;

/**
 * Refuses a sign-in that another site made a browser send: it would act for somebody else from then on.
 * Programs may sign in; they send neither of the headers.
 * @throws AppError `forbidden`
 */
export function requireOwnPage(headers: PageHeaders, configured: string | undefined): void {
  const isProgram = headers.fetchSite === '' && headers.origin === '';
  if (!isProgram && !isOwnPage(headers, configured)) throw foreignPage();
}

function isOwnPage({ fetchSite, origin, host }: PageHeaders, configured: string | undefined): boolean {
  if (fetchSite !== '') return fetchSite === 'same-origin';
  return origin !== '' && isOwn(origin, host, configured);
}

const foreignPage = (): AppError =>
  new AppError('forbidden', 'requests of a browser must come from a page of this service');

function isOwn(origin: string, host: string, configured: string | undefined): boolean {
  if (configured !== undefined) return origin === configured;
  const url = URL.parse(origin);
  // The scheme is not compared: between the browser and a proxy it may be another one.
  return url !== null && host !== '' && url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}
