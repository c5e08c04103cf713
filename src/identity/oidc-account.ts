import type { Identity } from '../auth/identity-sources.ts';
import type { VerifiedClaims } from '../auth/oidc/claims.ts';
import type { Clock } from '../lib/clock.ts';
import type { Principal } from '../model/identity.ts';
import type { IdentityStore } from './identity-store.ts';
import { oauthId } from './names.ts';

/**
 * Somebody whom an identity provider vouches for, until a moment. Which roles they have is the provider's
 * word, and that of administrators here; what the roles grant is decided here: a change of a role, or of the
 * default role, is effective at once, and so is a removal.
 */
export class OidcAccount implements Identity {
  readonly #claims: VerifiedClaims;
  readonly #tenant: string;
  readonly #identityStore: IdentityStore;
  readonly #clock: Clock;
  #principal: Principal | undefined;
  #revision = -1;
  #ended = false;

  /** @param tenant id of the one that they belong to */
  constructor(claims: VerifiedClaims, tenant: string, identityStore: IdentityStore, clock: Clock) {
    this.#claims = claims;
    this.#tenant = tenant;
    this.#identityStore = identityStore;
    this.#clock = clock;
  }

  /** @throws AppError `store_unavailable` while roles are not known; `forbidden`, see `Grants.of` */
  get principal(): Principal | undefined {
    if (this.#ended || this.#clock.nowMicros() / 1000 >= this.#claims.expiresAtMs) return undefined;
    const { revision } = this.#identityStore;
    if (this.#principal === undefined || this.#revision !== revision) {
      this.#principal = this.#describe();
      this.#revision = revision;
    }
    return this.#principal;
  }

  /** Who it is, without what they may do: that takes the identity store to know. */
  get somebody(): Principal {
    const { name, subject } = this.#claims;
    return { kind: 'oidc', name, id: oauthId(subject), tenant: this.#tenant, privileges: [] };
  }

  /** It is over, before its time. */
  end(): void {
    this.#ended = true;
  }

  /** A role that does not exist here grants nothing; who has none that does gets the default role. */
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
