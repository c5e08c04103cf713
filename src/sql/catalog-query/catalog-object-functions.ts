import { unsupported } from '../sql-error.ts';
import type { Value } from '../system-catalog/catalog-value.ts';
import type { SystemCatalog } from '../system-catalog/system-catalog.ts';
import { formatType, systemFunctionNames, typesByName, typesByOid } from '../system-catalog/system-types.ts';
import { catalogError, noColumn } from './catalog-error.ts';
import {
  always,
  type CatalogFunction,
  type FunctionTable,
  fn,
  nothing,
  numberOf,
  textOf,
} from './catalog-function.ts';
import { findObject, type ObjectType, requireObject } from './object-names.ts';

/**
 * Functions about objects of the catalog (PostgreSQL's documentation, "System Information Functions" and
 * "Database Object Management Functions"). Of what there is nothing of here, such as indexes, they are NULL.
 */

/** `pg_…_is_visible`: NULL for what does not exist. */
const visibleIf = (exists: (oid: number, catalog: SystemCatalog) => boolean): CatalogFunction =>
  fn('oid', 'bool', ([oid], { context: { catalog } }) => (exists(numberOf(oid), catalog) ? true : null));
const never = visibleIf(() => false);

const collations: ReadonlySet<number> = new Set([100, 950, 951]);

const lookUp = (type: ObjectType): CatalogFunction =>
  fn('text', type, ([name], { context }) => findObject(textOf(name), type, context.catalog) ?? null);

const sizeUnits: ReadonlyArray<readonly [unit: string, threshold: number]> = [
  ['bytes', 10 * 1024],
  ['kB', 20 * 1024 - 1],
  ['MB', 20 * 1024 - 1],
  ['GB', 20 * 1024 - 1],
  ['TB', 20 * 1024 - 1],
  ['PB', Number.POSITIVE_INFINITY],
];

/**
 * `pg_size_pretty` (PostgreSQL's src/backend/utils/adt/dbsize.c): each unit is used below 10,240 of it. All
 * but the first keep one bit more, by which they are rounded at the end.
 */
function prettySize(bytes: number): string {
  let size = bytes;
  for (const [index, [unit, threshold]] of sizeUnits.entries()) {
    if (Math.abs(size) < threshold) {
      const rounded = index === 0 ? size : Math.trunc((size + Math.sign(size)) / 2);
      return `${rounded} ${unit}`;
    }
    size = Math.trunc(size / (index === 0 ? 512 : 1024));
  }
  throw new Error('BUG: the last unit has no bound');
}

const forks: ReadonlySet<string> = new Set(['main', 'fsm', 'vm', 'init']);

/**
 * What a relation takes on the disk, all of its tables together: 0 for one of which the caller may not read
 * all rows. There are no indexes beside them, and no forks but the main one.
 */
const relationSize = (takesFork: boolean): CatalogFunction =>
  fn(
    takesFork ? 'regclass text' : 'regclass',
    'int8',
    ([oid, fork], { context: { catalog } }) => {
      if (fork !== undefined && !forks.has(textOf(fork)))
        throw catalogError('invalid_parameter_value', 'invalid fork name');
      const table = catalog.table(numberOf(oid));
      if (table === undefined) return catalog.relation(numberOf(oid)) === undefined ? null : 0;
      return fork === undefined || fork === 'main' ? (catalog.size(table)?.diskBytes ?? 0) : 0;
    },
    { optional: takesFork ? 1 : 0 },
  );

const indexesSize = fn('regclass', 'int8', ([oid], { context: { catalog } }) =>
  catalog.relation(numberOf(oid)) === undefined ? null : 0,
);

/** By name or object id. */
const sizeOf = (
  kind: string,
  idOf: (name: string, catalog: SystemCatalog) => number | undefined,
  bytes: (oid: number, catalog: SystemCatalog) => number | undefined,
): CatalogFunction =>
  fn('any', 'int8', ([given], { context: { catalog } }) => {
    if (typeof given !== 'string') return bytes(numberOf(given), catalog) ?? null;
    const oid = idOf(given, catalog);
    if (oid !== undefined) return bytes(oid, catalog) ?? null;
    const state = kind === 'database' ? 'invalid_catalog_name' : 'undefined_object';
    throw catalogError(state, `${kind} "${given}" does not exist`);
  });

/** PostgreSQL's encodings (src/include/mb/pg_wchar.h), by their numbers. */
const encodings: readonly string[] = (
  'SQL_ASCII EUC_JP EUC_CN EUC_KR EUC_TW EUC_JIS_2004 UTF8 MULE_INTERNAL LATIN1 LATIN2 LATIN3 LATIN4 LATIN5 LATIN6 ' +
  'LATIN7 LATIN8 LATIN9 LATIN10 WIN1256 WIN1258 WIN866 WIN874 KOI8R WIN1251 WIN1252 ISO_8859_5 ISO_8859_6 ISO_8859_7 ' +
  'ISO_8859_8 WIN1250 WIN1253 WIN1254 WIN1255 WIN1257 KOI8U SJIS BIG5 GBK UHC GB18030 JOHAB SHIFT_JIS_2004'
).split(' ');

const plainEncoding = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
const encodingNumbers: ReadonlyMap<string, number> = new Map(
  encodings.map((name, index) => [plainEncoding(name), index] as const),
);

/** A relation by its name, and one of its columns. @throws AppError if one of them does not exist */
function requireColumn([table, column]: readonly Value[], catalog: SystemCatalog): void {
  const oid = requireObject(textOf(table), 'regclass', catalog);
  if (catalog.columnNames(oid).includes(textOf(column))) return;
  const name = catalog.relation(oid)?.name ?? '';
  throw noColumn(`column "${textOf(column)}" of relation "${name}" does not exist`, undefined);
}

