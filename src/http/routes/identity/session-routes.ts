import * as v from 'valibot';
import { type Gate, mayDo } from '../../../access/gate.ts';
import type { AuditLog } from '../../../audit/audit-log.ts';
import type { PresentedCredential } from '../../../auth/credentials.ts';
import type { Identity } from '../../../auth/identity-sources.ts';
import type { OidcLogin } from '../../../auth/oidc/login.ts';
import { entryOf, privilegeEntries } from '../../../auth/privilege-entries.ts';
import { AppError } from '../../../errors.ts';
import type { Sessions } from '../../../identity/sessions.ts';
import type { Clock } from '../../../lib/clock.ts';
import { members, text } from '../../../lib/validation.ts';
import { limits } from '../../../limits/limits.ts';
import { parseGenerationId } from '../../../model/generation.ts';
import { actions, type Principal } from '../../../model/identity.ts';
import { cookieIn, setCookie, talksHttps } from '../../server/cookies.ts';
import { publicRoute } from '../../server/declare-route.ts';
import { jsonBody } from '../../server/json-body.ts';
import { requireOwnPage } from '../../server/origin.ts';
import { jsonReply, problemReply, type Reply } from '../../server/reply.ts';
import { jsonContent, timestamp } from '../../server/reply-content.ts';
import type { PublicRequest, Route } from '../../server/route.ts';

export interface SessionRouteOptions {
  readonly sessions: Sessions;
  readonly gate: Gate;
  /** See `Authorizer.identify`. */
  readonly identify: (
    presented: PresentedCredential,
    clientAddress: () => string,
  ) => Promise<Identity | undefined>;
  readonly audit: AuditLog;
  readonly clock: Clock;
  /** Undefined if there is no identity provider. */
  readonly login: Pick<OidcLogin, 'endSessionUrl'> | undefined;
  /** Whether there may be several tenants. */
  readonly multiTenant: boolean;
  /** The origin at which browsers reach the service; if undefined, it is derived from each request. */
  readonly publicOrigin: string | undefined;
}

const path = '/api/v1/session';

const secret = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(limits.maxSignInBodyBytes),
);
const tenant = v.exactOptional(
  v.pipe(
    text(limits.identityNameMaxLength),
    v.description('The tenant, if the server has several and this is no API key.'),
  ),
);
const username = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(limits.identityNameMaxLength),
  // In HTTP's Basic authentication, a colon ends the name.
  v.check((name) => !name.includes(':'), 'must not contain a colon'),
);
const byPassword = members({ username, password: secret, tenant });
const byKey = members({ apiKey: secret, tenant });
type SignIn = v.InferOutput<typeof byPassword> | v.InferOutput<typeof byKey>;

const signInBody = jsonBody<SignIn>(
  {
    schema: v.pipe(
      v.union([byPassword, byKey], 'must be {"username": …, "password": …} or {"apiKey": …}'),
      v.title('SignIn'),
    ),
    name: '',
    prefix: 'a sign-in ',
    whole: 'a sign-in must be {"username": …, "password": …} or {"apiKey": …}',
    code: 'bad_request',
  },
  { description: 'A name and password, or an API key.', maxBytes: limits.maxSignInBodyBytes },
);

const session = v.pipe(
  v.object({
    kind: v.picklist(['root', 'user', 'apiKey', 'oidc']),
    name: v.string(),
    tenant: v.pipe(v.string(), v.description('The name of the tenant that the session acts in.')),
    multiTenant: v.pipe(v.boolean(), v.description('Whether the server has several tenants.')),
    expiresAt: timestamp,
    actions: v.pipe(
      v.array(v.picklist(actions)),
      v.description(
        'What the holder may do without naming a dataset: on all of them, or on those they may see.',
      ),
    ),
    privileges: privilegeEntries,
  }),
  v.title('Session'),
);

const sessionReply = (description: string) => ({
  status: 200,
  description,
  content: jsonContent(session),
});

/**
 * Sessions of browsers. The credential of a session is a cookie that scripts cannot read, so that a page
 * never holds a password or a key.
 */
export function sessionRoutes(options: SessionRouteOptions): Route[] {
  return [
    publicRoute({
      method: 'POST',
      path,
      permission: 'public',
      body: signInBody,
      reference: {
        group: 'Sign-in',
        summary: 'Begin a session',
        details:
          'By password or API key; at an identity provider, sessions begin at `/api/v1/o/login`. The session is a cookie. It ends after twelve hours, and with the user, the key or the password. A browser may ask only from a page of this service.',
        replies: [sessionReply('Who has signed in.')],
        errors: ['unauthenticated', 'forbidden', 'tenant_required', 'tenant_not_found', 'overloaded'],
      },
      handler: (request, { body }) => begin(options, request, body),
    }),
    publicRoute({
      method: 'GET',
      path,
      permission: 'public',
      reference: {
        group: 'Sign-in',
        summary: 'Ask whose session this is',
        details:
          'Without a session, the member `signInWays` of the problem lists which ways of signing in there are: `password`, `apiKey`, and `provider`, which begins at `/api/v1/o/login`; `multiTenant` says whether a tenant must be named. With several tenants, the administrator of the server may name one in `X-P-Tenant`.',
        replies: [sessionReply('Who has signed in.')],
        errors: ['unauthenticated', 'tenant_not_found', 'store_unavailable'],
      },
      handler: (request) => describe(options, request),
    }),
    publicRoute({
      method: 'DELETE',
      path,
      permission: 'public',
      reference: {
        group: 'Sign-in',
        summary: 'End the session',
        replies: [
          {
            status: 200,
            description:
              'There is no session any more. If the identity provider has one of its own, `next` is the page that ends it.',
            content: jsonContent(v.object({ next: v.nullable(v.string()) })),
          },
        ],
        errors: ['forbidden', 'oidc_unavailable'],
      },
      handler: (request) => end(options, request),
    }),
  ];
}

