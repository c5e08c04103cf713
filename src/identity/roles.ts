import { entriesOf, type PrivilegeEntry, type RoleDocument, readRole } from '../auth/privilege-entries.ts';
import { AppError } from '../errors.ts';
import { quotedName } from '../lib/credential-shape.ts';
import { limits } from '../limits/limits.ts';
import type { Privilege } from '../model/identity.ts';
import { excessOf, sizeOf } from './grants.ts';
import { defaultRoleSetting, type IdentityStore } from './identity-store.ts';
import { checkIdentifier, oauthId } from './names.ts';

/** Administration of roles. Callers check first that the principal may do it. */
export class RoleAdministration {
  readonly #identityStore: IdentityStore;

  constructor(identityStore: IdentityStore) {
    this.#identityStore = identityStore;
  }

  /** The privileges of each role, by name. */
  list(tenant: string): ReadonlyMap<string, readonly PrivilegeEntry[]> {
    const names = [...this.#identityStore.roles(tenant).keys()];
    return new Map(names.map((name) => [name, entriesOf(this.get(tenant, name))]));
  }

  /**
   * A role in the form in which it was written.
   * @throws AppError `not_found`
   */
  get(tenant: string, name: string): RoleDocument {
    const role = this.#identityStore.roleDocument(tenant, name);
    if (role === undefined) throw new AppError('not_found', 'there is no role of this name');
    return role;
  }

  /**
   * Creates or replaces a role. The privileges of all who have it change.
   * @param role of the right form; its content is checked here
   * @throws AppError `bad_name`, `bad_dataset_name`, `bad_role` if it is wrong or too large, or if an
   *   identity that has it would get too many privileges, `too_many_identities`, `identity_changed`
   */
  async put(tenant: string, name: string, role: RoleDocument): Promise<void> {
    const privileges = readRole(role);
    checkIdentifier(name, 'role');
    if (name === reservedName) {
      throw new AppError('bad_name', `a role cannot be named ${reservedName}, which is a route of its own`);
    }
    await this.#identityStore.exclusively(tenant, async ({ write }) => {
      const isNew = this.#identityStore.role(tenant, name) === undefined;
      if (isNew && this.#identityStore.roles(tenant).size >= limits.maxRolesPerTenant) {
        throw new AppError(
          'too_many_identities',
          `there are ${limits.maxRolesPerTenant} roles; no more are allowed`,
        );
      }
      this.#requireRoom(tenant, name, privileges);
      await write({ tenant, kind: 'role', key: name }, role);
    });
  }

  /** @throws AppError `not_found`, `role_in_use` with the names of those who have it, `identity_changed` */
  async delete(tenant: string, name: string): Promise<void> {
    await this.#identityStore.exclusively(tenant, async ({ write }) => {
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
    return this.#identityStore.defaultRole(tenant);
  }

  /**
   * @param name undefined for none
   * @throws AppError `role_unknown`, `identity_changed`
   */
  async setDefault(tenant: string, name: string | undefined): Promise<void> {
    await this.#identityStore.exclusively(tenant, async ({ write }) => {
      if (name === undefined && this.getDefault(tenant) === undefined) return;
      if (name !== undefined) requireRoles(this.#identityStore, tenant, [name]);
      await write({ tenant, kind: 'setting', key: defaultRoleSetting }, name);
    });
  }

  /** @throws AppError `bad_role`, `too_many_identities` */
  #requireRoom(tenant: string, name: string, privileges: readonly Privilege[]): void {
    const size = sizeOf(privileges);
    const excess = excessOf([size]);
    if (excess !== undefined) throw new AppError('bad_role', `the role has ${excess}`);
    const others = [...this.#identityStore.roles(tenant)].filter(([role]) => role !== name);
    const storedLength = others.reduce((total, [, role]) => total + storedLengthOf(role), 0);
    if (storedLength + storedLengthOf(privileges) > limits.maxRolesLengthPerTenant) {
      throw new AppError(
        'too_many_identities',
        `all roles together would be larger than ${limits.maxRolesLengthPerTenant} characters`,
      );
    }
    const before = sizeOf(this.#identityStore.role(tenant, name) ?? []);
    if (size.count <= before.count && size.length <= before.length) return;
    const sizes = new Map(others.map(([role, held]) => [role, sizeOf(held)])).set(name, size);
    const tooMuch = (roles: readonly string[]) => excessOf(roles.flatMap((role) => sizes.get(role) ?? []));
    const [first] = this.#holders(tenant, name).filter(({ roles }) => tooMuch(roles) !== undefined);
    if (first === undefined) return;
    throw new AppError('bad_role', `with it, the roles of ${first.shown} have ${tooMuch(first.roles)}`);
  }

  #users(tenant: string, role: string): readonly string[] {
    return [
      ...(this.#identityStore.defaultRole(tenant) === role ? ['the default role'] : []),
      ...this.#holders(tenant, role).map(({ shown }) => shown),
    ];
  }

  /** The identities to which administrators gave a role. Roles in claims are not known here. */
  #holders(
    tenant: string,
    role: string,
  ): ReadonlyArray<{ readonly shown: string; readonly roles: readonly string[] }> {
    const users = this.#identityStore
      .users(tenant)
      .map(({ name, value }) => ({ shown: `user ${name}`, roles: value.roles }));
    const keys = this.#identityStore
      .apiKeys(tenant)
      .map(({ name, value }) => ({ shown: `API key ${JSON.stringify(name)}`, roles: value.roles }));
    const oauthUsers = [...this.#identityStore.oauthUsers(tenant)].map(([subject, { roles }]) => ({
      shown: `user ${JSON.stringify(oauthId(subject))}`,
      roles,
    }));
    return [...users, ...keys, ...oauthUsers].filter(({ roles }) => roles.includes(role));
  }
}

