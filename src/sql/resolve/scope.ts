import { sqlError, unsupported } from '../errors.ts';
import { isNamed } from '../identifier.ts';
import type { Expr } from '../ir.ts';
import { suggestion } from '../nearest.ts';

/** A column as `*` shows it. Asking for the expression marks it as read. */
export interface ScopeColumn {
  readonly name: string;
  readonly expr: () => Expr;
}

/** A relation of FROM as names see it. */
export interface ScopeRelation {
  /** Undefined for a subquery without alias, whose columns have no qualified name. */
  readonly name: string | undefined;
  readonly columns: readonly ScopeColumn[];
  /** Relations whose columns aren't known beforehand (labels): any other name is a column, too. */
  readonly otherColumn: ((name: string) => Expr) | undefined;
  /** A function that gives rows of one value: the relation's own name is that value. */
  readonly value?: () => Expr;
}

/** What FROM brings into scope. */
export interface FromScope {
  readonly relations: readonly ScopeRelation[];
  /** Columns merged by USING; they hide those of the same name in the relations. */
  readonly merged: ReadonlyMap<string, Expr>;
  readonly star: readonly ScopeColumn[];
}

export const emptyFrom: FromScope = { relations: [], merged: new Map(), star: [] };

/** The names that an expression can use: those of its query, then those of the query around it. */
export class Scope {
  readonly #from: FromScope;
  readonly #parent: Scope | undefined;
  /** False for a subquery in FROM: it sees the query around it in PostgreSQL, but not in the store. */
  readonly #correlatable: boolean;
  #correlated = false;

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

  get star(): readonly ScopeColumn[] {
    return this.#from.star;
  }

  starOf(relation: string, at: number | undefined): readonly ScopeColumn[] {
    return this.#relation(relation, at).columns;
  }

  /** Undefined if this query's own FROM has no such column. */
  own(name: string, at: number | undefined): Expr | undefined {
    return lookup(this.#from, name, at);
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
    const open = this.#from.relations.filter((relation) => relation.otherColumn !== undefined);
    if (open.length > 1) throw ambiguous(name, at);
    const label = open[0]?.otherColumn?.(name);
    if (label !== undefined) return label;
    if (this.#parent?.sees(name) === true) throw tooFar(name, at);
    if (this.#from.relations.some((relation) => relation.name === name)) {
      throw unsupported(`The whole row of "${name}" as a value`, at);
    }
    throw sqlError(
      'sql_unknown_column',
      `column "${name}" does not exist${suggestion(name, this.#names())}`,
      at,
    );
  }

  #qualified(relationName: string, name: string, at: number | undefined): Expr {
    const relation = this.#relation(relationName, at);
    const columns = relation.columns.filter((column) => isNamed(column.name, name));
    if (columns.length > 1) throw ambiguous(`${relationName}.${name}`, at);
    const expr = columns[0]?.expr() ?? relation.otherColumn?.(name);
    if (expr === undefined) {
      const names = relation.columns.map((column) => column.name);
      throw sqlError(
        'sql_unknown_column',
        `column ${relationName}.${name} does not exist${suggestion(name, names)}`,
        at,
      );
    }
    return this.ownRelation(relationName) === undefined ? this.#outer(expr, name, at) : expr;
  }

  ownRelation(name: string): ScopeRelation | undefined {
    return this.#from.relations.find(
      (relation) => relation.name !== undefined && isNamed(relation.name, name),
    );
  }

  #relation(name: string, at: number | undefined): ScopeRelation {
    const relation = this.ownRelation(name) ?? this.#parent?.ownRelation(name);
    if (relation !== undefined) return relation;
    if (this.#parent?.parent?.seesRelation(name) === true) throw tooFar(name, at);
    throw sqlError('sql_unknown_relation', `"${name}" is not in the FROM clause`, at);
  }

  /** The store joins a subquery with the query directly around it, not over two levels. */
  #outer(expr: Expr, name: string, at: number | undefined): Expr {
    if (!this.#correlatable) throw tooFar(name, at);
    this.#correlated = true;
    return markOuter(expr);
  }

  sees(name: string): boolean {
    return lookup(this.#from, name, undefined) !== undefined || (this.#parent?.sees(name) ?? false);
  }

  seesRelation(name: string): boolean {
    return this.ownRelation(name) !== undefined || (this.#parent?.seesRelation(name) ?? false);
  }

  #names(): readonly string[] {
    return this.#from.relations.flatMap((relation) => relation.columns.map((column) => column.name));
  }
}

/** A column by its bare name; labels are looked up later, where no relation has a column of that name. */
export function lookup(from: FromScope, name: string, at: number | undefined): Expr | undefined {
  const merged = from.merged.get(name);
  if (merged !== undefined) return merged;
  const found = from.relations.flatMap((relation) =>
    relation.columns.filter((column) => isNamed(column.name, name)),
  );
  if (found.length > 1) throw ambiguous(name, at);
  const [column] = found;
  if (column !== undefined) return column.expr();
  const named = from.relations.find((each) => each.name !== undefined && isNamed(each.name, name));
  return named?.value?.();
}

const ambiguous = (name: string, at: number | undefined): Error =>
  sqlError('sql_ambiguous', `column reference "${name}" is ambiguous`, at);

const tooFar = (name: string, at: number | undefined): Error =>
  unsupported(`A reference to "${name}" of an outer query from here`, at);

function markOuter(expr: Expr): Expr {
  if (expr.kind === 'column') return { ...expr, outer: true };
  if (expr.kind === 'mixed') {
    return { ...expr, column: (type) => ({ ...expr.column(type), outer: true }) };
  }
  return expr.kind === 'apply' ? { ...expr, args: expr.args.map(markOuter) } : expr;
}
