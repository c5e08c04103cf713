import { eventTimeColumn } from '../../model/column.ts';
import type { CatalogSession } from '../catalog-session.ts';
import { postgresType } from '../postgres-types.ts';
import { type SqlType, text } from '../types.ts';
import { findSystemRelation, type SystemRelation, systemRelations } from './system-relations.ts';

/** What the catalog shows of the data: the relations that the caller may read, and no others. */
export interface VisibleTable {
  readonly schema: string;
  readonly name: string;
  readonly kind: 'r' | 'v';
  /** Read when they are asked for. */
  columns(): readonly { readonly name: string; readonly type: SqlType }[];
}

export interface TableColumn {
  readonly name: string;
  readonly typeOid: number;
  readonly typeLabel: string;
  readonly isRequired: boolean;
}

/** A table with its object id. */
export class CatalogTable {
  readonly oid: number;
  readonly schemaOid: number;
  readonly schema: string;
  readonly name: string;
  readonly kind: 'r' | 'v';
  readonly #visible: VisibleTable;
  #columns: readonly TableColumn[] | undefined;

  constructor(visible: VisibleTable, oid: number, schemaOid: number) {
    this.#visible = visible;
    this.oid = oid;
    this.schemaOid = schemaOid;
    this.schema = visible.schema;
    this.name = visible.name;
    this.kind = visible.kind;
  }

  get columns(): readonly TableColumn[] {
    this.#columns ??= this.#visible.columns().map(({ name, type }) => {
      // A field that has had values of several types is shown as text.
      const { oid, label } = postgresType(type.name === 'mixed' ? text : type);
      const typeLabel = type.name === 'map' ? 'json' : label;
      return { name, typeOid: oid, typeLabel, isRequired: timeColumns.has(name) };
    });
    return this.#columns;
  }
}

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

/** The tables of a catalog, with what finds them. */
interface KnownTables {
  readonly tables: readonly CatalogTable[];
  readonly schemas: ReadonlyMap<string, number>;
  readonly byOid: ReadonlyMap<number, CatalogTable>;
  readonly byPath: ReadonlyMap<string, CatalogTable>;
}

/**
 * The relations of the catalog as one statement of one caller sees them. Which tables there are is asked once
 * a statement needs it: many ask for types or settings alone.
 */
export class SystemCatalog {
  readonly userOid: number;
  readonly databaseOid: number;
  readonly version: string;
  readonly knowsColumns: boolean;
  readonly #session: CatalogSession;
  readonly #visible: () => readonly VisibleTable[];
  readonly #ids = new ObjectIds();
  #known: KnownTables | undefined;
  /** Whether an answer depends on who asks, or when. */
  dependsOnSession = false;

  /**
   * @param visible called at most once
   * @param knowsColumns whether the statement asks for the columns of all tables
   */
  constructor(
    visible: () => readonly VisibleTable[],
    session: CatalogSession,
    version: string,
    knowsColumns: boolean,
  ) {
    this.knowsColumns = knowsColumns;
    this.#visible = visible;
    this.databaseOid = this.#ids.of('database');
    this.userOid = session.user === ownerName ? ownerOid : this.#ids.of(`role ${session.user}`);
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
    this.#known ??= this.#readTables();
    return this.#known;
  }

  #readTables(): KnownTables {
    const visible = this.#visible();
    const schemas = new Map<string, number>(Object.entries(schemaOids));
    for (const { schema } of visible)
      if (!schemas.has(schema)) schemas.set(schema, this.#ids.of(`schema ${schema}`));
    const tables = visible.map((table) => {
      const oid = this.#ids.of(`table ${table.schema}.${table.name}`);
      return new CatalogTable(table, oid, schemas.get(table.schema) ?? 0);
    });
    return {
      tables,
      schemas,
      byOid: new Map(tables.map((table) => [table.oid, table])),
      byPath: new Map(tables.map((table) => [`${table.schema}.${table.name}`, table])),
    };
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
    const columns = systemByOid.get(oid)?.columns ?? this.#tables.byOid.get(oid)?.columns ?? [];
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

const systemByOid: ReadonlyMap<number, SystemRelation> = new Map(
  systemRelations.map((relation) => [relation.oid, relation]),
);