/** A role of this name could not be addressed: `/api/v1/role/default` is a route for the default role. */
const reservedName = 'default';

/** The length of a role as it is stored, with the JSON around each privilege. */
function storedLengthOf(role: readonly Privilege[]): number {
  const { count, length } = sizeOf(role);
  return count * limits.privilegeOverheadLength + length;
}

/**
 * Checks the roles that an identity is to have.
 * @returns the roles, each once
 * @throws AppError `role_unknown` with the names of those that do not exist, `bad_role` if there are too many
 *   roles or they grant too many privileges
 */
export function requireRoles(
  identityStore: IdentityStore,
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
  const excess = excessOf(roles.map((name) => sizeOf(identityStore.role(tenant, name) ?? [])));
  if (excess !== undefined) throw new AppError('bad_role', `the roles have ${excess}`);
  const unknown = roles.filter((name) => identityStore.role(tenant, name) === undefined);
  if (unknown.length === 0) return roles;
  const listed = unknown.map((name) => quotedName(name.slice(0, limits.identityNameMaxLength))).join(', ');
  throw new AppError('role_unknown', `these roles do not exist: ${listed}`);
}

/** How the roles of an identity change: `add` these, `remove` these, or `set` exactly these. */
export type RoleChange = 'add' | 'remove' | 'set';

/**
 * The roles of an identity after a change. Removing a role that the identity does not have is no error.
 * @throws AppError `role_unknown`, `bad_role`
 */
export const changedRoles = (
  identityStore: IdentityStore,
  tenant: string,
  before: readonly string[],
  change: RoleChange,
  roles: readonly string[],
): readonly string[] =>
  change === 'remove'
    ? withoutAll(before, new Set(roles))
    : requireRoles(identityStore, tenant, change === 'add' ? [...before, ...roles] : roles);

const withoutAll = (before: readonly string[], gone: ReadonlySet<string>): readonly string[] =>
  before.filter((role) => !gone.has(role));
