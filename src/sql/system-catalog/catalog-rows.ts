import { groupBy } from '../../lib/group-by.ts';
import type { DatasetSize } from '../sql-catalog.ts';
import type { CatalogColumn, Item, Value } from './catalog-value.ts';
import {
  type Attribute,
  type CatalogTable,
  ownerName,
  ownerOid,
  type SystemCatalog,
  schemaOids,
  systemByOid,
  type TableAttribute,
  utf8,
} from './system-catalog.ts';
import { type SystemRelation, systemRelations } from './system-relations.ts';
import { functionOid, systemFunctions, systemTypes, typesByOid } from './system-types.ts';

/**
 * The relations of the catalog. Their rows are not made: an item is what a row is about, such as a table, and
 * a cell is read from it when a query asks for the cell. So a query that asks for the names of 2,000 tables
 * costs that and no more.
 */

/** The rows of a relation as one statement sees them. */
export interface RelationRows {
  /** All of them, in order: the same array each time. */
  all(): readonly Item[];
  /** Finds those that have a value in a column without going through all; undefined where that is not so. */
  readonly finder: (column: string) => ((value: Value) => readonly Item[]) | undefined;
  /** What reads a cell of a row. */
  readonly cell: (column: CatalogColumn) => (item: Item) => Value;
}

/** What the rows of a relation are, and how their cells are read. */
interface Definition<Of extends Item> {
  readonly rows: (catalog: SystemCatalog) => readonly Of[];
  /** What is not here is what the catalog has where nothing is. */
  readonly cells: Readonly<Record<string, (of: Of, catalog: SystemCatalog) => Value | undefined>>;
  /** By columns. */
  readonly having?: Readonly<Record<string, (value: Value, catalog: SystemCatalog) => readonly Of[]>>;
}

type Make = (catalog: SystemCatalog, relation: SystemRelation, keep: Keep) => RelationRows;
/** Asked before this many cells are kept; throws if that is too much. */
type Keep = (cells: number) => void;

/** The relations as one statement sees them. */
export class CatalogRows {
  readonly #catalog: SystemCatalog;
  readonly #keep: Keep;
  readonly #relations = new Map<SystemRelation, RelationRows>();

  constructor(catalog: SystemCatalog, keep: Keep) {
    this.#catalog = catalog;
    this.#keep = keep;
  }

