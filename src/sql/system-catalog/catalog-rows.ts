import type { Row, Value } from './catalog-value.ts';
import {
  type CatalogTable,
  ownerName,
  ownerOid,
  type SystemCatalog,
  schemaOids,
  type TableColumn,
  utf8,
} from './system-catalog.ts';
import { type SystemRelation, systemRelations } from './system-relations.ts';
import { functionOid, systemFunctions, systemTypes, typesByOid } from './system-types.ts';

/** The columns of a row that are no default of their type. */
type Cells = Readonly<Record<string, Value>>;

/** The rows of the relations of the catalog, made when they are read, once for a statement. */
export class CatalogRows {
  readonly #catalog: SystemCatalog;
  readonly #keep: (cells: number) => void;
  readonly #rows = new Map<string, readonly Row[]>();
  readonly #attributes = new Map<number, readonly Row[]>();

  /** @param keep asked before this many cells are kept; throws if that is too much */
  constructor(catalog: SystemCatalog, keep: (cells: number) => void) {
    this.#catalog = catalog;
    this.#keep = keep;
  }

  /** All rows of a relation, in the order of its columns. */
  all(relation: SystemRelation): readonly Row[] {
    const path = `${relation.schema}.${relation.name}`;
    const known = this.#rows.get(path);
    if (known !== undefined) return known;
    const make = Object.hasOwn(makers, path) ? makers[path] : undefined;
    const rows = make === undefined ? [] : inColumns(relation, make(this.#catalog), this.#keep);
    this.#rows.set(path, rows);
    return rows;
  }

  /**
   * Those rows in which a column has a value, where they can be had without making all of them: the columns
   * of one table.
   */
  having(relation: SystemRelation, column: string, value: Value): readonly Row[] | undefined {
    if (relation.name !== 'pg_attribute' || column !== 'attrelid') return undefined;
    if (typeof value !== 'number') return [];
    const known = this.#attributes.get(value);
    if (known !== undefined) return known;
    const table = this.#catalog.table(value);
    const system = table === undefined ? systemRelations.find(({ oid }) => oid === value) : undefined;
    const cells =
      table === undefined ? (system === undefined ? [] : systemAttributes(system)) : attributesOf(table);
    const rows = inColumns(relation, cells, this.#keep);
    this.#attributes.set(value, rows);
    return rows;
  }
}

/** Cells in the order of the columns; what is not given is what the catalog has where nothing is. */
function inColumns(
  { schema, columns }: SystemRelation,
  rows: Iterable<Cells>,
  keep: (cells: number) => void,
): readonly Row[] {
  const defaults = columns.map(({ name, type }) => (schema === 'pg_catalog' ? defaultOf(name, type) : null));
  const made: Row[] = [];
  for (const cells of rows) {
    keep(columns.length);
    made.push(columns.map(({ name }, index) => cells[name] ?? defaults[index] ?? null));
  }
  return made;
}

/** Columns that are NULL where there is nothing, and not zero or false. */
const nullable: ReadonlySet<string> = new Set(
  (
    'typdefault typdefaultbin typacl relacl reloptions relpartbound nspacl attacl attoptions attfdwoptions attmissingval ' +
    'rolvaliduntil rolconfig valuntil useconfig datacl daticulocale datcollversion spcacl spcoptions lanacl'
  ).split(' '),
);

function defaultOf(name: string, type: string): Value {
  if (nullable.has(name)) return null;
  const isCatalog = /^(typ|rel|att|nsp|rol|dat|pro|spc|lan|coll|am|rng)/.test(name);
  if (!isCatalog) return null;
  switch (type) {
    case 'bool':
      return false;
    case 'int2':
    case 'int4':
    case 'int8':
    case 'float8':
    case 'oid':
    case 'regproc':
      return 0;
    case 'char':
      return '';
    default:
      return null;
  }
}

const isTrue = 'YES';
const yesNo = (value: boolean): string => (value ? isTrue : 'NO');

const databaseOf = (catalog: SystemCatalog): string => catalog.session.database;

function pgClass(catalog: SystemCatalog): readonly Cells[] {
  const common = {
    relowner: ownerOid,
    reltuples: -1,
    relpersistence: 'p',
    relispopulated: true,
    relreplident: 'd',
  };
  const own = catalog.tables.map((table) => ({
    ...common,
    oid: table.oid,
    relname: table.name,
    relnamespace: table.schemaOid,
    relam: table.kind === 'r' ? heap : 0,
    relkind: table.kind,
    relnatts: catalog.knowsColumns ? table.columns.length : 0,
  }));
  const system = systemRelations.map(({ oid, name, schema, kind, columns }) => ({
    ...common,
    oid,
    relname: name,
    relnamespace: schemaOids[schema],
    relam: kind === 'r' ? heap : 0,
    relkind: kind,
    relnatts: columns.length,
  }));
  return [...system, ...own];
}

/** Object ids of access methods. */
const heap = 2;
const accessMethods: readonly Cells[] = [
  { oid: heap, amname: 'heap', amtype: 't', amhandler: functionOid('heap_tableam_handler') },
  { oid: 403, amname: 'btree', amtype: 'i', amhandler: functionOid('bthandler') },
];

function attribute(relation: number, place: number, column: TableColumn): Cells {
  const type = typesByOid.get(column.typeOid);
  return {
    attrelid: relation,
    attname: column.name,
    atttypid: column.typeOid,
    attstattarget: -1,
    attlen: type?.length ?? -1,
    attnum: place,
    attndims: type?.category === 'A' ? 1 : 0,
    attcacheoff: -1,
    atttypmod: -1,
    attbyval: type?.byValue ?? false,
    attalign: type?.align ?? 'i',
    attstorage: type?.storage ?? 'x',
    attnotnull: column.isRequired,
    attislocal: true,
    attcollation: type?.collation ?? 0,
  };
}

const attributesOf = ({ oid, columns }: CatalogTable): readonly Cells[] =>
  columns.map((column, index) => attribute(oid, index + 1, column));

function systemAttributes({ oid, columns }: SystemRelation): readonly Cells[] {
  return columns.map(({ name, type }, index) => {
    const { oid: typeOid = 25, label: typeLabel = 'text' } = systemTypesByName.get(type) ?? {};
    return attribute(oid, index + 1, { name, typeOid, typeLabel, isRequired: name === 'oid' });
  });
}

function* allAttributes({ tables }: SystemCatalog): Generator<Cells> {
  for (const relation of systemRelations) yield* systemAttributes(relation);
  for (const table of tables) yield* attributesOf(table);
}

const systemTypesByName = new Map(systemTypes.map((type) => [type.name, type]));

const typeCells = (): readonly Cells[] =>
  systemTypes.map((type) => ({
    ...type.columns,
    oid: type.oid,
    typname: type.name,
    typnamespace: schemaOids.pg_catalog,
    typowner: ownerOid,
    typlen: type.length,
    typbyval: type.byValue,
    typcategory: type.category,
    typisdefined: true,
    typelem: type.elementOid,
    typarray: type.arrayOid,
    typalign: type.align,
    typstorage: type.storage,
    typtypmod: -1,
    typcollation: type.collation,
  }));

/** Object ids of `internal` and `C`. */
const internalLanguage = 12;

const functionCells = (): readonly Cells[] =>
  [...systemFunctions].map(([name, oid]) => ({
    oid,
    proname: name,
    pronamespace: schemaOids.pg_catalog,
    proowner: ownerOid,
    prolang: internalLanguage,
    procost: 1,
    prokind: 'f',
    proisstrict: true,
    provolatile: 'i',
    proparallel: 's',
    proargtypes: [],
    prosrc: name,
  }));

const roles = (catalog: SystemCatalog): ReadonlyArray<{ oid: number; name: string; isLogin: boolean }> => {
  const { user } = catalog.session;
  const owner = { oid: ownerOid, name: ownerName, isLogin: user === ownerName };
  return user === ownerName ? [owner] : [owner, { oid: catalog.userOid, name: user, isLogin: true }];
};

const roleCells = (catalog: SystemCatalog): readonly Cells[] =>
  roles(catalog).map(({ oid, name, isLogin }) => ({
    oid,
    rolname: name,
    rolinherit: true,
    rolcanlogin: isLogin,
    rolconnlimit: -1,
    rolpassword: '********',
  }));

const userCells = (catalog: SystemCatalog): readonly Cells[] =>
  roles(catalog)
    .filter(({ isLogin }) => isLogin)
    .map(({ oid, name }) => ({
      usename: name,
      usesysid: oid,
      usecreatedb: false,
      usesuper: false,
      userepl: false,
      usebypassrls: false,
      passwd: '********',
    }));

const databaseCells = (catalog: SystemCatalog): readonly Cells[] => [
  {
    oid: catalog.databaseOid,
    datname: databaseOf(catalog),
    datdba: ownerOid,
    encoding: utf8,
    datlocprovider: 'c',
    datallowconn: true,
    datconnlimit: -1,
    datfrozenxid: 1,
    datminmxid: 1,
    dattablespace: defaultTablespace,
    datcollate: 'C',
    datctype: 'C.UTF-8',
  },
];

const defaultTablespace = 1663;

const settingCells = (catalog: SystemCatalog): readonly Cells[] =>
  catalog.session.settings.map(([name, setting]) => ({
    name,
    setting,
    category: 'Preset Options',
    short_desc: '',
    context: 'user',
    vartype: 'string',
    source: 'session',
    boot_val: setting,
    reset_val: setting,
    pending_restart: false,
  }));

const sessionCells = (catalog: SystemCatalog): readonly Cells[] =>
  catalog.session.sessions.map((session) => {
    const isActive = session.state === 'active';
    return {
      datid: catalog.databaseOid,
      datname: databaseOf(catalog),
      pid: session.processId,
      usesysid: catalog.roleOid(session.user) ?? null,
      usename: session.user,
      application_name: session.applicationName,
      client_addr: session.clientAddress ?? null,
      backend_start: session.startedMs,
      xact_start: session.transactionStartedMs ?? null,
      query_start: session.queryStartedMs ?? null,
      state_change: session.stateChangedMs,
      wait_event_type: isActive ? null : 'Client',
      wait_event: isActive ? null : 'ClientRead',
      state: session.state,
      query: session.query,
      backend_type: 'client backend',
    };
  });
const statisticsOf = (catalog: SystemCatalog): readonly Cells[] =>
  catalog.tables
    .filter(({ kind }) => kind === 'r')
    .map(({ oid, schema, name }) => ({ relid: oid, schemaname: schema, relname: name }));

function tableCells(catalog: SystemCatalog): readonly Cells[] {
  const database = databaseOf(catalog);
  return catalog.tables.map(({ schema, name, kind }) => ({
    table_catalog: database,
    table_schema: schema,
    table_name: name,
    table_type: kind === 'r' ? 'BASE TABLE' : 'VIEW',
    is_insertable_into: 'NO',
    is_typed: 'NO',
  }));
}

const octetsOfText = 1_073_741_824;

function* columnCells(catalog: SystemCatalog): Generator<Cells> {
  const database = databaseOf(catalog);
  for (const table of catalog.tables)
    yield* table.columns.map((column, index) => ({
      table_catalog: database,
      table_schema: table.schema,
      table_name: table.name,
      column_name: column.name,
      ordinal_position: index + 1,
      is_nullable: yesNo(!column.isRequired),
      data_type: typesByOid.get(column.typeOid)?.category === 'A' ? 'ARRAY' : column.typeLabel,
      ...sizesOf(column.typeOid),
      udt_catalog: database,
      udt_schema: 'pg_catalog',
      udt_name: typesByOid.get(column.typeOid)?.name ?? 'text',
      dtd_identifier: String(index + 1),
      is_self_referencing: 'NO',
      is_identity: 'NO',
      identity_cycle: 'NO',
      is_generated: 'NEVER',
      is_updatable: 'NO',
    }));
}

/** What `information_schema` says of the size of values of a type. */
function sizesOf(oid: number): Cells {
  const binary = (bits: number, scale: number | null): Cells => ({
    numeric_precision: bits,
    numeric_precision_radix: 2,
    ...(scale === null ? {} : { numeric_scale: scale }),
  });
  switch (typesByOid.get(oid)?.name) {
    case 'int2':
      return binary(16, 0);
    case 'int4':
      return binary(32, 0);
    case 'int8':
      return binary(64, 0);
    case 'float8':
      return binary(53, null);
    case 'numeric':
      return { numeric_precision_radix: 10 };
    case 'text':
      return { character_octet_length: octetsOfText };
    case 'timestamp':
    case 'timestamptz':
    case 'interval':
      return { datetime_precision: 6 };
    case 'date':
      return { datetime_precision: 0 };
    default:
      return {};
  }
}

const schemaCells = (catalog: SystemCatalog): readonly Cells[] =>
  [...catalog.schemas].map(([name]) => ({
    catalog_name: databaseOf(catalog),
    schema_name: name,
    schema_owner: ownerName,
  }));

const privilegeCells = (catalog: SystemCatalog): readonly Cells[] =>
  catalog.tables.map(({ schema, name }) => ({
    grantor: ownerName,
    grantee: catalog.session.user,
    table_catalog: databaseOf(catalog),
    table_schema: schema,
    table_name: name,
    privilege_type: 'SELECT',
    is_grantable: 'NO',
    with_hierarchy: isTrue,
  }));

function* columnPrivilegeCells(catalog: SystemCatalog): Generator<Cells> {
  for (const { schema, name, columns } of catalog.tables)
    yield* columns.map((column) => ({
      grantor: ownerName,
      grantee: catalog.session.user,
      table_catalog: databaseOf(catalog),
      table_schema: schema,
      table_name: name,
      column_name: column.name,
      privilege_type: 'SELECT',
      is_grantable: 'NO',
    }));
}

const viewsOf = (catalog: SystemCatalog): readonly CatalogTable[] =>
  catalog.tables.filter(({ kind }) => kind === 'v');

function timeZoneCells(): readonly Cells[] {
  return Intl.supportedValuesOf('timeZone').map((name) => ({ name, abbrev: name, is_dst: false }));
}

type Range = readonly [
  type: number,
  subtype: number,
  multirange: number,
  opclass: number,
  canonical: string,
  difference: string,
];

const ranges: readonly Range[] = [
  [3904, 23, 4451, 1978, 'int4range_canonical', 'int4range_subdiff'],
  [3906, 1700, 4532, 3125, '', 'numrange_subdiff'],
  [3908, 1114, 4533, 3128, '', 'tsrange_subdiff'],
  [3910, 1184, 4534, 3127, '', 'tstzrange_subdiff'],
  [3912, 1082, 4535, 3122, 'daterange_canonical', 'daterange_subdiff'],
  [3926, 20, 4536, 3124, 'int8range_canonical', 'int8range_subdiff'],
];

/** What makes the rows of a relation; one that is not here has none. */
const makers: Readonly<Record<string, (catalog: SystemCatalog) => Iterable<Cells>>> = {
  'pg_catalog.pg_class': pgClass,
  'pg_catalog.pg_attribute': allAttributes,
  'pg_catalog.pg_namespace': (catalog) =>
    [...catalog.schemas].map(([name, oid]) => ({ oid, nspname: name, nspowner: ownerOid })),
  'pg_catalog.pg_type': typeCells,
  'pg_catalog.pg_proc': functionCells,
  'pg_catalog.pg_am': () => accessMethods,
  'pg_catalog.pg_range': () =>
    ranges.map(([rngtypid, rngsubtype, rngmultitypid, rngsubopc, canonical, difference]) => ({
      rngtypid,
      rngsubtype,
      rngmultitypid,
      rngsubopc,
      rngcanonical: functionOid(canonical),
      rngsubdiff: functionOid(difference),
    })),
  'pg_catalog.pg_collation': () =>
    [
      [100, 'default', 'd', -1],
      [950, 'C', 'c', -1],
      [951, 'POSIX', 'c', -1],
    ].map(([oid = 0, collname = '', collprovider = '', collencoding = 0]) => ({
      oid,
      collname,
      collnamespace: schemaOids.pg_catalog,
      collowner: ownerOid,
      collprovider,
      collisdeterministic: true,
      collencoding,
    })),
  'pg_catalog.pg_language': () => [
    { oid: internalLanguage, lanname: 'internal', lanowner: ownerOid },
    { oid: 14, lanname: 'sql', lanowner: ownerOid, lanpltrusted: true },
  ],
  'pg_catalog.pg_tablespace': () => [
    { oid: defaultTablespace, spcname: 'pg_default', spcowner: ownerOid },
    { oid: 1664, spcname: 'pg_global', spcowner: ownerOid },
  ],
  'pg_catalog.pg_database': databaseCells,
  'pg_catalog.pg_roles': roleCells,
  'pg_catalog.pg_user': userCells,
  'pg_catalog.pg_settings': settingCells,
  'pg_catalog.pg_stat_activity': sessionCells,
  'pg_catalog.pg_stat_database': (catalog) => [
    { datid: catalog.databaseOid, datname: databaseOf(catalog), stats_reset: null },
  ],
  'pg_catalog.pg_stat_ssl': (catalog) =>
    catalog.session.sessions.map(({ processId, isEncrypted }) => ({ pid: processId, ssl: isEncrypted })),
  'pg_catalog.pg_stat_user_tables': statisticsOf,
  'pg_catalog.pg_stat_all_tables': statisticsOf,
  'pg_catalog.pg_statio_user_tables': statisticsOf,
  'pg_catalog.pg_statio_all_tables': statisticsOf,
  'pg_catalog.pg_timezone_names': timeZoneCells,
  'pg_catalog.pg_tables': (catalog) => [
    ...systemRelations.filter(({ kind }) => kind === 'r').map(({ schema, name }) => tableEntry(schema, name)),
    ...catalog.tables.filter(({ kind }) => kind === 'r').map(({ schema, name }) => tableEntry(schema, name)),
  ],
  'pg_catalog.pg_views': (catalog) => [
    ...systemRelations
      .filter(({ kind }) => kind === 'v')
      .map(({ schema, name }) => ({ schemaname: schema, viewname: name, viewowner: ownerName })),
    ...viewsOf(catalog).map(({ schema, name }) => ({
      schemaname: schema,
      viewname: name,
      viewowner: ownerName,
    })),
  ],
  'information_schema.information_schema_catalog_name': (catalog) => [{ catalog_name: databaseOf(catalog) }],
  'information_schema.schemata': schemaCells,
  'information_schema.tables': tableCells,
  'information_schema.columns': columnCells,
  'information_schema.views': (catalog) =>
    viewsOf(catalog).map(({ schema, name }) => ({
      table_catalog: databaseOf(catalog),
      table_schema: schema,
      table_name: name,
      check_option: 'NONE',
      is_updatable: 'NO',
      is_insertable_into: 'NO',
      is_trigger_updatable: 'NO',
      is_trigger_deletable: 'NO',
      is_trigger_insertable_into: 'NO',
    })),
  'information_schema.table_privileges': privilegeCells,
  'information_schema.role_table_grants': privilegeCells,
  'information_schema.column_privileges': columnPrivilegeCells,
  'information_schema.role_column_grants': columnPrivilegeCells,
  'information_schema.character_sets': (catalog) => [
    {
      character_set_name: 'UTF8',
      character_repertoire: 'UCS',
      form_of_use: 'UTF8',
      default_collate_catalog: databaseOf(catalog),
      default_collate_schema: 'pg_catalog',
      default_collate_name: 'C',
    },
  ],
  'information_schema.collations': (catalog) =>
    ['default', 'C', 'POSIX'].map((name) => ({
      collation_catalog: databaseOf(catalog),
      collation_schema: 'pg_catalog',
      collation_name: name,
      pad_attribute: 'NO PAD',
    })),
  'information_schema.enabled_roles': (catalog) => [{ role_name: catalog.session.user }],
};

const tableEntry = (schema: string, name: string): Cells => ({
  schemaname: schema,
  tablename: name,
  tableowner: ownerName,
  hasindexes: false,
  hasrules: false,
  hastriggers: false,
  rowsecurity: false,
});
