import { randomBytes } from 'node:crypto';
import { Passwords } from '../auth/password.ts';
import {
  entriesOf,
  type PrivilegeEntry,
  type RoleDocument,
  type RoleObject,
  roleObjectOf,
} from '../auth/privilege-entries.ts';
import { makeVerifier, verifierText } from '../auth/scram.ts';
import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import { defaultTenant } from '../model/dataset.ts';
import type { UserAccount, UserValue } from './accounts.ts';
import type { IdentityStore } from './identity-store.ts';
import { checkIdentifier, noUser, subjectOf } from './names.ts';
import type { OauthUser, OauthUsers } from './oauth-users.ts';
import { changedRoles, type RoleChange, requireRoles } from './roles.ts';

/** 144 bits: too many to guess, and few enough characters to type. */
const passwordBytes = 18;

/** The root administrator has no stored roles; this one is shown in their place. */
const rootRoles: ReadonlyMap<string, RoleDocument> = new Map([['admin', [{ privilege: 'admin' }]]]);

/** A user as administrators see it. */
export type ListedUser = { readonly id: string; readonly method: 'native' } | OauthUser;

/**
 * A user with the privileges of each role. Some members are always empty: Millrace has no such data, but
 * clients of this interface expect the members.
 */
export interface DescribedUser {
  readonly id: string;
  /** The display name. */
  readonly username: string;
  readonly method: ListedUser['method'];
  readonly email: null;
  readonly picture: null;
  readonly roles: Readonly<Record<string, readonly PrivilegeEntry[]>>;
  readonly group_roles: Readonly<Record<string, never>>;
  readonly user_groups: readonly never[];
}

/**
 * Administration of users: those with a password that is generated here, and those of the identity provider.
 * The root administrator comes from the configuration and cannot be changed or removed here.
 */
export class UserAdministration {
  readonly #identityStore: IdentityStore;
  readonly #root: string;
  readonly #oauth: OauthUsers;
  /** A queue of its own, so that sign-ins do not wait for the passwords of new users. */
  readonly #passwords = new Passwords();

  /** @param root the name of the root administrator */
  constructor(identityStore: IdentityStore, root: string, oauth: OauthUsers) {
    this.#identityStore = identityStore;
    this.#root = root;
    this.#oauth = oauth;
  }

