import * as v from 'valibot';
import { AppError } from '../errors.ts';
import { type Expectation, listOf, members, oneOf, validate } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';
import { checkDatasetName } from '../model/dataset.ts';
import { type Privilege, type PrivilegeName, privilegeNames, type Tag } from '../model/identity.ts';

/** A privilege in the API. */
export interface PrivilegeEntry {
  readonly privilege: PrivilegeName;
  readonly resource?: { readonly dataset?: string; readonly tag?: string };
}

/** `field=value`; the value may hold further equals signs. */
const tagRule = `must be "field=value" of at most ${limits.maxTagLength} characters`;
const tag = v.pipe(
  v.string(tagRule),
  v.maxLength(limits.maxTagLength, tagRule),
  v.regex(/^[^=]+=/, tagRule),
  v.description('Narrows a reader to the rows whose field has this value: `field=value`.'),
);

const dataset = v.pipe(v.string(), v.description('Without it, the privilege holds for all datasets.'));

/** A privilege as clients write it. */
const privilegeEntry = members({
  privilege: oneOf(privilegeNames),
  resource: v.optional(
    members({
      dataset: v.optional(dataset),
      stream: v.optional(v.pipe(v.string(), v.description('Another name for `dataset`.'))),
      tag: v.optional(tag),
    }),
  ),
});

type WrittenPrivilege = v.InferOutput<typeof privilegeEntry>;

/**
 * Reads a role: an array of `{"privilege": "reader", "resource": {"dataset": "app", "tag":
 * "env=prod"}}`. `resource` and each of its members are optional, and `stream` is an alias of `dataset`.
 *
 * Unknown members are an error: ignoring a misspelt member would make a privilege wider than intended.
 * @throws AppError `bad_role` naming the entry, `bad_dataset_name`
 */
export const roleExpectation: Expectation<readonly WrittenPrivilege[]> = {
  schema: v.pipe(listOf(privilegeEntry, limits.maxPrivilegesPerRole), v.title('Role')),
  name: 'privileges',
  whole: 'a role must be an array of privileges: [{"privilege": "reader"}]',
  code: 'bad_role',
};

/**
 * Reads a role.
 * @throws AppError `bad_role` with the path of what is wrong, `bad_dataset_name`
 */
export const parseRole = (value: unknown): readonly Privilege[] => readRole(validate(roleExpectation, value));

/**
 * Reads a role whose form was checked.
 * @throws AppError `bad_role`, `bad_dataset_name`
 */
export const readRole = (entries: readonly WrittenPrivilege[]): readonly Privilege[] =>
  entries.map((entry, index) => readEntry(entry, `privileges[${index}].resource`));

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

function readEntry({ privilege, resource }: WrittenPrivilege, where: string): Privilege {
  if (resource === undefined) return { privilege };
  const { stream, tag: written } = resource;
  if (resource.dataset !== undefined && stream !== undefined) {
    throw badRole(`${where} has dataset and stream, which mean the same; give one of them`);
  }
  const scope = resource.dataset ?? stream;
  if (scope === undefined && written === undefined) {
    throw badRole(`${where} names nothing; leave it out for a privilege on all datasets`);
  }
  if (written !== undefined && privilege !== 'reader') {
    throw badRole(`${where}.tag narrows what a reader sees; ${privilege} takes none`);
  }
  return {
    privilege,
    ...(scope === undefined ? {} : { dataset: checkDatasetName(scope) }),
    ...(written === undefined ? {} : { tag: readTag(written) }),
  };
}

function readTag(written: string): Tag {
  const equals = written.indexOf('=');
  return { field: written.slice(0, equals), value: written.slice(equals + 1) };
}

const badRole = (reason: string): AppError => new AppError('bad_role', reason);
