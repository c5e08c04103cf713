import { showPrivilege } from '../auth/privilege-entries.ts';
import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Privilege } from '../model/identity.ts';
import { type Directory, defaultRoleSetting } from './directory.ts';
import { checkIdentifier, oauthId } from './names.ts';

/** Administration of roles. Callers have checked that it is allowed. */
export class RoleAdministration {
  readonly #directory: Directory;

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  list(tenant: string): ReadonlyMap<string, readonly Privilege[]> {
    return this.#directory.roles(tenant);
  }

  /** @throws AppError `not_found` */
  get(tenant: string, name: string): readonly Privilege[] {
    const role = this.#directory.role(tenant, name);
    if (role === undefined) throw noRole(name);
    return role;
  }

  /**
   * Makes a role, or replaces it: what it grants changes for all who have it.
   * @throws AppError `bad_name`, `too_many_identities`, `identity_changed`
   */
  async put(tenant: string, name: string, privileges: readonly Privilege[]): Promise<void> {
    checkIdentifier(name, 'role');
    if (name === reservedName) {
      throw new AppError('bad_name', `a role cannot be named ${reservedName}, which is a route of its own`);
    }
    await this.#directory.exclusively(tenant, async ({ write }) => {
      const isNew = this.#directory.role(tenant, name) === undefined;
      if (isNew && this.#directory.roles(tenant).size >= limits.maxRolesPerTenant) {
        throw new AppError(
          'too_many_identities',
          `there are ${limits.maxRolesPerTenant} roles, no more are allowed`,
        );
      }
      await write({ tenant, kind: 'role', key: name }, privileges.map(showPrivilege));
    });
  }

  /** @throws AppError `not_found`, `role_in_use` naming who uses it, `identity_changed` */
  async delete(tenant: string, name: string): Promise<void> {
    await this.#directory.exclusively(tenant, async ({ write }) => {
      this.get(tenant, name);
      const users = this.#users(tenant, name);
      if (users.length > 0) {
        const some = users.slice(0, 10).join(', ');
        const more = users.length > 10 ? ` and ${users.length - 10} more` : '';
        throw new AppError('role_in_use', `the role ${name} is used by ${some}${more}`);
      }
      await write({ tenant, kind: 'role', key: name }, undefined);
    });
  }

  getDefault(tenant: string): string | undefined {
    return this.#directory.defaultRole(tenant);
  }

  /** @throws AppError `role_unknown`, `identity_changed` */
  async setDefault(tenant: string, name: string): Promise<void> {
    await this.#directory.exclusively(tenant, async ({ write }) => {
      requireRoles(this.#directory, tenant, [name]);
      await write({ tenant, kind: 'setting', key: defaultRoleSetting }, name);
    });
  }

  #users(tenant: string, role: string): readonly string[] {
    const has = (account: { readonly value: { readonly roles: readonly string[] } }) =>
      account.value.roles.includes(role);
    return [
      ...(this.#directory.defaultRole(tenant) === role ? ['the default role'] : []),
      ...this.#directory
        .users(tenant)
        .filter(has)
        .map(({ name }) => `user ${name}`),
      ...this.#directory
        .apiKeys(tenant)
        .filter(has)
        .map(({ name }) => `API key ${JSON.stringify(name)}`),
      ...[...this.#directory.oauthUsers(tenant)]
        .filter(([, { roles }]) => roles.includes(role))
        .map(([subject]) => `user ${JSON.stringify(oauthId(subject))}`),
    ];
  }
}

/** `/api/v1/role/default` says which role is the default. */
const reservedName = 'default';

const noRole = (name: string): AppError =>
  new AppError(
    'not_found',
    `there is no role ${JSON.stringify(name.slice(0, limits.identityNameMaxLength))}`,
  );

/**
 * The roles of an identity, each once.
 * @throws AppError `role_unknown` naming those that do not exist, `bad_role` when there are too many
 */
export function requireRoles(
  directory: Directory,
  tenant: string,
  names: readonly string[],
): readonly string[] {
  const roles = [...new Set(names)];
  if (roles.length > limits.maxRolesPerIdentity) {
    throw new AppError(
      'bad_role',
      `${roles.length} roles are given; ${limits.maxRolesPerIdentity} are allowed`,
    );
  }
  const unknown = roles.filter((name) => directory.role(tenant, name) === undefined);
  if (unknown.length === 0) return roles;
  const listed = unknown
    .map((name) => JSON.stringify(name.slice(0, limits.identityNameMaxLength)))
    .join(', ');
  throw new AppError('role_unknown', `these roles do not exist: ${listed}`);
}

/**
 * The roles of somebody who is given some more, or loses some, where losing what is not there is no error.
 * @throws AppError `role_unknown`, `bad_role`
 */
export const changedRoles = (
  directory: Directory,
  tenant: string,
  before: readonly string[],
  change: 'add' | 'remove',
  roles: readonly string[],
): readonly string[] =>
  change === 'remove'
    ? before.filter((role) => !roles.includes(role))
    : requireRoles(directory, tenant, [...before, ...roles]);
