import type { Credentials } from '../auth/credentials.ts';
import type { Identity, IdentitySource } from '../auth/identities.ts';
import { readClaims, type VerifiedClaims } from '../auth/oidc/claims.ts';
import type { TokenVerifier } from '../auth/oidc/token-verifier.ts';
import type { Clock } from '../lib/clock.ts';
import { defaultTenant } from '../model/dataset.ts';
import type { Principal } from '../model/identity.ts';
import type { Directory } from './directory.ts';

/**
 * Somebody whom an identity provider vouches for, until a moment. Which roles they have is the provider's word, what
 * the roles grant is decided here: a change of a role, or of the default role, is effective at once.
 */
export class OidcAccount implements Identity {
  readonly #claims: VerifiedClaims;
  readonly #directory: Directory;
  readonly #clock: Clock;
  #principal: Principal | undefined;
  #revision = -1;
  #ended = false;

  constructor(claims: VerifiedClaims, directory: Directory, clock: Clock) {
    this.#claims = claims;
    this.#directory = directory;
    this.#clock = clock;
  }

  /** @throws AppError `store_unavailable` while roles are not known */
  get principal(): Principal | undefined {
    if (this.#ended || this.#clock.nowMicros() / 1000 >= this.#claims.expiresAtMs) return undefined;
    const { revision } = this.#directory;
    if (this.#principal === undefined || this.#revision !== revision) {
      this.#principal = this.#describe();
      this.#revision = revision;
    }
    return this.#principal;
  }

  /** Who it is, without what they may do: that takes the directory to know. */
  get somebody(): Principal {
    return { kind: 'oidc', name: this.#claims.name, tenant: defaultTenant, privileges: [] };
  }

  /** It is over, before its time. */
  end(): void {
    this.#ended = true;
  }

  /** A role that does not exist here grants nothing; who has none that does gets the default role. */
  #describe(): Principal {
    const { tenant } = this.somebody;
    const { roles } = this.#claims;
    const known = roles.filter((role) => this.#directory.role(tenant, role) !== undefined);
    const fallback = this.#directory.defaultRole(tenant);
    const granted = known.length > 0 || fallback === undefined ? known : [fallback];
    const privileges = granted.flatMap((role) => this.#directory.role(tenant, role) ?? []);
    return { ...this.somebody, privileges };
  }
}

export interface OidcIdentitiesOptions {
  readonly verifier: TokenVerifier;
  readonly audience: string;
  readonly rolesClaim: string;
  readonly directory: Directory;
  readonly clock: Clock;
}

/** Those who present a bearer token of the identity provider. */
export class OidcIdentities implements IdentitySource {
  readonly #options: OidcIdentitiesOptions;

  constructor(options: OidcIdentitiesOptions) {
    this.#options = options;
  }

  verify(credentials: Credentials): Promise<Identity | undefined> | undefined {
    return credentials.scheme === 'bearer' ? this.#check(credentials.token) : undefined;
  }

  async #check(token: string): Promise<Identity | undefined> {
    const { verifier, audience, rolesClaim, directory, clock } = this.#options;
    const claims = await verifier.verify(token, audience);
    return claims && new OidcAccount(readClaims(claims, rolesClaim), directory, clock);
  }
}
