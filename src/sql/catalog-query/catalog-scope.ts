import { closestNames } from '../../lib/closest-names.ts';
import type { Query } from '../ast.ts';
import type { SessionEffect } from '../catalog-session.ts';
import { sqlError } from '../sql-error.ts';
import type { CatalogRows } from '../system-catalog/catalog-rows.ts';
import type { CatalogColumn, Item, Row, Value } from '../system-catalog/catalog-value.ts';
import type { SystemCatalog } from '../system-catalog/system-catalog.ts';
import { noColumn } from './catalog-error.ts';

/**
 * What a query has at hand while it runs: the rows that its relations are at, and what was computed for a
 * group of rows. A query inside an expression reaches those of the query around it.
 */
export interface Frame {
  readonly rows: Array<Item | undefined>;
  readonly computed: Value[];
  readonly outer: Frame | undefined;
}

/** An expression that is ready to be computed. */
export interface Compiled {
  readonly type: string;
  readonly run: (frame: Frame) => Value;
  /** Of a string without a type, which its context gives it. */
  readonly written?: string | null;
  /** Of a parameter without a type, likewise. */
  readonly as?: (type: string) => Compiled;
}

/** A relation in FROM, at one place of the frame. */
export interface ScopeRelation {
  readonly name: string | undefined;
  readonly slot: number;
  readonly columns: readonly CatalogColumn[];
  /** What reads a column of its rows, by the place of the column. */
  readonly cell: CellReaders;
  /** Object id, of a relation of the catalog. */
  readonly oid: number | undefined;
  /** Names that USING has merged into those of a relation to the left. */
  readonly merged: Set<string>;
}

export type CellReaders = (column: number) => (item: Item) => Value;

/** Of rows that a query has made. */
const cellsOfRows: CellReaders = (column) => (item) => (item as Row)[column] ?? null;

/** What is computed before the items of a query are: aggregates, window functions, functions of many rows. */
export type Computation =
  | {
      readonly kind: 'aggregate';
      readonly compute: (frames: readonly Frame[]) => Value;
    }
  | { readonly kind: 'rows'; readonly compute: (frame: Frame) => readonly Value[] }
  | { readonly kind: 'window'; readonly compute: (frames: readonly Frame[]) => readonly Value[] };

/** Names that one SELECT can use. */
export class Scope {
  readonly relations: ScopeRelation[] = [];
  /** Places of the frame that were named since `used` was last emptied. */
  used = new Set<number>();
  /** Whether a name of a query around it was used. */
  isCorrelated = false;
  readonly computations: Computation[] = [];
  readonly parent: Scope | undefined;

  constructor(parent: Scope | undefined) {
    this.parent = parent;
  }

  get hasAggregates(): boolean {
    return this.computations.some(({ kind }) => kind === 'aggregate');
  }

  /** @param made of what the relation is made, if its rows are not those of a query */
  add(
    name: string | undefined,
    columns: readonly CatalogColumn[],
    made?: { readonly oid: number; readonly cell: CellReaders },
  ): ScopeRelation {
    const relation = {
      name,
      slot: this.relations.length,
      columns,
      cell: made?.cell ?? cellsOfRows,
      oid: made?.oid,
      merged: new Set<string>(),
    };
    this.relations.push(relation);
    return relation;
  }

  /** @returns the place of what is computed */
  compute(computation: Computation): number {
    return this.computations.push(computation) - 1;
  }

  /** A column of this query, or of one around it. @throws AppError `sql_unknown_column` */
  column(path: readonly string[], at: number | undefined): Compiled {
    let scope: Scope | undefined = this;
    for (let depth = 0; scope !== undefined; depth++, scope = scope.parent) {
      const found = scope.#find(path, at);
      if (found === undefined) continue;
      scope.used.add(found.slot);
      for (let inner: Scope = this; inner !== scope && inner.parent !== undefined; inner = inner.parent)
        inner.isCorrelated = true;
      return { type: found.type, run: reader(depth, found) };
    }
    throw this.#missing(path, at);
  }

  /** The relation of this query, and of none around it, that has a column. */
  relationOf(path: readonly string[]): ScopeRelation | undefined {
    const name = path.at(-1) ?? '';
    const relation = path.at(-2);
    return this.relations.find(
      (each) =>
        (relation === undefined ? !each.merged.has(name) : each.name === relation) &&
        each.columns.some((column) => column.name === name),
    );
  }

