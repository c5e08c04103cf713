import { groupBy } from '../../lib/group-by.ts';
import { eventTimeColumn } from '../../model/column.ts';
import type { CatalogSession } from '../catalog-session.ts';
import { postgresType } from '../postgres-types.ts';
import type { DatasetSize } from '../sql-catalog.ts';
import { type SqlType, text } from '../types.ts';
import { findSystemRelation, type SystemRelation, systemRelations } from './system-relations.ts';

/** A relation of a dataset. */
export interface VisibleTable {
  readonly schema: string;
  readonly name: string;
  readonly kind: 'r' | 'v';
  readonly dataset: string;
  /** Its place among the relations of the dataset. */
  readonly part: number;
}

/** A relation of a dataset, with its object id. */
export interface CatalogTable extends VisibleTable {
  readonly oid: number;
  readonly schemaOid: number;
}

export interface TableColumn {
  readonly name: string;
  /** From 1 on. */
  readonly place: number;
  readonly typeOid: number;
  readonly typeLabel: string;
  readonly isRequired: boolean;
}

/** The tables of a catalog, with what finds them. */
export interface KnownTables {
  readonly tables: readonly CatalogTable[];
  readonly schemas: ReadonlyMap<string, number>;
  readonly byOid: ReadonlyMap<number, CatalogTable>;
  readonly byPath: ReadonlyMap<string, CatalogTable>;
  /** Each dataset of metrics has relations of the same names. */
  readonly byName: ReadonlyMap<string, readonly CatalogTable[]>;
}

/** What the catalog shows of the data: what the caller may read, and nothing else. */
export interface VisibleData {
  tables(): KnownTables;
  /** Of one of the tables. */
  columns(table: CatalogTable): readonly TableColumn[];
  /** Called before the columns of all tables are asked for, so that they are looked for together. */
  requireAllColumns(): void;
  /** Of those datasets alone all of whose rows the caller may read. */
  sizes(): ReadonlyMap<string, DatasetSize>;
}

/** The columns of a relation as the catalog shows them. */
export const tableColumns = (
  columns: readonly { readonly name: string; readonly type: SqlType }[],
): readonly TableColumn[] =>
  columns.map(({ name, type }, index) => {
    // A field that has had values of several types is shown as text.
    const { oid, label } = postgresType(type.name === 'mixed' ? text : type);
    const typeLabel = type.name === 'map' ? 'json' : label;
    return { name, place: index + 1, typeOid: oid, typeLabel, isRequired: timeColumns.has(name) };
  });

const timeColumns: ReadonlySet<string> = new Set([eventTimeColumn.name, 'timestamp']);

export const publicSchema = 'public';
export const schemaOids = { pg_catalog: 11, public: 2200, information_schema: 13207 } as const;
/** The role that owns everything. */
export const ownerOid = 10;
export const ownerName = 'millrace';
/** Of the encoding UTF8. */
export const utf8 = 6;

/**
 * Object ids that two statements agree on: a hash of what is named, between PostgreSQL's own and 2^31, and if
 * another one that is visible has it, the next that is free.
 */
class ObjectIds {
  readonly #taken = new Set<number>();

  of(name: string): number {
    let hash = 0x811c9dc5;
    for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) >>> 0;
    let oid = firstOid + (hash % (0x7fff_ffff - firstOid));
    while (this.#taken.has(oid)) oid = oid >= 0x7fff_fffe ? firstOid : oid + 1;
    this.#taken.add(oid);
    return oid;
  }
}

/** PostgreSQL gives the ids below to what it comes with. */
const firstOid = 16_384;

/** Gives tables and their schemas object ids. */
export function knownTables(visible: readonly VisibleTable[]): KnownTables {
  const ids = new ObjectIds();
  const schemas = new Map<string, number>(Object.entries(schemaOids));
  for (const { schema } of visible) if (!schemas.has(schema)) schemas.set(schema, ids.of(`schema ${schema}`));
  const tables = visible.map((table): CatalogTable => {
    const oid = ids.of(`table ${table.schema}.${table.name}`);
    return { ...table, oid, schemaOid: schemas.get(table.schema) ?? 0 };
  });
  return {
    tables,
    schemas,
    byOid: new Map(tables.map((table) => [table.oid, table])),
    byPath: new Map(tables.map((table) => [`${table.schema}.${table.name}`, table])),
    byName: groupBy(tables, ({ name }) => name),
  };
}

/** A column of a relation of the catalog or of the data, with the object id of the relation. */
export interface Attribute {
  readonly relation: number;
  readonly column: TableColumn;
}

/** A column of a relation of the data. */
export interface TableAttribute extends Attribute {
  readonly table: CatalogTable;
}

