import type { Identity } from '../auth/identity-sources.ts';
import type { VerifiedClaims } from '../auth/oidc/claims.ts';
import type { Clock } from '../lib/clock.ts';
import type { Principal } from '../model/identity.ts';
import type { IdentityStore } from './identity-store.ts';
import { oauthId } from './names.ts';

/**
 * A user of the identity provider, until the token or session expires. The user has the roles of the claim
 * and those that administrators gave. The privileges are computed from the current roles: when a role or the
 * default role changes, or the user is removed, it takes effect at once.
 */
export class OidcAccount implements Identity {
  readonly #claims: VerifiedClaims;
  readonly #tenant: string;
  readonly #identityStore: IdentityStore;
  readonly #clock: Clock;
  #principal: Principal | undefined;
  #revision = -1;

  /** @param tenant the id of the tenant of the user */
  constructor(claims: VerifiedClaims, tenant: string, identityStore: IdentityStore, clock: Clock) {
    this.#claims = claims;
    this.#tenant = tenant;
    this.#identityStore = identityStore;
    this.#clock = clock;
  }

  /** @throws AppError `store_unavailable` while roles are not known; `forbidden`, see `Grants.of` */
  get principal(): Principal | undefined {
    if (this.#clock.nowMicros() / 1000 >= this.#claims.expiresAtMs) return undefined;
    const { revision } = this.#identityStore;
    if (this.#principal === undefined || this.#revision !== revision) {
      this.#principal = this.#describe();
      this.#revision = revision;
    }
    return this.#principal;
  }

  /** The principal without privileges, which works also while the identity store is not loaded. */
  get somebody(): Principal {
    const { name, subject } = this.#claims;
    return { kind: 'oidc', name, id: oauthId(subject), tenant: this.#tenant, privileges: [] };
  }

  /** Roles that do not exist here are left out. A user without any other role gets the default role. */
  #describe(): Principal | undefined {
    const { roles, subject, issuedAtMs } = this.#claims;
    const user = this.#identityStore.oauthUser(this.#tenant, subject);
    if (user !== undefined && issuedAtMs < user.goodSinceMs) return undefined;
    const known = [...new Set([...roles, ...(user?.roles ?? [])])].filter(
      (role) => this.#identityStore.role(this.#tenant, role) !== undefined,
    );
    const fallback = this.#identityStore.defaultRole(this.#tenant);
    const granted = known.length > 0 || fallback === undefined ? known : [fallback];
    return { ...this.somebody, privileges: this.#identityStore.grant(this.#tenant, granted) };
  }
}
