import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import { checkDatasetName } from '../model/dataset.ts';
import { type Privilege, type PrivilegeName, privilegeNames, type Tag } from '../model/identity.ts';

/** A privilege in the API. */
export interface PrivilegeEntry {
  readonly privilege: PrivilegeName;
  readonly resource?: { readonly dataset?: string; readonly tag?: string };
}

/**
 * Reads a role: an array of `{"privilege": "reader", "resource": {"dataset": "app", "tag":
 * "env=prod"}}`. `resource` and each of its members are optional, and `stream` is an alias of `dataset`.
 *
 * Unknown members are an error: ignoring a misspelt member would make a privilege wider than intended.
 * @throws AppError `bad_role` naming the entry, `bad_dataset_name`
 */
export function parseRole(value: unknown): readonly Privilege[] {
  if (!Array.isArray(value)) throw badRole('a role is an array of privileges');
  if (value.length > limits.maxPrivilegesPerRole) {
    throw badRole(`it has ${value.length} privileges; ${limits.maxPrivilegesPerRole} are allowed`);
  }
  return value.map((entry: unknown, index) => parseEntry(entry, `entry ${index}`));
}

/** The inverse of `parseRole`, for one entry. */
export function showPrivilege({ privilege, dataset, tag }: Privilege): PrivilegeEntry {
  if (dataset === undefined && tag === undefined) return { privilege };
  return {
    privilege,
    resource: {
      ...(dataset === undefined ? {} : { dataset }),
      ...(tag === undefined ? {} : { tag: `${tag.field}=${tag.value}` }),
    },
  };
}

function parseEntry(entry: unknown, where: string): Privilege {
  const { privilege, resource } = members(entry, ['privilege', 'resource'], where);
  const name = privilegeNames.find((known) => known === privilege);
  if (name === undefined) {
    throw badRole(`${where}: privilege is ${shown(privilege)}; known are ${privilegeNames.join(', ')}`);
  }
  if (resource === undefined) return { privilege: name };
  const { dataset, stream, tag } = members(resource, ['dataset', 'stream', 'tag'], `${where}: resource`);
  if (dataset !== undefined && stream !== undefined) {
    throw badRole(`${where}: dataset and stream mean the same; give one of them`);
  }
  const scope = dataset === undefined ? stream : dataset;
  if (scope === undefined && tag === undefined) {
    throw badRole(`${where}: resource names nothing; leave it out for a privilege on all datasets`);
  }
  if (scope !== undefined && typeof scope !== 'string') throw badRole(`${where}: dataset must be a string`);
  if (tag !== undefined && name !== 'reader') {
    throw badRole(`${where}: a tag narrows what a reader sees; ${name} takes none`);
  }
  return {
    privilege: name,
    ...(scope === undefined ? {} : { dataset: checkDatasetName(scope) }),
    ...(tag === undefined ? {} : { tag: parseTag(tag, where) }),
  };
}

/** `field=value`. The value may contain equals signs. */
function parseTag(tag: unknown, where: string): Tag {
  const equals = typeof tag === 'string' ? tag.indexOf('=') : -1;
  if (typeof tag !== 'string' || equals < 1 || tag.length > limits.maxTagLength) {
    throw badRole(`${where}: tag must be "field=value" of at most ${limits.maxTagLength} characters`);
  }
  return { field: tag.slice(0, equals), value: tag.slice(equals + 1) };
}

function members<Name extends string>(
  value: unknown,
  known: readonly Name[],
  where: string,
): { readonly [Each in Name]?: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRole(`${where} must be an object with ${known.join(', ')}`);
  }
  const stray = Object.keys(value).find((name) => !known.some((each) => each === name));
  if (stray === undefined) return value;
  throw badRole(`${where}: ${shown(stray)} is not known here; known are ${known.join(', ')}`);
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'missing').slice(0, 60);

const badRole = (reason: string): AppError => new AppError('bad_role', reason);
