import type { Expr, FromIr } from '../ir.ts';
import { sqlError } from '../sql-error.ts';
import type { ExpressionContext } from './expression-context.ts';
import type { FromScope, MergedColumn, Scope } from './scope.ts';

export interface ResolvedFrom {
  readonly ir: FromIr;
  readonly scope: FromScope;
  /** What joins it to the relations to its left, whose columns it was made with (LATERAL). */
  readonly link?: Link | undefined;
  /** Conditions of its joins that stand in WHERE, which means the same. */
  readonly conditions?: readonly Expr[];
}

export interface Link {
  readonly on: Expr;
  /** True if a row of the left side that nothing fits to is kept: then there would be a row for it, too. */
  readonly keepsLeft: boolean;
  /** What the rows must satisfy behind that. */
  readonly where: Expr | undefined;
}

/** What resolving FROM needs; its expressions get a scope of their own here. */
export type FromContext = Omit<ExpressionContext, 'scope'> & { readonly parent: Scope | undefined };

/** The names of two relations side by side. */
export const combine = (left: FromScope, right: FromScope): FromScope => ({
  relations: left.relations.with(right.relations),
  merged: combineMerged(left, right),
  hasOuterJoin: left.hasOuterJoin === true || right.hasOuterJoin === true,
  star: [...left.star, ...right.star],
});

function combineMerged(left: FromScope, right: FromScope): ReadonlyMap<string, MergedColumn> {
  if (right.merged.size === 0) return left.merged;
  const { length } = left.relations;
  const merged = new Map(left.merged);
  for (const [name, column] of right.merged) {
    const { first, end } = column;
    const isAmbiguous = column.isAmbiguous === true || left.merged.has(name);
    merged.set(name, { ...column, first: first + length, end: end + length, isAmbiguous });
  }
  return merged;
}

/** @throws AppError `sql_ambiguous` if two relations have the same name */
export function checkNames(scope: FromScope): void {
  const names = new Set<string>();
  for (const { name } of scope.relations) {
    if (name === undefined) continue;
    if (names.has(name)) throw sqlError('sql_ambiguous', `table name "${name}" specified more than once`);
    names.add(name);
  }
}
