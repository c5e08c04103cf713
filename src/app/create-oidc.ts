import type { AuditLog } from '../audit/audit-log.ts';
import type { IdentitySource } from '../auth/identity-sources.ts';
import type { ClaimNames } from '../auth/oidc/claims.ts';
import { OidcLogin } from '../auth/oidc/login.ts';
import { OidcProvider } from '../auth/oidc/provider.ts';
import { TokenVerifier } from '../auth/oidc/token-verifier.ts';
import type { SecretBox } from '../auth/secret-box.ts';
import type { OidcConfig } from '../config/oidc-options.ts';
import type { LoginRouteOptions } from '../http/routes/identity/login-routes.ts';
import type { OauthUsers } from '../identity/oauth-users.ts';
import { OidcIdentities } from '../identity/oidc-identities.ts';
import type { Sessions } from '../identity/sessions.ts';
import type { AppContext } from './app-context.ts';

export interface OidcParts {
  readonly context: Pick<AppContext, 'clock' | 'log'>;
  readonly oauthUsers: OauthUsers;
  readonly box: SecretBox;
  readonly audit: AuditLog;
  readonly sessions: Sessions;
}

export interface Oidc {
  readonly sources: readonly IdentitySource[];
  readonly login: LoginRouteOptions;
}

/** Bearer tokens and browser sign-ins of an identity provider. */
export function createOidc(
  config: OidcConfig,
  { context: { clock, log }, oauthUsers: users, box, audit, sessions }: OidcParts,
): Oidc {
  const { clientId, audience, scope, sessionLifetimeMs, publicOrigin } = config;
  const claimNames: ClaimNames = config;
  const provider = new OidcProvider({ ...config, clock, log });
  const verifier = new TokenVerifier(provider, clientId, clock);
  const tokens = new OidcIdentities({ verifier, audience, claimNames, users });
  const login = new OidcLogin({ provider, verifier, clientId, scope, claimNames, box, clock });
  return {
    sources: [tokens],
    login: { login, sessions, audit, sessionLifetimeMs, publicOrigin },
  };
}
