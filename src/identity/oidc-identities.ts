import type { Credentials } from '../auth/credentials.ts';
import type { Identity, IdentitySource } from '../auth/identity-sources.ts';
import { type ClaimNames, readClaims } from '../auth/oidc/claims.ts';
import type { TokenVerifier } from '../auth/oidc/token-verifier.ts';
import type { OauthUsers } from './oauth-users.ts';

export interface OidcIdentitiesOptions {
  readonly verifier: TokenVerifier;
  readonly audience: string;
  readonly claimNames: ClaimNames;
  readonly users: Pick<OauthUsers, 'admit'>;
}

/** Finds the identity of a bearer token of the identity provider. */
export class OidcIdentities implements IdentitySource {
  readonly #options: OidcIdentitiesOptions;

  constructor(options: OidcIdentitiesOptions) {
    this.#options = options;
  }

  verify(credentials: Credentials): Promise<Identity | undefined> | undefined {
    return credentials.scheme === 'bearer' ? this.#check(credentials.token) : undefined;
  }

  async #check(token: string): Promise<Identity | undefined> {
    const { verifier, audience, claimNames, users } = this.#options;
    const payload = await verifier.verify(token, audience);
    const claims = payload && readClaims(payload, claimNames);
    return claims && users.admit(claims);
  }
}