  of(relation: SystemRelation): RelationRows {
    const known = this.#relations.get(relation);
    if (known !== undefined) return known;
    const path = `${relation.schema}.${relation.name}`;
    const make = (Object.hasOwn(relations, path) ? relations[path] : undefined) ?? records(() => []);
    const made = make(this.#catalog, relation, this.#keep);
    this.#relations.set(relation, made);
    return made;
  }
}

/** What an item takes that is made for one statement. */
const itemCells = 4;

function relation<Of extends Item>({ rows, cells, having = {} }: Definition<Of>): Make {
  return (catalog, { schema }, keep) => {
    let all: readonly Of[] | undefined;
    return {
      all: () => {
        if (all !== undefined) return all;
        all = rows(catalog);
        keep(all.length * itemCells);
        return all;
      },
      finder: (column) => {
        const find = Object.hasOwn(having, column) ? having[column] : undefined;
        return find && ((value) => find(value, catalog));
      },
      cell: (column) => {
        const absent = absentIn(schema, column);
        const read = Object.hasOwn(cells, column.name) ? cells[column.name] : undefined;
        // Items of this relation come from `rows` and `having` above.
        return read === undefined ? () => absent : (item) => read(item as Of, catalog) ?? absent;
      },
    };
  };
}

/** The cells of a row that are no defaults of their columns. */
type Cells = Readonly<Record<string, Value>>;

/** A relation of which each statement makes the few rows. */
function records(make: (catalog: SystemCatalog) => readonly Cells[]): Make {
  return (catalog, { schema, columns }, keep) => {
    let all: readonly Cells[] | undefined;
    return {
      all: () => {
        if (all !== undefined) return all;
        all = make(catalog);
        keep(all.length * columns.length);
        return all;
      },
      finder: () => undefined,
      cell: (column) => {
        const absent = absentIn(schema, column);
        return (item) => (item as Cells)[column.name] ?? absent;
      },
    };
  };
}

/** A relation whose rows are always the same. */
function fixed(make: () => readonly Cells[]): Make {
  let rows: readonly Cells[] | undefined;
  return (_, { schema }) => ({
    all: () => {
      rows ??= make();
      return rows;
    },
    finder: () => undefined,
    cell: (column) => {
      const absent = absentIn(schema, column);
      return (item) => (item as Cells)[column.name] ?? absent;
    },
  });
}

const absentIn = (schema: SystemRelation['schema'], { name, type }: CatalogColumn): Value =>
  schema === 'pg_catalog' ? defaultOf(name, type) : null;

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

/** Object ids of access methods. */
const heap = 2;
const accessMethods: readonly Cells[] = [
  { oid: heap, amname: 'heap', amtype: 't', amhandler: functionOid('heap_tableam_handler') },
  { oid: 403, amname: 'btree', amtype: 'i', amhandler: functionOid('bthandler') },
];

/** What there is in `pg_class`. */
type ClassItem = SystemRelation | CatalogTable;

const isSystem = (item: ClassItem): item is SystemRelation => 'columns' in item;

/** Of a table of the data; undefined where nothing is known, or may be. */
const sizeOf = (item: ClassItem, catalog: SystemCatalog): DatasetSize | undefined =>
  isSystem(item) || item.kind !== 'r' ? undefined : catalog.size(item);

const systemByName: ReadonlyMap<Value, readonly SystemRelation[]> = groupBy(
  systemRelations,
  ({ name }) => name,
);

const pgClass = relation<ClassItem>({
  rows: ({ tables }) => [...systemRelations, ...tables],
  having: {
    oid: (oid, catalog) => {
      const found = typeof oid === 'number' ? (systemByOid.get(oid) ?? catalog.table(oid)) : undefined;
      return found === undefined ? [] : [found];
    },
    relname: (name, catalog) => [...(systemByName.get(name) ?? []), ...catalog.tablesNamed(String(name))],
  },
  cells: {
    oid: ({ oid }) => oid,
    relname: ({ name }) => name,
    relnamespace: ({ schema }, { schemas }) => schemas.get(schema),
    relowner: () => ownerOid,
    relam: ({ kind }) => (kind === 'r' ? heap : 0),
    // There are no pages. Where there are some, clients such as DuckDB ask for them one by one, by `ctid`.
    relpages: () => 0,
    // What PostgreSQL shows where it does not know.
    reltuples: (item, catalog) => sizeOf(item, catalog)?.rows ?? -1,
    relpersistence: () => 'p',
    relkind: ({ kind }) => kind,
    relnatts: (item, catalog) => (isSystem(item) ? item.columns : catalog.columns(item)).length,
    relispopulated: () => true,
    relreplident: () => 'd',
  },
});

const typeOf = ({ column }: Attribute) => typesByOid.get(column.typeOid);

const pgAttribute = relation<Attribute>({
  rows: (catalog) => [...allSystemAttributes(), ...catalog.allAttributes],
  having: {
    attrelid: (oid, catalog) => {
      const system = typeof oid === 'number' ? systemByOid.get(oid) : undefined;
      if (system !== undefined) return systemAttributes(system);
      const table = typeof oid === 'number' ? catalog.table(oid) : undefined;
      return table === undefined ? [] : catalog.attributes(table);
    },
  },
  cells: {
    attrelid: (attribute) => attribute.relation,
    attname: ({ column }) => column.name,
    atttypid: ({ column }) => column.typeOid,
    attstattarget: () => -1,
    attlen: (attribute) => typeOf(attribute)?.length ?? -1,
    attnum: ({ column }) => column.place,
    attndims: (attribute) => (typeOf(attribute)?.category === 'A' ? 1 : 0),
    attcacheoff: () => -1,
    atttypmod: () => -1,
    attbyval: (attribute) => typeOf(attribute)?.byValue,
    attalign: (attribute) => typeOf(attribute)?.align ?? 'i',
    attstorage: (attribute) => typeOf(attribute)?.storage ?? 'x',
    attnotnull: ({ column }) => column.isRequired,
    attislocal: () => true,
    attcollation: (attribute) => typeOf(attribute)?.collation,
  },
});

/** Those of the catalog itself are always the same. */
const systemAttributesByOid = new Map<number, readonly Attribute[]>();

function systemAttributes({ oid, columns }: SystemRelation): readonly Attribute[] {
  const known = systemAttributesByOid.get(oid);
  if (known !== undefined) return known;
  const made = columns.map(({ name, type }, index): Attribute => {
    const { oid: typeOid = 25, label: typeLabel = 'text' } = systemTypesByName.get(type) ?? {};
    const column = { name, place: index + 1, typeOid, typeLabel, isRequired: name === 'oid' };
    return { relation: oid, column };
  });
  systemAttributesByOid.set(oid, made);
  return made;
}

const allSystemAttributes = (): readonly Attribute[] => systemRelations.flatMap(systemAttributes);

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

const isTable = ({ kind }: ClassItem): boolean => kind === 'r';
const isView = ({ kind }: ClassItem): boolean => kind === 'v';

const statistics = relation<CatalogTable>({
  rows: ({ tables }) => tables.filter(isTable),
  cells: {
    relid: ({ oid }) => oid,
    schemaname: ({ schema }) => schema,
    relname: ({ name }) => name,
    n_live_tup: (table, catalog) => catalog.size(table)?.rows,
  },
});

const pgTables = relation<ClassItem>({
  rows: ({ tables }) => [...systemRelations, ...tables].filter(isTable),
  cells: {
    schemaname: ({ schema }) => schema,
    tablename: ({ name }) => name,
    tableowner: () => ownerName,
    hasindexes: () => false,
    hasrules: () => false,
    hastriggers: () => false,
    rowsecurity: () => false,
  },
});

const pgViews = relation<ClassItem>({
  rows: ({ tables }) => [...systemRelations, ...tables].filter(isView),
  cells: {
    schemaname: ({ schema }) => schema,
    viewname: ({ name }) => name,
    viewowner: () => ownerName,
  },
});

const tables = relation<CatalogTable>({
  rows: (catalog) => catalog.tables,
  cells: {
    table_catalog: (_, catalog) => databaseOf(catalog),
    table_schema: ({ schema }) => schema,
    table_name: ({ name }) => name,
    table_type: ({ kind }) => (kind === 'r' ? 'BASE TABLE' : 'VIEW'),
    is_insertable_into: () => 'NO',
    is_typed: () => 'NO',
  },
});

const views = relation<CatalogTable>({
  rows: (catalog) => catalog.tables.filter(isView),
  cells: {
    table_catalog: (_, catalog) => databaseOf(catalog),
    table_schema: ({ schema }) => schema,
    table_name: ({ name }) => name,
    check_option: () => 'NONE',
    is_updatable: () => 'NO',
    is_insertable_into: () => 'NO',
    is_trigger_updatable: () => 'NO',
    is_trigger_deletable: () => 'NO',
    is_trigger_insertable_into: () => 'NO',
  },
});

const octetsOfText = 1_073_741_824;

const byTable = {
  table_name: (name: Value, catalog: SystemCatalog): readonly TableAttribute[] =>
    catalog.tablesNamed(String(name)).flatMap((table) => catalog.attributes(table)),
};

const columns = relation<TableAttribute>({
  rows: (catalog) => catalog.allAttributes,
  having: byTable,
  cells: {
    table_catalog: (_, catalog) => databaseOf(catalog),
    table_schema: ({ table }) => table.schema,
    table_name: ({ table }) => table.name,
    column_name: ({ column }) => column.name,
    ordinal_position: ({ column }) => column.place,
    is_nullable: ({ column }) => yesNo(!column.isRequired),
    data_type: (attribute) => (typeOf(attribute)?.category === 'A' ? 'ARRAY' : attribute.column.typeLabel),
    character_octet_length: ({ column }) => sizesOf(column.typeOid).characterOctets,
    numeric_precision: ({ column }) => sizesOf(column.typeOid).precision,
    numeric_precision_radix: ({ column }) => sizesOf(column.typeOid).radix,
    numeric_scale: ({ column }) => sizesOf(column.typeOid).scale,
    datetime_precision: ({ column }) => sizesOf(column.typeOid).timePrecision,
    udt_catalog: (_, catalog) => databaseOf(catalog),
    udt_schema: () => 'pg_catalog',
    udt_name: (attribute) => typeOf(attribute)?.name ?? 'text',
    dtd_identifier: ({ column }) => String(column.place),
    is_self_referencing: () => 'NO',
    is_identity: () => 'NO',
    identity_cycle: () => 'NO',
    is_generated: () => 'NEVER',
    is_updatable: () => 'NO',
  },
});

interface ValueSizes {
  readonly characterOctets?: number;
  readonly precision?: number;
  readonly radix?: number;
  readonly scale?: number;
  readonly timePrecision?: number;
}

/** What `information_schema` says of the size of values, by the names of their types. */
const valueSizes: Readonly<Record<string, ValueSizes>> = {
  int2: { precision: 16, radix: 2, scale: 0 },
  int4: { precision: 32, radix: 2, scale: 0 },
  int8: { precision: 64, radix: 2, scale: 0 },
  float8: { precision: 53, radix: 2 },
  numeric: { radix: 10 },
  text: { characterOctets: octetsOfText },
  timestamp: { timePrecision: 6 },
  timestamptz: { timePrecision: 6 },
  interval: { timePrecision: 6 },
  date: { timePrecision: 0 },
};
const noSizes: ValueSizes = {};

const sizesOf = (oid: number): ValueSizes => valueSizes[typesByOid.get(oid)?.name ?? ''] ?? noSizes;

const schemaCells = (catalog: SystemCatalog): readonly Cells[] =>
  [...catalog.schemas].map(([name]) => ({
    catalog_name: databaseOf(catalog),
    schema_name: name,
    schema_owner: ownerName,
  }));

const privileges = relation<CatalogTable>({
  rows: (catalog) => catalog.tables,
  cells: {
    grantor: () => ownerName,
    grantee: (_, { session }) => session.user,
    table_catalog: (_, catalog) => databaseOf(catalog),
    table_schema: ({ schema }) => schema,
    table_name: ({ name }) => name,
    privilege_type: () => 'SELECT',
    is_grantable: () => 'NO',
    with_hierarchy: () => isTrue,
  },
});

const columnPrivileges = relation<TableAttribute>({
  rows: (catalog) => catalog.allAttributes,
  having: byTable,
  cells: {
    grantor: () => ownerName,
    grantee: (_, { session }) => session.user,
    table_catalog: (_, catalog) => databaseOf(catalog),
    table_schema: ({ table }) => table.schema,
    table_name: ({ table }) => table.name,
    column_name: ({ column }) => column.name,
    privilege_type: () => 'SELECT',
    is_grantable: () => 'NO',
  },
});

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

/** Those that have rows, by their paths. */
const relations: Readonly<Record<string, Make>> = {
  'pg_catalog.pg_class': pgClass,
  'pg_catalog.pg_attribute': pgAttribute,
  'pg_catalog.pg_namespace': records((catalog) =>
    [...catalog.schemas].map(([name, oid]) => ({ oid, nspname: name, nspowner: ownerOid })),
  ),
  'pg_catalog.pg_type': fixed(typeCells),
  'pg_catalog.pg_proc': fixed(functionCells),
  'pg_catalog.pg_am': fixed(() => accessMethods),
  'pg_catalog.pg_range': fixed(() =>
    ranges.map(([rngtypid, rngsubtype, rngmultitypid, rngsubopc, canonical, difference]) => ({
      rngtypid,
      rngsubtype,
      rngmultitypid,
      rngsubopc,
      rngcanonical: functionOid(canonical),
      rngsubdiff: functionOid(difference),
    })),
  ),
  'pg_catalog.pg_collation': fixed(() =>
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
  ),
  'pg_catalog.pg_language': fixed(() => [
    { oid: internalLanguage, lanname: 'internal', lanowner: ownerOid },
    { oid: 14, lanname: 'sql', lanowner: ownerOid, lanpltrusted: true },
  ]),
  'pg_catalog.pg_tablespace': fixed(() => [
    { oid: defaultTablespace, spcname: 'pg_default', spcowner: ownerOid },
    { oid: 1664, spcname: 'pg_global', spcowner: ownerOid },
  ]),
  'pg_catalog.pg_database': records(databaseCells),
  'pg_catalog.pg_roles': records(roleCells),
  'pg_catalog.pg_user': records(userCells),
  'pg_catalog.pg_settings': records(settingCells),
  'pg_catalog.pg_stat_activity': records(sessionCells),
  'pg_catalog.pg_stat_database': records((catalog) => [
    { datid: catalog.databaseOid, datname: databaseOf(catalog), stats_reset: null },
  ]),
  'pg_catalog.pg_stat_ssl': records((catalog) =>
    catalog.session.sessions.map(({ processId, isEncrypted }) => ({ pid: processId, ssl: isEncrypted })),
  ),
  'pg_catalog.pg_stat_user_tables': statistics,
  'pg_catalog.pg_stat_all_tables': statistics,
  'pg_catalog.pg_statio_user_tables': statistics,
  'pg_catalog.pg_statio_all_tables': statistics,
  'pg_catalog.pg_timezone_names': fixed(timeZoneCells),
  'pg_catalog.pg_tables': pgTables,
  'pg_catalog.pg_views': pgViews,
  'information_schema.information_schema_catalog_name': records((catalog) => [
    { catalog_name: databaseOf(catalog) },
  ]),
  'information_schema.schemata': records(schemaCells),
  'information_schema.tables': tables,
  'information_schema.columns': columns,
  'information_schema.views': views,
  'information_schema.table_privileges': privileges,
  'information_schema.role_table_grants': privileges,
  'information_schema.column_privileges': columnPrivileges,
  'information_schema.role_column_grants': columnPrivileges,
  'information_schema.character_sets': records((catalog) => [
    {
      character_set_name: 'UTF8',
      character_repertoire: 'UCS',
      form_of_use: 'UTF8',
      default_collate_catalog: databaseOf(catalog),
      default_collate_schema: 'pg_catalog',
      default_collate_name: 'C',
    },
  ]),
  'information_schema.collations': records((catalog) =>
    ['default', 'C', 'POSIX'].map((name) => ({
      collation_catalog: databaseOf(catalog),
      collation_schema: 'pg_catalog',
      collation_name: name,
      pad_attribute: 'NO PAD',
    })),
  ),
  'information_schema.enabled_roles': records((catalog) => [{ role_name: catalog.session.user }]),
};
