import { spend } from '../budget.ts';
import { settle } from '../coerce.ts';
import { rowOf } from '../functions/rows.ts';
import type { Expr } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { suggestion } from '../suggestions.ts';
import { eachColumn, type ScopeColumn, type ScopeColumns } from './scope-columns.ts';
import { type ScopeRelation, ScopeRelations } from './scope-relations.ts';

/** A column merged by USING, which hides those of its name in the relations of the join. */
export interface MergedColumn {
  readonly expr: Expr;
  /** The first relation of the join, among those in scope. */
  readonly first: number;
  /** Behind its last one. */
  readonly end: number;
  /** True beside another join that has merged a column of that name. */
  readonly isAmbiguous?: boolean;
}

/** What FROM brings into scope. */
export interface FromScope {
  readonly relations: ScopeRelations;
  /** Columns merged by USING. */
  readonly merged: ReadonlyMap<string, MergedColumn>;
  /**
   * The columns of `*`, side by side, made as they are asked for: joins of wide relations have too many to
   * keep.
   */
  readonly star: readonly (() => Iterable<ScopeColumn>)[];
  /** True if a relation may be NULL as a whole: the other side of an outer join. */
  readonly hasOuterJoin?: boolean;
}

export const emptyFrom: FromScope = { relations: ScopeRelations.of([]), merged: new Map(), star: [] };

export function* starColumns({ star }: FromScope): Generator<ScopeColumn> {
  for (const columns of star) yield* columns();
}

/** The names that an expression can use: those of its query, then those of the query around it. */
export class Scope {
  readonly #from: FromScope;
  readonly #parent: Scope | undefined;
  /** False for a subquery in FROM: it sees the query around it in PostgreSQL, but not in the store. */
  readonly #correlatable: boolean;
  /** Names that were looked up: a query says the same few again and again. */
  readonly #known = new Map<string, Maker | undefined>();
  #open: readonly ScopeRelation[] | undefined;
  #correlated = false;
  /** True once an expression over these names has a subquery that names them, too. */
  hasCorrelatedSubqueries = false;

  constructor(from: FromScope, parent: Scope | undefined, correlatable: boolean) {
    this.#from = from;
    this.#parent = parent;
    this.#correlatable = correlatable;
  }

  /** True once a name of the query around was used. */
  get correlated(): boolean {
    return this.#correlated;
  }

  get parent(): Scope | undefined {
    return this.#parent;
  }