export const objectFunctions: FunctionTable = {
  pg_get_userbyid: fn(
    'oid',
    'name',
    ([oid], { context }) => context.catalog.roleName(numberOf(oid)) ?? `unknown (OID=${numberOf(oid)})`,
  ),
  format_type: fn(
    'oid int4',
    'text',
    ([oid = null, modifier]) =>
      oid === null ? null : formatType(numberOf(oid), typeof modifier === 'number' ? modifier : null),
    { takesNulls: true },
  ),
  pg_typeof: fn('any', 'regtype', (_, { args }) => typesByName.get(args[0]?.type ?? '')?.oid ?? 705, {
    takesNulls: true,
  }),
  pg_encoding_to_char: fn('int4', 'name', ([code]) => encodings[numberOf(code)] ?? ''),
  pg_char_to_encoding: fn('name', 'int4', ([name]) => encodingNumbers.get(plainEncoding(textOf(name))) ?? -1),
  pg_client_encoding: always('', 'UTF8', 'name'),
  getdatabaseencoding: always('', 'UTF8', 'name'),
  pg_size_pretty: fn('any', 'text', ([bytes], { args, at }) => {
    const type = args[0]?.type ?? '';
    if (!['int2', 'int4', 'int8'].includes(type)) throw unsupported(`pg_size_pretty(${type})`, at);
    return prettySize(numberOf(bytes));
  }),
  pg_total_relation_size: relationSize(false),
  pg_relation_size: relationSize(true),
  pg_table_size: relationSize(false),
  pg_indexes_size: indexesSize,
  pg_database_size: sizeOf(
    'database',
    (name, catalog) => (name === catalog.session.database ? catalog.databaseOid : undefined),
    (oid, catalog) => (oid === catalog.databaseOid ? catalog.databaseSize : undefined),
  ),
  pg_tablespace_size: sizeOf(
    'tablespace',
    (name) => ({ pg_default: 1663, pg_global: 1664 })[name],
    (oid, catalog) => (oid === 1663 ? catalog.databaseSize : oid === 1664 ? 0 : undefined),
  ),
  pg_table_is_visible: fn('oid', 'bool', ([oid], { context: { catalog } }) => {
    const relation = catalog.relation(numberOf(oid));
    if (relation === undefined) return null;
    return relation.schema === 'public' || relation.schema === 'pg_catalog';
  }),
  pg_type_is_visible: visibleIf((oid) => typesByOid.has(oid)),
  pg_function_is_visible: visibleIf((oid) => systemFunctionNames.has(oid)),
  pg_collation_is_visible: visibleIf((oid) => collations.has(oid)),
  pg_operator_is_visible: never,
  pg_opclass_is_visible: never,
  pg_opfamily_is_visible: never,
  pg_conversion_is_visible: never,
  pg_statistics_obj_is_visible: never,
  pg_ts_config_is_visible: never,
  pg_ts_dict_is_visible: never,
  pg_ts_parser_is_visible: never,
  pg_ts_template_is_visible: never,
  obj_description: nothing('oid name', 1),
  shobj_description: nothing('oid name'),
  col_description: nothing('oid int4'),
  pg_get_expr: nothing('text oid bool', 1),
  pg_get_indexdef: nothing('oid int4 bool', 2),
  pg_get_constraintdef: nothing('oid bool', 1),
  pg_get_viewdef: fn(
    'any any',
    'text',
    ([relation], { context: { catalog } }) => {
      if (typeof relation === 'string') requireObject(relation, 'regclass', catalog);
      return null;
    },
    { optional: 1 },
  ),
  pg_get_ruledef: nothing('oid bool', 1),
  pg_get_triggerdef: nothing('oid bool', 1),
  pg_get_functiondef: nothing('oid'),
  pg_get_function_result: nothing('oid'),
  pg_get_function_arguments: nothing('oid'),
  pg_get_function_identity_arguments: nothing('oid'),
  pg_get_function_arg_default: nothing('oid int4'),
  pg_get_function_sqlbody: nothing('oid'),
  pg_get_partkeydef: nothing('oid'),
  pg_get_partition_constraintdef: nothing('oid'),
  pg_get_serial_sequence: fn('text text', 'text', (values, { context: { catalog } }) => {
    requireColumn(values, catalog);
    return null;
  }),
  pg_get_statisticsobjdef: nothing('oid'),
  pg_get_statisticsobjdef_columns: nothing('oid'),
  pg_relation_is_publishable: always('regclass', false, 'bool'),
  pg_relation_filenode: nothing('regclass', 0, 'oid'),
  pg_tablespace_location: always('oid', '', 'text'),
  pg_stat_get_numscans: always('oid', 0, 'int8'),
  pg_index_column_has_property: nothing('regclass int4 text', 0, 'bool'),
  pg_column_is_updatable: always('regclass int2 bool', false, 'bool'),
  pg_relation_is_updatable: always('regclass bool', 0, 'int4'),
  pg_get_replica_identity_index: nothing('regclass', 0, 'oid'),
  pg_my_temp_schema: always('', 0, 'oid'),
  pg_is_other_temp_schema: always('oid', false, 'bool'),
  to_regclass: lookUp('regclass'),
  to_regtype: lookUp('regtype'),
  to_regproc: lookUp('regproc'),
  to_regprocedure: lookUp('regprocedure'),
  to_regnamespace: lookUp('regnamespace'),
  to_regrole: lookUp('regrole'),
  /** Which transaction made a row of the catalog is not known: rows are made for each statement. */
  age: always('xid', 0, 'int4'),
  _pg_truetypid: always('any any', 0, 'oid'),
};
