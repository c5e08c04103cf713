import * as v from 'valibot';
import { AppError } from '../errors.ts';
import { type Expectation, listOf, members, oneOf, validate } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';
import { checkDatasetName } from '../model/dataset.ts';
import { type Privilege, type PrivilegeName, privilegeNames, type Tag } from '../model/identity.ts';

/** A privilege in the API. `stream` is another word for `dataset`. */
export interface PrivilegeEntry {
  readonly privilege: PrivilegeName;
  readonly resource?: {
    readonly dataset?: string | undefined;
    readonly stream?: string | undefined;
    readonly tag?: string | undefined;
  };
}

/** A role in the API, in the longer one of its two forms. */
export interface RoleObject {
  readonly actions: readonly PrivilegeEntry[];
  readonly roleType: 'user';
}

/** A role in the API, as it was put. */
export type RoleDocument = readonly PrivilegeEntry[] | RoleObject;

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

/** Privileges as they are in an array. */
export const privilegeEntries = listOf(privilegeEntry, limits.maxPrivilegesPerRole);

/** The form of a role with its type, of which there is one. */
export const roleObject = v.pipe(
  members({ actions: privilegeEntries, roleType: oneOf(['user']) }),
  v.title('RoleObject'),
);

/** Either form; what is wrong is said of the one that is meant. */
function eitherForm() {
  const either = v.union([privilegeEntries, roleObject]);
  const run: (typeof either)['~run'] = (dataset, config) => {
    const { value } = dataset;
    const isObject =
      typeof value === 'object' && value !== null && ('actions' in value || 'roleType' in value);
    return (isObject ? roleObject : privilegeEntries)['~run'](dataset, config) as ReturnType<typeof run>;
  };
  return { ...either, '~run': run };
}

/**
 * Reads a role: an array of `{"privilege": "reader", "resource": {"dataset": "app", "tag":
 * "env=prod"}}`, or `{"actions": [such entries], "roleType": "user"}`. `resource` and each of its members are
 * optional, and `stream` is an alias of `dataset`.
 *
 * Unknown members are an error: ignoring a misspelt member would make a privilege wider than intended.
 * @throws AppError `bad_role` naming the entry, `bad_dataset_name`
 */
export const roleExpectation: Expectation<RoleDocument> = {
  schema: v.pipe(eitherForm(), v.title('Role')) as Expectation<RoleDocument>['schema'],
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
export const readRole = (role: RoleDocument): readonly Privilege[] =>
  entriesOf(role).map((entry, index) => readEntry(entry, `privileges[${index}].resource`));

/** The privileges of a role in either form. */
export const entriesOf = (role: RoleDocument): readonly PrivilegeEntry[] =>
  'actions' in role ? role.actions : role;

/** A role in the longer form, whichever it was put in. */
export const roleObjectOf = (role: RoleDocument): RoleObject =>
  'actions' in role ? role : { actions: role, roleType: 'user' };

/** A privilege as clients write it. */
export const entryOf = ({ privilege, dataset, tag }: Privilege): PrivilegeEntry =>
  dataset === undefined && tag === undefined
    ? { privilege }
    : {
        privilege,
        resource: {
          ...(dataset === undefined ? {} : { dataset }),
          ...(tag === undefined ? {} : { tag: `${tag.field}=${tag.value}` }),
        },
      };

function readEntry({ privilege, resource }: PrivilegeEntry, where: string): Privilege {
  if (resource === undefined) return { privilege };
  if (privilege === 'editor') throw badRole(`${where}: editor holds for all datasets; leave it out`);
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