  star(): Iterable<ScopeColumn> {
    return starColumns(this.#from);
  }

  starOf(relation: string, at: number | undefined): Iterable<ScopeColumn> {
    return eachColumn(this.#relation(relation, at).columns);
  }

  /** Undefined if this query's own FROM has no such column. */
  own(name: string, at: number | undefined): Expr | undefined {
    if (!this.#known.has(name)) this.#known.set(name, find(this.#from, name, at));
    return this.#known.get(name)?.();
  }

  /** @throws AppError `sql_unknown_column`, `sql_unknown_relation`, `sql_ambiguous` */
  column(path: readonly string[], at: number | undefined): Expr {
    const [first = '', second] = path;
    if (path.length > 2) throw unsupported('A column name with a schema', at);
    return second === undefined ? this.#unqualified(first, at) : this.#qualified(first, second, at);
  }

  #unqualified(name: string, at: number | undefined): Expr {
    const own = this.own(name, at);
    if (own !== undefined) return own;
    const outer = this.#parent?.own(name, at);
    if (outer !== undefined) return this.#outer(outer, name, at);
    const far = this.#correlatable ? this.#parent?.parent?.own(name, at) : undefined;
    if (far !== undefined) return this.#far(far, name, at);
    this.#open ??= openRelations(this.#from);
    const [open, second] = this.#open;
    if (second !== undefined) throw ambiguous(name, at);
    const label = open?.otherColumn?.(name);
    if (label !== undefined) return label;
    if (this.#parent?.sees(name) === true) throw tooFar(name, at);
    const relation = this.ownRelation(name);
    if (relation !== undefined) return this.#wholeRow(name, relation, at);
    throw sqlError(
      'sql_unknown_column',
      `column "${name}" does not exist${suggestion(name, this.#names())}`,
      at,
    );
  }

  /** `t`, of a relation of that name. */
  #wholeRow(name: string, { columns, otherColumn }: ScopeRelation, at: number | undefined): Expr {
    if (this.#from.hasOuterJoin === true) {
      throw unsupported(`The whole row of "${name}", beside an outer join, as a value`, at);
    }
    if (otherColumn !== undefined) {
      throw unsupported(`The whole row of "${name}", whose labels are columns, as a value`, at);
    }
    const names: string[] = [];
    const values: Expr[] = [];
    for (const column of eachColumn(columns)) {
      spend('outputColumns', 1, at);
      names.push(column.name);
      values.push(settle(column.expr(), at));
    }
    return rowOf(names, values, at);
  }

  #qualified(relationName: string, name: string, at: number | undefined): Expr {
    const relation = this.#relation(relationName, at);
    const { columns } = relation;
    const [place, second] = columns.names.places(name);
    if (second !== undefined) throw ambiguous(`${relationName}.${name}`, at);
    const expr = place === undefined ? relation.otherColumn?.(name) : columns.expr(place);
    if (expr === undefined) {
      throw sqlError(
        'sql_unknown_column',
        `column ${relationName}.${name} does not exist${suggestion(name, columns.names.list)}`,
        at,
      );
    }
    if (this.ownRelation(relationName) !== undefined) return expr;
    return this.#parent?.ownRelation(relationName) === undefined
      ? this.#far(expr, name, at)
      : this.#outer(expr, name, at);
  }

  ownRelation(name: string): ScopeRelation | undefined {
    return this.#from.relations.named(name);
  }

  #relation(name: string, at: number | undefined): ScopeRelation {
    const relation = this.ownRelation(name) ?? this.#parent?.ownRelation(name);
    if (relation !== undefined) return relation;
    const far = this.#correlatable ? this.#parent?.parent?.ownRelation(name) : undefined;
    if (far !== undefined) return far;
    if (this.#parent?.parent?.seesRelation(name) === true) throw tooFar(name, at);
    throw sqlError('sql_unknown_relation', `"${name}" is not in the FROM clause`, at);
  }

  /** The store joins a subquery with the query directly around it, not over two levels. */
  #outer(expr: Expr, name: string, at: number | undefined): Expr {
    if (!this.#correlatable) throw tooFar(name, at);
    this.#correlated = true;
    return markOuter(expr);
  }

  #far(expr: Expr, name: string, at: number | undefined): Expr {
    if (this.#parent?.isCorrelatable !== true) throw tooFar(name, at);
    this.#correlated = true;
    this.#parent.#correlated = true;
    return markFar(expr, at);
  }

  /** Whether it may name columns of the query around it. */
  get isCorrelatable(): boolean {
    return this.#correlatable;
  }

  sees(name: string): boolean {
    return this.own(name, undefined) !== undefined || (this.#parent?.sees(name) ?? false);
  }

  seesRelation(name: string): boolean {
    return this.ownRelation(name) !== undefined || (this.#parent?.seesRelation(name) ?? false);
  }

  *#names(): Generator<string> {
    for (const { columns } of this.#from.relations) yield* columns.names.list;
  }
}

/** A column by its bare name; labels are looked up later, where no relation has a column of that name. */
export const lookup = (from: FromScope, name: string, at: number | undefined): Expr | undefined =>
  find(from, name, at)?.();

/** Relations of which any name may be a column. */
export const openRelations = ({ relations }: FromScope): readonly ScopeRelation[] =>
  [...relations].filter(({ otherColumn }) => otherColumn !== undefined);

/** Makes what a name means, each time that it is mentioned. */
type Maker = () => Expr | undefined;

function find(from: FromScope, name: string, at: number | undefined): Maker | undefined {
  const merged = from.merged.get(name);
  if (merged !== undefined) {
    const { expr, first, end, isAmbiguous } = merged;
    if (isAmbiguous === true) throw ambiguous(name, at);
    for (const { columns } of from.relations.without(first, end)) {
      if (columns.names.places(name).length > 0) throw ambiguous(name, at);
    }
    return () => expr;
  }
  let found: { readonly columns: ScopeColumns; readonly place: number } | undefined;
  for (const { columns } of from.relations) {
    const [place, second] = columns.names.places(name);
    if (place === undefined) continue;
    if (second !== undefined || found !== undefined) throw ambiguous(name, at);
    found = { columns, place };
  }
  if (found !== undefined) {
    const { columns, place } = found;
    return () => columns.expr(place);
  }
  return from.relations.named(name)?.value;
}

const ambiguous = (name: string, at: number | undefined): Error =>
  sqlError('sql_ambiguous', `column reference "${name}" is ambiguous`, at);

const tooFar = (name: string, at: number | undefined): Error =>
  unsupported(`A reference to "${name}" of an outer query from here`, at);

function markFar(expr: Expr, at: number | undefined): Expr {
  spend('resolvedNodes');
  const marked = { outer: true, far: { at } } as const;
  if (expr.kind === 'column') return { ...expr, ...marked };
  if (expr.kind === 'mixed') {
    return { ...expr, column: (type) => ({ ...expr.column(type), ...marked }) };
  }
  return expr.kind === 'apply' ? { ...expr, args: expr.args.map((arg) => markFar(arg, at)) } : expr;
}

function markOuter(expr: Expr): Expr {
  spend('resolvedNodes');
  if (expr.kind === 'column') return { ...expr, outer: true };
  if (expr.kind === 'mixed') {
    return { ...expr, column: (type) => ({ ...expr.column(type), outer: true }) };
  }
  return expr.kind === 'apply' ? { ...expr, args: expr.args.map(markOuter) } : expr;
}