  /** All users, sorted by name. In the default tenant the root administrator comes first. */
  list(tenant: string): readonly ListedUser[] {
    const others = this.#identityStore.users(tenant).map(({ name }) => name);
    const root = tenant === defaultTenant ? [this.#root] : [];
    const names = [...root, ...others.filter((name) => name !== this.#root).sort()];
    return [...names.map((id) => ({ id, method: 'native' }) as const), ...this.#oauth.list(tenant)];
  }

  /** All users except the root administrator, with their privileges. */
  describeAll(tenant: string): readonly DescribedUser[] {
    const users = this.list(tenant).filter(({ id }) => id !== this.#root || tenant !== defaultTenant);
    return users.map((user) => this.#describe(tenant, user));
  }

  /**
   * Describes one user.
   * @throws AppError `not_found`, `root_unchangeable`
   */
  describe(tenant: string, name: string): DescribedUser {
    this.#refuseRoot(name);
    const user = this.list(tenant).find(({ id }) => id === name);
    if (user === undefined) throw noUser();
    return this.#describe(tenant, user);
  }

  #describe(tenant: string, user: ListedUser): DescribedUser {
    const { id, method } = user;
    const roles = Object.fromEntries(this.entries(tenant, id));
    const username = user.method === 'oauth' ? user.name : id;
    return { id, username, method, email: null, picture: null, roles, group_roles: {}, user_groups: [] };
  }

  /**
   * The privileges of each of the user's roles, by role.
   * @throws AppError `not_found`
   */
  entries(tenant: string, name: string): ReadonlyMap<string, readonly PrivilegeEntry[]> {
    return new Map([...this.#roles(tenant, name)].map(([role, document]) => [role, entriesOf(document)]));
  }

  /**
   * The user's roles, by name.
   * @throws AppError `not_found`
   */
  roles(tenant: string, name: string): ReadonlyMap<string, RoleObject> {
    return new Map([...this.#roles(tenant, name)].map(([role, document]) => [role, roleObjectOf(document)]));
  }

  #roles(tenant: string, name: string): ReadonlyMap<string, RoleDocument> {
    if (name === this.#root && tenant === defaultTenant) return rootRoles;
    const subject = subjectOf(name);
    const roles =
      subject === undefined ? this.#find(tenant, name).value.roles : this.#oauth.roles(tenant, subject);
    return new Map(roles.map((role) => [role, this.#identityStore.roleDocument(tenant, role) ?? []]));
  }

  /**
   * @returns the password, which is not stored
   * @throws AppError `bad_name`, `identity_exists`, `role_unknown`, `too_many_identities`,
   *   `root_unchangeable`
   */
  async create(tenant: string, name: string, roles: readonly string[]): Promise<string> {
    this.#refuseRoot(name);
    checkIdentifier(name, 'user');
    const { password, ...kept } = await this.#newPassword(tenant);
    await this.#identityStore.exclusively(tenant, async ({ write }) => {
      if (this.#identityStore.user(tenant, name) !== undefined) {
        throw new AppError('identity_exists', `there is a user ${name} already`);
      }
      if (this.#identityStore.users(tenant).length >= limits.maxUsersPerTenant) {
        throw new AppError(
          'too_many_identities',
          `there are ${limits.maxUsersPerTenant} users; no more are allowed`,
        );
      }
      const known = requireRoles(this.#identityStore, tenant, roles);
      await write({ tenant, kind: 'user', key: name }, { ...kept, roles: known });
    });
    return password;
  }

  /** @throws AppError `not_found`, `root_unchangeable`, `identity_changed` */
  async delete(tenant: string, name: string): Promise<void> {
    const subject = subjectOf(name);
    if (subject !== undefined) return this.#oauth.delete(tenant, subject);
    await this.#identityStore.exclusively(tenant, async ({ write }) => {
      this.#find(tenant, name);
      await write({ tenant, kind: 'user', key: name }, undefined);
    });
  }

  /**
   * Generates a new password and makes the old one invalid.
   * @throws AppError `bad_request` for users of the identity provider, `not_found`, `root_unchangeable`,
   *   `identity_changed`
   */
  async generatePassword(tenant: string, name: string): Promise<string> {
    if (subjectOf(name) !== undefined) {
      throw new AppError(
        'bad_request',
        'this user signs in at the identity provider and has no password here',
      );
    }
    this.#find(tenant, name);
    const { password, ...kept } = await this.#newPassword(tenant);
    await this.#identityStore.exclusively(tenant, async ({ write }) => {
      const { value } = this.#find(tenant, name);
      await write({ tenant, kind: 'user', key: name }, { ...value, ...kept });
    });
    return password;
  }

  /**
   * Stores the SCRAM verifier of a user whose password was checked over HTTP. Does nothing if there is one
   * already, or if the password has changed meanwhile.
   * @throws AppError `overloaded`, `store_unavailable`, `identity_changed`
   */
  async keepVerifier({ tenant, name, value: seen }: UserAccount, password: string): Promise<void> {
    if (seen.scramVerifier !== undefined) return;
    const scramVerifier = verifierText(await makeVerifier(password));
    await this.#identityStore.exclusively(tenant, async ({ write }) => {
      const value = this.#identityStore.user(tenant, name)?.value;
      if (value === undefined || value.passwordHash !== seen.passwordHash) return;
      if (value.scramVerifier === undefined)
        await write({ tenant, kind: 'user', key: name }, { ...value, scramVerifier });
    });
  }

  /**
   * Adds, removes or replaces roles. Removing a role that the user does not have is no error.
   * @throws AppError `not_found`, `root_unchangeable`, `role_unknown`, `identity_changed`
   */
  async changeRoles(
    tenant: string,
    name: string,
    change: RoleChange,
    roles: readonly string[],
  ): Promise<void> {
    const subject = subjectOf(name);
    if (subject !== undefined) return this.#oauth.changeRoles(tenant, subject, change, roles);
    await this.#identityStore.exclusively(tenant, async ({ write }) => {
      const { value } = this.#find(tenant, name);
      const changed = changedRoles(this.#identityStore, tenant, value.roles, change, roles);
      await write({ tenant, kind: 'user', key: name }, { ...value, roles: changed });
    });
  }

  #find(tenant: string, name: string): UserAccount {
    this.#refuseRoot(name);
    const user = this.#identityStore.user(tenant, name);
    if (user !== undefined) return user;
    throw noUser();
  }

  async #newPassword(
    tenant: string,
  ): Promise<{ readonly password: string } & Pick<UserValue, 'passwordHash' | 'scramVerifier'>> {
    const password = randomBytes(passwordBytes).toString('base64url');
    const passwordHash = await this.#passwords.hash(tenant, password);
    return { password, passwordHash, scramVerifier: verifierText(await makeVerifier(password)) };
  }

  #refuseRoot(name: string): void {
    if (name !== this.#root) return;
    const reason = `${name} is the root administrator, with every privilege and the password of the configuration`;
    throw new AppError('root_unchangeable', reason);
  }
}
