import type { Value } from '../system-catalog/catalog-value.ts';
import { ownerOid, type SystemCatalog } from '../system-catalog/system-catalog.ts';
import { systemFunctionNames, typesByOid } from '../system-catalog/system-types.ts';
import { catalogError, noColumn } from './catalog-error.ts';
import { type CatalogFunction, type FunctionTable, numberOf, textOf } from './catalog-function.ts';
import { requireObject } from './object-names.ts';

/**
 * `has_…_privilege` (PostgreSQL's src/backend/utils/adt/acl.c). A role, an object or a privilege that does
 * not exist is an error if it is named, and NULL if its object id is given.
 */

/** What may be asked for, and whether a reader of the object has it. */
type Privileges = Readonly<Record<string, boolean>>;

const column: Privileges = { SELECT: true, INSERT: false, UPDATE: false, REFERENCES: false };
const table: Privileges = { ...column, DELETE: false, TRUNCATE: false, TRIGGER: false };

/** Kinds of objects: how one is found by its name, and whether there is one with an object id. */
interface ObjectKind {
  readonly privileges: Privileges;
  /** @throws AppError if there is none of this name */
  readonly find: (name: string, catalog: SystemCatalog) => number;
  readonly exists: (oid: number, catalog: SystemCatalog) => boolean;
}

/** Of which there are none, or few, by their names. */
const fewObjects =
  (kind: string, known: Readonly<Record<string, number>> = {}): ObjectKind['find'] =>
  (name) => {
    const oid = Object.hasOwn(known, name) ? known[name] : undefined;
    if (oid === undefined) throw catalogError('undefined_object', `${kind} "${name}" does not exist`);
    return oid;
  };
const isAmong =
  (oids: readonly number[]): ObjectKind['exists'] =>
  (oid) =>
    oids.includes(oid);

const languages = { internal: 12, sql: 14 };
const tablespaces = { pg_default: 1663, pg_global: 1664 };

const relations: ObjectKind = {
  privileges: table,
  find: (name, catalog) => requireObject(name, 'regclass', catalog),
  exists: (oid, catalog) => catalog.relation(oid) !== undefined,
};

const kinds = {
  table: relations,
  any_column: { ...relations, privileges: column },
  sequence: {
    ...relations,
    privileges: { USAGE: false, SELECT: false, UPDATE: false },
    find: (name, catalog) => {
      requireObject(name, 'regclass', catalog);
      throw catalogError('wrong_object_type', `"${name}" is not a sequence`);
    },
  },
  schema: {
    privileges: { USAGE: true, CREATE: false },
    find: (name, catalog) => {
      const oid = catalog.schemas.get(name);
      if (oid === undefined) throw catalogError('invalid_schema_name', `schema "${name}" does not exist`);
      return oid;
    },
    exists: (oid, catalog) => catalog.schemaName(oid) !== undefined,
  },
  database: {
    privileges: { CONNECT: true, CREATE: false, TEMPORARY: false, TEMP: false },
    find: (name, catalog) => {
      if (name === catalog.session.database) return catalog.databaseOid;
      throw catalogError('invalid_catalog_name', `database "${name}" does not exist`);
    },
    exists: (oid, catalog) => oid === catalog.databaseOid,
  },
  function: {
    privileges: { EXECUTE: true },
    find: (name, catalog) => requireObject(name, 'regprocedure', catalog),
    exists: (oid) => systemFunctionNames.has(oid),
  },
  type: {
    privileges: { USAGE: true },
    find: (name, catalog) => requireObject(name, 'regtype', catalog),
    exists: (oid) => typesByOid.has(oid),
  },
  language: {
    privileges: { USAGE: true },
    find: fewObjects('language', languages),
    exists: isAmong(Object.values(languages)),
  },
  tablespace: {
    privileges: { CREATE: false },
    find: fewObjects('tablespace', tablespaces),
    exists: isAmong(Object.values(tablespaces)),
  },
  server: { privileges: { USAGE: false }, find: fewObjects('server'), exists: isAmong([]) },
  foreign_data_wrapper: {
    privileges: { USAGE: false },
    find: fewObjects('foreign-data wrapper'),
    exists: isAmong([]),
  },
} as const satisfies Readonly<Record<string, ObjectKind>>;