  #missing(path: readonly string[], at: number | undefined): Error {
    const name = path.at(-1) ?? '';
    const relation = path.at(-2);
    const relations = this.#reachable().filter((each) => relation === undefined || each.name === relation);
    if (relation !== undefined && relations.length === 0)
      return sqlError('sql_unknown_relation', `missing FROM-clause entry for table "${relation}"`, at);
    const candidates = relations.flatMap(({ columns }) => columns.map((column) => column.name));
    const [meant] = closestNames(name, candidates);
    const hint = meant === undefined ? undefined : `Perhaps you meant to reference the column "${meant}".`;
    return noColumn(`column "${path.join('.')}" does not exist`, hint, at);
  }

  #reachable(): readonly ScopeRelation[] {
    const found: ScopeRelation[] = [];
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent)
      found.push(...scope.relations);
    return found;
  }

  #find(path: readonly string[], at: number | undefined): FoundColumn | undefined {
    const name = path.at(-1) ?? '';
    const relation = path.at(-2);
    const found = this.relations.flatMap((each) => {
      if (relation === undefined ? each.merged.has(name) : each.name !== relation) return [];
      const index = each.columns.findIndex((column) => column.name === name);
      const column = each.columns[index];
      return column === undefined ? [] : [{ slot: each.slot, type: column.type, read: each.cell(index) }];
    });
    if (found.length > 1) throw sqlError('sql_ambiguous', `column reference "${name}" is ambiguous`, at);
    if (found[0] !== undefined) return found[0];
    return this.#whole(path, name, relation);
  }

  /** System columns, and a relation of one column by its own name, as in `unnest(…) x`. */
  #whole(path: readonly string[], name: string, relation: string | undefined): FoundColumn | undefined {
    if (name === 'tableoid') {
      const of = this.relations.find(
        (each) => each.oid !== undefined && (relation ?? each.name) === each.name,
      );
      const oid = of?.oid ?? 0;
      return of && { slot: of.slot, type: 'oid', read: () => oid };
    }
    if (name === 'xmin') {
      const of = this.relations.find(
        (each) => each.oid !== undefined && (relation ?? each.name) === each.name,
      );
      return of && { slot: of.slot, type: 'xid', read: () => bootstrapTransaction };
    }
    const whole = path.length === 1 ? this.relations.find((each) => each.name === name) : undefined;
    const [column] = whole?.columns ?? [];
    return whole && column && { slot: whole.slot, type: column.type, read: whole.cell(0) };
  }
}

interface FoundColumn {
  readonly slot: number;
  readonly type: string;
  readonly read: (item: Item) => Value;
}

/** The transaction that has made PostgreSQL's own rows. */
const bootstrapTransaction = 1;

function reader(depth: number, { slot, read }: FoundColumn): Compiled['run'] {
  if (depth === 0) return (frame) => cellAt(frame, slot, read);
  return (frame) => {
    let of: Frame | undefined = frame;
    for (let level = 0; level < depth; level++) of = of?.outer;
    return cellAt(of, slot, read);
  };
}

/** A cell of the row at a place; NULL where an outer join has none. */
export function cellAt(frame: Frame | undefined, slot: number, read: (item: Item) => Value): Value {
  const item = frame?.rows[slot];
  return item === undefined ? null : read(item);
}

/** A query that is ready to run. */
export interface CompiledQuery {
  readonly columns: readonly CatalogColumn[];
  readonly isCorrelated: boolean;
  readonly rows: (outer: Frame | undefined) => readonly Row[];
}

/** The rows of a table of WITH, which are made once. */
export interface CompiledCte {
  readonly columns: readonly CatalogColumn[];
  readonly rows: () => readonly Row[];
}

export interface QueryScope {
  readonly parent: Scope | undefined;
  readonly ctes: ReadonlyMap<string, CompiledCte>;
}

/** What the parts of the compiler share. */
export interface CompileContext {
  readonly catalog: SystemCatalog;
  readonly rows: CatalogRows;
  readonly parameter: (number: number, type: string, at: number | undefined) => Compiled;
  readonly ctes: ReadonlyMap<string, CompiledCte>;
  readonly scope: Scope;
  readonly query: (query: Query, context: QueryScope) => CompiledQuery;
  /** Asked before work that takes this many steps of some 50 ns each. @throws AppError `sql_too_large` */
  readonly spend: (steps: number) => void;
  /** Asked before this many cells of rows are kept. @throws AppError `sql_too_large` */
  readonly keep: (cells: number) => void;
  readonly effect: (effect: SessionEffect) => void;
}