async function begin(options: SessionRouteOptions, request: PublicRequest, body: SignIn): Promise<Reply> {
  const { gate, identify, sessions, audit } = options;
  requireOwnPage(pageHeaders(request), options.publicOrigin);
  const from = request.clientAddress();
  const isKey = 'apiKey' in body;
  // A key belongs to one tenant.
  const asked = gate.tenantOf(body.tenant ?? '', isKey ? 'ofCredential' : 'required');
  const identity = await identify({ ...presented(body), tenant: asked.id ?? '' }, () => from);
  const caller = gate.admit(identity?.principal, asked);
  if (identity === undefined) throw new Error('BUG: admitted without an identity');
  if (asked.problem !== undefined) throw asked.problem;
  const { id } = sessions.beginFor(identity, caller.principal);
  audit.changed(caller, from, 'session.begin', caller.principal.name);
  const maxAgeSeconds = Math.floor(limits.passwordSessionLifetimeMs / 1000);
  const cookie = setCookie('millrace-session', id, { secure: isSecure(options, request), maxAgeSeconds });
  return { ...reply(options, id, caller.principal, caller.tenant), headers: [['Set-Cookie', cookie]] };
}

const presented = (body: SignIn): Omit<PresentedCredential, 'tenant'> =>
  'apiKey' in body
    ? { header: 'x-api-key', value: body.apiKey }
    : {
        header: 'authorization',
        value: `Basic ${Buffer.from(`${body.username}:${body.password}`).toString('base64')}`,
      };

/**
 * A page asks at its start, before anybody has signed in. So the absence of a session is a reply and not a
 * refusal, which would be written to the audit trail.
 */
async function describe(options: SessionRouteOptions, request: PublicRequest): Promise<Reply> {
  const { gate } = options;
  const id = cookieIn(request.header('cookie'), 'millrace-session', isSecure(options, request));
  if (id === '' || id.length > limits.maxCredentialBytes) return nobody(options);
  const asked = gate.tenantOf(request.header('x-p-tenant'), 'ofCredential');
  const from = request.clientAddress();
  const principal = await gate.authenticate({ header: 'cookie', value: id }, asked, () => from);
  if (principal === undefined) return nobody(options);
  const caller = gate.admit(principal, asked);
  if (asked.problem !== undefined) throw asked.problem;
  return reply(options, id, caller.principal, caller.tenant);
}

async function end(options: SessionRouteOptions, request: PublicRequest): Promise<Reply> {
  const { sessions, audit, login } = options;
  requireOwnPage(pageHeaders(request), options.publicOrigin);
  const secure = isSecure(options, request);
  const from = request.clientAddress();
  const ended = sessions.end(cookieIn(request.header('cookie'), 'millrace-session', secure));
  const cookie = setCookie('millrace-session', '', { secure, maxAgeSeconds: 0 });
  let next: string | null = null;
  if (ended !== undefined) {
    const { principal, idToken } = ended;
    audit.changed({ principal, tenant: principal.tenant }, from, 'session.end', principal.name);
    if (idToken !== undefined) next = (await login?.endSessionUrl(idToken))?.href ?? null;
  }
  return { ...jsonReply({ next }), headers: [['Set-Cookie', cookie]] };
}

function nobody({ login, multiTenant }: SessionRouteOptions): Reply {
  const signInWays = ['password', 'apiKey', ...(login === undefined ? [] : ['provider'])];
  const details = { signInWays, multiTenant };
  return problemReply(new AppError('unauthenticated', 'nobody has signed in', { details }));
}

function reply(
  { sessions, clock, multiTenant }: SessionRouteOptions,
  id: string,
  principal: Principal,
  tenantId: string,
): Reply {
  const { kind, name, privileges } = principal;
  const expiresAtMs = sessions.expiresAtMs(id) ?? clock.nowMicros() / 1000;
  return jsonReply({
    kind,
    name,
    tenant: parseGenerationId(tenantId).name,
    multiTenant,
    expiresAt: new Date(expiresAtMs).toISOString(),
    actions: actions.filter((action) => mayDo(principal, action)),
    privileges: privileges.map(entryOf),
  });
}

const pageHeaders = (request: PublicRequest) => ({
  fetchSite: request.header('sec-fetch-site'),
  origin: request.header('origin'),
  host: request.header('host'),
});

const isSecure = ({ publicOrigin }: SessionRouteOptions, request: PublicRequest): boolean =>
  talksHttps(publicOrigin, request.forwardedProto);
