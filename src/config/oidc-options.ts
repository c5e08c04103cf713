import { parseOrigin, parseProviderUrl } from '../lib/option-values.ts';
import { limits } from '../limits/limits.ts';
import { ConfigError, needOption, type Option, type OptionTexts, readOption } from './option.ts';

/** The configuration of an OpenID Connect identity provider. */
export interface OidcConfig {
  readonly issuer: URL;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** The audience that bearer tokens must have. */
  readonly audience: string;
  /** The scopes that a sign-in requests, separated by spaces. */
  readonly scope: string;
  /** The claim that holds the roles; dots lead into objects. */
  readonly rolesClaim: string;
  /** The claim that holds the tenant, likewise; undefined: all users belong to the default tenant. */
  readonly tenantClaim: string | undefined;
  readonly sessionLifetimeMs: number;
  /** The URL under which browsers reach the service; undefined: taken from each request. */
  readonly publicOrigin: string | undefined;
}

const text = (pattern: RegExp) => (value: string) => (pattern.test(value) ? value : undefined);
const printable = text(/^[\x21-\x7e]{1,512}$/);

/** Options of the identity provider. */
export const oidcOptions = {
  issuer: {
    env: 'MILLRACE_OIDC_ISSUER',
    meaning: 'the identity provider (OpenID Connect) whose tokens are accepted; none if it is not set',
    fallback: undefined,
    parse: parseProviderUrl,
    allowed:
      'an https URL without query, such as https://id.example.com/realms/main; http on this machine only',
  },
  clientId: {
    env: 'MILLRACE_OIDC_CLIENT_ID',
    meaning: 'the client id of this service at the identity provider',
    fallback: undefined,
    parse: printable,
    allowed: '1 to 512 printable characters without spaces',
  },
  clientSecret: {
    env: 'MILLRACE_OIDC_CLIENT_SECRET',
    meaning: 'the client secret at the identity provider; none for a public client',
    fallback: undefined,
    secret: true,
    parse: text(/^[\x20-\x7e]{1,1024}$/),
    allowed: '1 to 1024 printable characters',
  },
  audience: {
    env: 'MILLRACE_OIDC_AUDIENCE',
    meaning: 'the audience (aud) that bearer tokens must have; the client id if it is not set',
    fallback: undefined,
    parse: printable,
    allowed: '1 to 512 printable characters without spaces',
  },
  scope: {
    env: 'MILLRACE_OIDC_SCOPE',
    meaning: 'the scopes that a sign-in requests',
    fallback: 'openid profile email',
    parse: (value) =>
      /^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(value) && value.split(' ').includes('openid') ? value : undefined,
    allowed: 'scopes separated by one space, openid among them',
  },
  rolesClaim: {
    env: 'MILLRACE_OIDC_ROLES_CLAIM',
    meaning: 'the claim that holds the roles; dots lead into objects',
    fallback: 'roles',
    parse: printable,
    allowed: 'the name of a claim, such as groups or realm_access.roles',
  },
  tenantClaim: {
    env: 'MILLRACE_OIDC_TENANT_CLAIM',
    meaning: 'the claim that holds the tenant; all users belong to the default tenant if it is not set',
    fallback: undefined,
    parse: printable,
    allowed: 'the name of a claim, such as org or app_metadata.tenant; only in multi-tenant mode',
  },
  sessionLifetimeMs: {
    env: 'MILLRACE_OIDC_SESSION_MS',
    meaning: 'how long a sign-in in a browser lasts, in milliseconds',
    fallback: String(limits.sessionLifetimeMs),
    parse: (value) =>
      /^\d{1,9}$/.test(value) && Number(value) >= 1000 && Number(value) <= 86_400_000
        ? Number(value)
        : undefined,
    allowed: 'a number of milliseconds from 1000 to 86400000',
  },
  publicOrigin: {
    env: 'MILLRACE_PUBLIC_URL',
    meaning:
      'the URL under which browsers reach the service, also for links in notifications; taken from each request if it is not set',
    fallback: undefined,
    parse: parseOrigin,
    allowed: 'a URL without path, such as https://logs.example.com',
  },
} as const satisfies { readonly [K in keyof OidcConfig]: Option<NonNullable<OidcConfig[K]>> };

/** @returns undefined when there is no identity provider
 *  @throws ConfigError */
export function readOidc(texts: OptionTexts, multiTenant: boolean): OidcConfig | undefined {
  const issuer = readOption(oidcOptions.issuer, texts);
  const clientId = readOption(oidcOptions.clientId, texts);
  const config = {
    clientSecret: readOption(oidcOptions.clientSecret, texts),
    audience: readOption(oidcOptions.audience, texts),
    scope: needOption(oidcOptions.scope, texts),
    rolesClaim: needOption(oidcOptions.rolesClaim, texts),
    tenantClaim: readOption(oidcOptions.tenantClaim, texts),
    sessionLifetimeMs: needOption(oidcOptions.sessionLifetimeMs, texts),
    publicOrigin: readOption(oidcOptions.publicOrigin, texts),
  };
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined || clientId === undefined) {
    throw new ConfigError(
      `${oidcOptions.issuer.env} and ${oidcOptions.clientId.env} belong together; one of them is missing`,
    );
  }
  if (config.tenantClaim !== undefined && !multiTenant) {
    throw new ConfigError(
      `${oidcOptions.tenantClaim.env} needs multi-tenant mode: set MILLRACE_MULTI_TENANT to true`,
    );
  }
  return { issuer, clientId, ...config, audience: config.audience ?? clientId };
}
