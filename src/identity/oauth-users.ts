import type { VerifiedClaims } from '../auth/oidc/claims.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import type { Principal } from '../model/identity.ts';
import type { OauthUserValue } from './accounts.ts';
import type { IdentityStore } from './identity-store.ts';
import { noUser, oauthId } from './names.ts';
import { OidcAccount } from './oidc-account.ts';
import { changedRoles, type RoleChange } from './roles.ts';

export interface OauthUsersOptions {
  readonly identityStore: IdentityStore;
  /**
   * The id of the tenant that a claim names; undefined if there is no such tenant.
   * @throws AppError `store_unavailable`
   */
  readonly tenantOf: (claimed: string | undefined) => string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Per tenant. Removed users count too: they are kept, so that their old credentials stay invalid. */
  readonly maxUsers?: number;
}

/** A user of the identity provider, as administrators see it. */
export interface OauthUser {
  readonly id: string;
  readonly method: 'oauth';
  /** The name that the provider gave at the first sign-in. */
  readonly name: string;
}

/**
 * The users of the identity provider, by tenant.
 *
 * A valid token is enough to be admitted. At the first one the user is added to the list, in the background;
 * from then on administrators can give the user further roles. Removing a user takes it off the list and
 * makes its earlier sessions and tokens invalid. A later sign-in adds the user again, without the roles that
 * administrators gave. Users are identified by their subject, which the provider never gives to two people;
 * people can choose their names.
 */
export class OauthUsers {
  readonly #options: OauthUsersOptions;
  readonly #maxUsers: number;
  /** The users that are being added to the list, as `tenant/subject`. */
  readonly #listing = new Set<string>();
  #saidFull = false;

  constructor(options: OauthUsersOptions) {
    this.#options = options;
    this.#maxUsers = options.maxUsers ?? limits.maxOauthUsersPerTenant;
  }

  /**
   * @returns undefined if there is no such tenant, or if the user was removed after the claims were issued
   * @throws AppError `store_unavailable` while users are not known
   */
  admit(claims: VerifiedClaims): OidcAccount | undefined {
    const { identityStore, tenantOf, clock } = this.#options;
    const tenant = tenantOf(claims.tenant);
    if (tenant === undefined) return undefined;
    const account = new OidcAccount(claims, tenant, identityStore, clock);
    if (account.principal === undefined) return undefined;
    this.#list(tenant, claims);
    return account;
  }

  /**
   * The principal of a user who need not be signed in: with the roles that administrators gave, or the
   * default role. Those of the provider's claims are not known here. Undefined if there is no such user.
   * @throws AppError `store_unavailable`, `forbidden` (`Grants.of`)
   */
  principalOf(tenant: string, subject: string): Principal | undefined {
    const { identityStore, clock } = this.#options;
    const user = identityStore.oauthUser(tenant, subject);
    if (user === undefined || user.removed) return undefined;
    const always = { issuedAtMs: Number.POSITIVE_INFINITY, expiresAtMs: Number.POSITIVE_INFINITY };
    const claims = { subject, name: user.name, roles: [], tenant: undefined, ...always };
    return new OidcAccount(claims, tenant, identityStore, clock).principal;
  }

  /** Sorted by id. */
  list(tenant: string): readonly OauthUser[] {
    const all = [...this.#options.identityStore.oauthUsers(tenant)].filter(([, { removed }]) => !removed);
    const users = all.map(
      ([subject, { name }]) => ({ id: oauthId(subject), method: 'oauth', name }) as const,
    );
    return users.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /**
   * The roles that administrators gave, without those of the claim.
   * @throws AppError `not_found`
   */
  roles(tenant: string, subject: string): readonly string[] {
    return this.#find(tenant, subject).roles;
  }

  /** @throws AppError `not_found`, `role_unknown`, `identity_changed` */
  async changeRoles(
    tenant: string,
    subject: string,
    change: RoleChange,
    roles: readonly string[],
  ): Promise<void> {
    const { identityStore } = this.#options;
    await identityStore.exclusively(tenant, async ({ write }) => {
      const value = this.#find(tenant, subject);
      const changed = changedRoles(identityStore, tenant, value.roles, change, roles);
      await write({ tenant, kind: 'oauthUser', key: subject }, { ...value, roles: changed });
    });
  }

  /**
   * When this returns, earlier sessions and tokens of the user are invalid on all nodes.
   * @throws AppError `not_found`, `identity_changed`
   */
  async delete(tenant: string, subject: string): Promise<void> {
    const { identityStore, clock } = this.#options;
    await identityStore.exclusively(tenant, async ({ write }) => {
      const value = this.#find(tenant, subject);
      const goodSinceMs = Math.floor(clock.nowMicros() / 1000) + 1;
      const gone: OauthUserValue = { ...value, roles: [], removed: true, goodSinceMs };
      await write({ tenant, kind: 'oauthUser', key: subject }, gone);
    });
  }

  #find(tenant: string, subject: string): OauthUserValue {
    const value = this.#options.identityStore.oauthUser(tenant, subject);
    if (value?.removed === false) return value;
    throw noUser();
  }

  #list(tenant: string, { subject, name }: VerifiedClaims): void {
    const { identityStore, log } = this.#options;
    const known = identityStore.oauthUser(tenant, subject);
    const key = `${tenant}/${subject}`;
    if (known?.removed === false || this.#listing.has(key)) return;
    if (this.#listing.size >= limits.maxPendingChecks) return;
    if (known === undefined && identityStore.oauthUsers(tenant).size >= this.#maxUsers) {
      if (!this.#saidFull)
        log.warn({ tenant, users: this.#maxUsers }, 'further users of the identity provider are not listed');
      this.#saidFull = true;
      return;
    }
    this.#listing.add(key);
    this.#write(tenant, subject, name)
      .catch((error: unknown) => {
        // The next token or sign-in of this user tries again.
        log.warn({ err: error, tenant }, 'a user of the identity provider could not be listed');
      })
      .finally(() => this.#listing.delete(key));
  }

  async #write(tenant: string, subject: string, name: string): Promise<void> {
    const { identityStore } = this.#options;
    await identityStore.exclusively(tenant, async ({ write }) => {
      const before = identityStore.oauthUser(tenant, subject);
      if (before?.removed === false) return;
      const value: OauthUserValue = {
        name,
        roles: [],
        removed: false,
        goodSinceMs: before?.goodSinceMs ?? 0,
      };
      await write({ tenant, kind: 'oauthUser', key: subject }, value);
    });
  }
}
