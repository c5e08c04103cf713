import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import type { OidcLogin } from '../../../auth/oidc/login.ts';
import { AppError } from '../../../errors.ts';
import type { Sessions } from '../../../identity/sessions.ts';
import { limits } from '../../../limits/limits.ts';
import { cookieIn, setCookie } from '../../server/cookies.ts';
import { publicRoute } from '../../server/declare-route.ts';
import { browserOrigin } from '../../server/origin.ts';
import { queryParameters } from '../../server/query-parameters.ts';
import { emptyReply, type Reply } from '../../server/reply.ts';
import type { PublicRequest, Route } from '../../server/route.ts';

export interface LoginRouteOptions {
  readonly login: OidcLogin;
  readonly sessions: Sessions;
  readonly audit: AuditLog;
  readonly sessionLifetimeMs: number;
  /** The origin at which browsers reach the service; if undefined, it is derived from each request. */
  readonly publicOrigin: string | undefined;
}

const codePath = '/api/v1/o/code';

const redirects = { status: 303, description: 'A redirect to the URL in the header `Location`.' };
const redirectParameter = queryParameters({
  redirect: v.optional(
    v.pipe(
      v.string(),
      v.description('Where to go after the sign-in: a path of this service, or a URL of it.'),
    ),
  ),
});
/** The parameters with which the identity provider redirects browsers back (RFC 6749, section 4.1.2). */
const answerParameters = queryParameters({
  code: v.optional(v.string()),
  state: v.optional(v.string()),
  error: v.optional(v.string()),
});

/** Sign-in and sign-out of browsers at the identity provider. */
export function loginRoutes(options: LoginRouteOptions): Route[] {
  const logout = (method: 'GET' | 'POST') =>
    publicRoute({
      method,
      path: '/api/v1/o/logout',
      permission: 'public',
      reference: {
        group: 'Sign-in',
        summary: 'Sign out',
        details: 'Ends the session here and, if the provider supports it, also there.',
        replies: [redirects],
        errors: ['forbidden', 'oidc_unavailable'],
      },
      handler: (request) => signOut(options, request),
    });
  return [
    publicRoute({
      method: 'GET',
      path: '/api/v1/o/login',
      permission: 'public',
      query: redirectParameter,
      reference: {
        group: 'Sign-in',
        summary: 'Sign in at the identity provider',
        replies: [redirects],
        errors: ['oidc_unavailable'],
      },
      handler: (request, { query }) => begin(options, request, query.redirect ?? '/'),
    }),
    publicRoute({
      method: 'GET',
      path: codePath,
      permission: 'public',
      query: answerParameters,
      reference: {
        group: 'Sign-in',
        summary: 'Return from the identity provider',
        replies: [redirects],
        errors: ['login_failed', 'forbidden', 'oidc_unavailable', 'overloaded', 'store_unavailable'],
      },
      handler: (request) => complete(options, request),
    }),
    logout('GET'),
    logout('POST'),
  ];
}

async function begin(
  { login, publicOrigin }: LoginRouteOptions,
  request: PublicRequest,
  redirect: string,
): Promise<Reply> {
  const origin = originOf(request, publicOrigin);
  const returnTo = ownUrl(redirect, origin);
  const { url, sealed } = await login.begin(origin + codePath, returnTo);
  const maxAgeSeconds = limits.loginLifetimeMs / 1000;
  return seeOther(url.href, [
    setCookie('millrace-login', sealed, { secure: isSecure(origin), maxAgeSeconds }),
  ]);
}

async function complete(options: LoginRouteOptions, request: PublicRequest): Promise<Reply> {
  const { login, sessions, audit, sessionLifetimeMs, publicOrigin } = options;
  const secure = isSecure(originOf(request, publicOrigin));
  const from = request.clientAddress();
  const cookie = request.header('cookie');
  const sealed = cookieIn(cookie, 'millrace-login', secure);
  const signedIn = await login.complete(request.queryString, sealed, from);
  const { id, principal } = sessions.begin(signedIn);
  audit.changed({ principal, tenant: principal.tenant }, from, 'session.begin', principal.name);
  return seeOther(signedIn.returnTo, [
    setCookie('millrace-session', id, { secure, maxAgeSeconds: Math.floor(sessionLifetimeMs / 1000) }),
    setCookie('millrace-login', '', { secure, maxAgeSeconds: 0 }),
  ]);
}

/**
 * Ends the session here and, if the provider supports it, also there. Requests from other sites are refused.
 */
async function signOut(options: LoginRouteOptions, request: PublicRequest): Promise<Reply> {
  const { login, sessions, audit, publicOrigin } = options;
  const origin = originOf(request, publicOrigin);
  const site = request.header('sec-fetch-site');
  if (site !== '' && site !== 'same-origin' && site !== 'none') {
    throw new AppError('forbidden', 'only pages of this service may sign out');
  }
  const from = request.clientAddress();
  const ended = sessions.end(cookieIn(request.header('cookie'), 'millrace-session', isSecure(origin)));
  const cookies = [setCookie('millrace-session', '', { secure: isSecure(origin), maxAgeSeconds: 0 })];
  if (ended === undefined) return seeOther(`${origin}/`, cookies);
  const { principal, idToken } = ended;
  audit.changed({ principal, tenant: principal.tenant }, from, 'session.end', principal.name);
  const url = idToken === undefined ? undefined : await login.endSessionUrl(idToken);
  return seeOther(url?.href ?? `${origin}/`, cookies);
}

const originOf = (request: PublicRequest, publicOrigin: string | undefined): string =>
  browserOrigin(publicOrigin, request.header('host'), request.forwardedProto);

const isSecure = (origin: string): boolean => origin.startsWith('https:');

/**
 * A redirect must stay on this service. Otherwise a link to this service could lead people to any other site.
 * @throws AppError `bad_request`
 */
function ownUrl(text: string, origin: string): string {
  const url = text.length > limits.maxReturnPathLength ? null : URL.parse(text, origin);
  if (url !== null && url.origin === origin && url.username + url.password === '') return url.href;
  throw new AppError('bad_request', 'redirect must be a path of this service');
}

/** The locations are serialized URLs, so they contain no line breaks. */
const seeOther = (location: string, cookies: readonly string[]): Reply =>
  emptyReply(303, [['Location', location], ...cookies.map((cookie) => ['Set-Cookie', cookie] as const)]);