const grantOption = ' WITH GRANT OPTION';

/** Whether one of the privileges in a list is there. @throws AppError for one that does not exist */
function hasOne(written: string, privileges: Privileges): boolean {
  const each = written.split(',').map((word): boolean => {
    const name = word.trim().toUpperCase();
    const plain = name.endsWith(grantOption) ? name.slice(0, -grantOption.length) : name;
    const has = Object.hasOwn(privileges, plain) ? privileges[plain] : undefined;
    if (has === undefined)
      throw catalogError('invalid_parameter_value', `unrecognized privilege type: "${word.trim()}"`);
    return has && plain === name;
  });
  return each.includes(true);
}

/** @throws AppError for a name that no role has */
function requireRole(role: Value, catalog: SystemCatalog): void {
  if (typeof role !== 'string' || role === 'public' || catalog.roleOid(role) !== undefined) return;
  throw catalogError('undefined_object', `role "${role}" does not exist`);
}

/** The object id of an object that is given by its name or by its object id; undefined if there is none. */
function objectOf(given: Value, { find, exists }: ObjectKind, catalog: SystemCatalog): number | undefined {
  if (typeof given === 'string') return find(given, catalog);
  const oid = numberOf(given);
  return exists(oid, catalog) ? oid : undefined;
}

/** `has_…_privilege(role, object, privilege)`, or without the role. */
const onObject = (kind: ObjectKind): CatalogFunction => ({
  type: 'bool',
  args: ['any', 'any', 'any'],
  optional: 1,
  run: (values, { context: { catalog } }) => {
    if (values.length === 3) requireRole(values[0] ?? null, catalog);
    const has = hasOne(textOf(values.at(-1)), kind.privileges);
    return objectOf(values.at(-2) ?? null, kind, catalog) === undefined ? null : has;
  },
});

const onColumn: CatalogFunction = {
  type: 'bool',
  args: ['any', 'any', 'any', 'any'],
  optional: 1,
  run: (values, { context: { catalog } }) => {
    if (values.length === 4) requireRole(values[0] ?? null, catalog);
    const relation = values.at(-3) ?? null;
    const wanted = values.at(-2) ?? null;
    const oid = objectOf(relation, relations, catalog);
    const columns = oid === undefined ? [] : catalog.columnNames(oid);
    if (typeof wanted === 'string' && oid !== undefined && !columns.includes(wanted)) {
      const name = catalog.relation(oid)?.name ?? '';
      throw noColumn(`column "${wanted}" of relation "${name}" does not exist`, undefined);
    }
    const has = hasOne(textOf(values.at(-1)), column);
    if (oid === undefined) return null;
    return typeof wanted === 'number' && columns[wanted - 1] === undefined ? null : has;
  },
};

const membership: Privileges = { USAGE: true, MEMBER: true };

/** `pg_has_role(role, role, privilege)`, or without the first: everybody is a member of their own role. */
const onRole: CatalogFunction = {
  type: 'bool',
  args: ['any', 'any', 'any'],
  optional: 1,
  run: (values, { context: { catalog } }) => {
    const [who, of] = [values.length === 3 ? (values[0] ?? null) : catalog.userOid, values.at(-2) ?? null];
    requireRole(who, catalog);
    requireRole(of, catalog);
    const has = hasOne(textOf(values.at(-1)), membership);
    const oidOf = (role: Value): number | undefined =>
      typeof role === 'string' ? catalog.roleOid(role) : numberOf(role);
    const [member, group] = [oidOf(who), oidOf(of)];
    const isKnown = group === ownerOid || group === catalog.userOid;
    return isKnown ? has && member === group : false;
  },
};

export const privilegeFunctions: FunctionTable = {
  ...Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [`has_${name}_privilege`, onObject(kind)]),
  ),
  has_column_privilege: onColumn,
  pg_has_role: onRole,
};
