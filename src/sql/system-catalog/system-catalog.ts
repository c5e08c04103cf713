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

/** The relations of the catalog as one statement of one caller sees them. */
export class SystemCatalog {
  readonly tables: readonly CatalogTable[];
  readonly schemas: ReadonlyMap<string, number>;
  readonly userOid: number;
  readonly databaseOid: number;
  readonly version: string;
  readonly knowsColumns: boolean;
  readonly #session: CatalogSession;
  readonly #byOid = new Map<number, CatalogTable>();
  readonly #byPath = new Map<string, CatalogTable>();
  /** Whether an answer depends on who asks, or when. */
  dependsOnSession = false;

  /** @param knowsColumns whether the statement asks for the columns of all tables */
  constructor(
    visible: readonly VisibleTable[],
    session: CatalogSession,
    version: string,
    knowsColumns: boolean,
  ) {
    this.knowsColumns = knowsColumns;
    const ids = new ObjectIds();
    const schemas = new Map<string, number>(Object.entries(schemaOids));
    this.databaseOid = ids.of('database');
    for (const { schema } of visible)
      if (!schemas.has(schema)) schemas.set(schema, ids.of(`schema ${schema}`));
    this.tables = visible.map((table) => {
      const oid = ids.of(`table ${table.schema}.${table.name}`);
      return new CatalogTable(table, oid, schemas.get(table.schema) ?? 0);
    });
    this.userOid = session.user === ownerName ? ownerOid : ids.of(`role ${session.user}`);
    this.schemas = schemas;
    this.version = version;
    this.#session = session;
    for (const table of this.tables) {
      this.#byOid.set(table.oid, table);
      this.#byPath.set(`${table.schema}.${table.name}`, table);
    }
  }

  get session(): CatalogSession {
    this.dependsOnSession = true;
    return this.#session;
  }

  table(oid: number): CatalogTable | undefined {
    return this.#byOid.get(oid);
  }

  /** The object id of a relation, by its name with or without its schema. */
  relationOid(path: readonly string[]): number | undefined {
    const [first = '', second] = path.slice(-2);
    const system = findSystemRelation(path.slice(-2));
    if (system !== undefined) return system.oid;
    return this.#byPath.get(second === undefined ? `${publicSchema}.${first}` : `${first}.${second}`)?.oid;
  }

  /** The name and schema of a relation. */
  relation(oid: number): { readonly schema: string; readonly name: string } | undefined {
    return this.#byOid.get(oid) ?? systemByOid.get(oid);
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