/**
 * The relations of the catalog as one statement of one caller sees them. Which tables there are is asked once
 * a statement needs it: many ask for types or settings alone.
 */
export class SystemCatalog {
  readonly userOid: number;
  readonly databaseOid: number;
  readonly version: string;
  readonly #session: CatalogSession;
  readonly #data: VisibleData;
  #known: KnownTables | undefined;
  readonly #attributes = new Map<number, readonly TableAttribute[]>();
  #allAttributes: readonly TableAttribute[] | undefined;
  /** Whether an answer depends on who asks, or when. */
  dependsOnSession = false;

  constructor(data: VisibleData, session: CatalogSession, version: string) {
    const ids = new ObjectIds();
    this.#data = data;
    this.databaseOid = ids.of('database');
    this.userOid = session.user === ownerName ? ownerOid : ids.of(`role ${session.user}`);
    this.version = version;
    this.#session = session;
  }

  get tables(): readonly CatalogTable[] {
    return this.#tables.tables;
  }

  get schemas(): ReadonlyMap<string, number> {
    return this.#tables.schemas;
  }

  get #tables(): KnownTables {
    this.#known ??= this.#data.tables();
    return this.#known;
  }

  /** In all schemas. */
  tablesNamed(name: string): readonly CatalogTable[] {
    return this.#tables.byName.get(name) ?? [];
  }

  columns(table: CatalogTable): readonly TableColumn[] {
    return this.#data.columns(table);
  }

  /** The columns of a relation of the data, in order. */
  attributes(table: CatalogTable): readonly TableAttribute[] {
    const known = this.#attributes.get(table.oid);
    if (known !== undefined) return known;
    const made = this.columns(table).map((column) => ({ relation: table.oid, table, column }));
    this.#attributes.set(table.oid, made);
    return made;
  }

  /** The columns of all relations of the data. */
  get allAttributes(): readonly TableAttribute[] {
    if (this.#allAttributes !== undefined) return this.#allAttributes;
    this.#data.requireAllColumns();
    this.#allAttributes = this.tables.flatMap((table) => this.attributes(table));
    return this.#allAttributes;
  }

  /**
   * What is stored of a table; undefined where the caller may not know. The parts of a dataset have nothing.
   */
  size({ dataset, kind }: CatalogTable): DatasetSize | undefined {
    const size = this.#sizes().get(dataset);
    return size === undefined || kind === 'r' ? size : noSize;
  }

  /** Of all tables of which the caller may know it, in bytes. */
  get databaseSize(): number {
    return [...this.#sizes().values()].reduce((sum, { diskBytes }) => sum + diskBytes, 0);
  }

  #sizes(): ReadonlyMap<string, DatasetSize> {
    this.dependsOnSession = true;
    return this.#data.sizes();
  }

  get session(): CatalogSession {
    this.dependsOnSession = true;
    return this.#session;
  }

  table(oid: number): CatalogTable | undefined {
    return this.#tables.byOid.get(oid);
  }

  /** The object id of a relation, by its name with or without its schema. */
  relationOid(path: readonly string[]): number | undefined {
    const [first = '', second] = path.slice(-2);
    const system = findSystemRelation(path.slice(-2));
    if (system !== undefined) return system.oid;
    return this.#tables.byPath.get(second === undefined ? `${publicSchema}.${first}` : `${first}.${second}`)
      ?.oid;
  }

  /** The name and schema of a relation. */
  relation(oid: number): { readonly schema: string; readonly name: string } | undefined {
    return systemByOid.get(oid) ?? this.#tables.byOid.get(oid);
  }

  /** Names of the columns of a relation, in order; none for what is no relation. */
  columnNames(oid: number): readonly string[] {
    const table = this.#tables.byOid.get(oid);
    const columns = systemByOid.get(oid)?.columns ?? (table === undefined ? [] : this.columns(table));
    return columns.map(({ name }) => name);
  }

  schemaName(oid: number): string | undefined {
    for (const [name, each] of this.schemas) if (each === oid) return name;
    return undefined;
  }

  roleName(oid: number): string | undefined {
    if (oid === ownerOid) return ownerName;
    return oid === this.userOid ? this.session.user : undefined;
  }

  roleOid(name: string): number | undefined {
    if (name === ownerName) return ownerOid;
    return name === this.session.user ? this.userOid : undefined;
  }
}

const noSize: DatasetSize = { rows: 0, diskBytes: 0 };

/** The relations of the catalog itself by their object ids. */
export const systemByOid: ReadonlyMap<number, SystemRelation> = new Map(
  systemRelations.map((relation) => [relation.oid, relation]),
);
