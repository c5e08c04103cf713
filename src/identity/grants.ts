import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import type { Privilege } from '../model/identity.ts';

/** The size of a list of privileges. */
export interface PrivilegeSize {
  readonly count: number;
  /** Characters in the names of datasets and in tags. */
  readonly length: number;
}

/** An array holds a reference to each privilege. */
const bytesPerPrivilege = 8;

interface Granted {
  readonly roles: readonly string[];
  readonly privileges: readonly Privilege[];
}

/**
 * The privileges that the roles of a tenant grant.
 *
 * Identities with the same roles share one array. It stays the same until one of these roles changes, so
 * callers can cache what they derive from it, such as an index or a digest, under the array itself. An array
 * is made on first use: changing a role that a hundred thousand keys have costs no more than any other.
 */
export class Grants {
  readonly #roles = new Map<string, readonly Privilege[]>();
  readonly #known = new LRUCache<string, Granted>({
    maxSize: limits.maxSharedPrivilegesPerTenant,
    sizeCalculation: ({ privileges }, key) =>
      1 + privileges.length + Math.ceil(key.length / bytesPerPrivilege),
  });
  #revision = 0;

  /** By name. */
  get roles(): ReadonlyMap<string, readonly Privilege[]> {
    return this.#roles;
  }

  /** Increases with each change of a role. */
  get revision(): number {
    return this.#revision;
  }

  /** @param privileges undefined if the role was deleted */
  set(role: string, privileges: readonly Privilege[] | undefined): void {
    if (privileges === undefined) this.#roles.delete(role);
    else this.#roles.set(role, privileges);
    for (const [key, { roles }] of this.#known.entries()) if (roles.includes(role)) this.#known.delete(key);
    this.#revision += 1;
  }

  /**
   * All privileges of these roles, each once. A role that does not exist grants nothing.
   * @throws AppError `forbidden` if the roles grant more than the limits allow. The roles in a token of the
   *   identity provider are not known earlier, so this cannot be checked when a role is given.
   */
  of(roles: readonly string[]): readonly Privilege[] {
    const key = JSON.stringify(roles);
    const known = this.#known.get(key);
    if (known !== undefined) return known.privileges;
    const held = roles.map((role) => this.#roles.get(role) ?? []);
    const excess = excessOf(held.map(sizeOf));
    if (excess !== undefined)
      throw new AppError('forbidden', `the roles of these credentials have ${excess}`);
    const privileges = [...new Map(held.flat().map((each) => [identityOf(each), each])).values()];
    this.#known.set(key, { roles, privileges });
    return privileges;
  }
}

const sizes = new WeakMap<readonly Privilege[], PrivilegeSize>();

/** The size of a role. It is cached by the array, which never changes. */
export function sizeOf(privileges: readonly Privilege[]): PrivilegeSize {
  const known = sizes.get(privileges);
  if (known !== undefined) return known;
  const length = privileges.reduce(
    (total, { dataset = '', tag }) =>
      total + dataset.length + (tag === undefined ? 0 : tag.field.length + tag.value.length),
    0,
  );
  const size = { count: privileges.length, length };
  sizes.set(privileges, size);
  return size;
}

/**
 * Says in words which limit for one identity these roles exceed together; undefined if they exceed none.
 */
export function excessOf(roles: readonly PrivilegeSize[]): string | undefined {
  const { maxPrivilegesPerIdentity: maxCount, maxPrivilegesLengthPerIdentity: maxLength } = limits;
  const count = roles.reduce((total, role) => total + role.count, 0);
  if (count > maxCount) return `${count} privileges together; ${maxCount} are allowed`;
  const length = roles.reduce((total, role) => total + role.length, 0);
  if (length <= maxLength) return undefined;
  return `datasets and tags of ${length} characters together; ${maxLength} are allowed`;
}

const identityOf = ({ privilege, dataset, tag }: Privilege): string =>
  JSON.stringify([privilege, dataset, tag?.field, tag?.value]);
