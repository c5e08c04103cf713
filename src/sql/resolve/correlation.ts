import { children, some } from '../build.ts';
import type { Column, Expr, SelectIr } from '../ir.ts';
import { conjuncts } from './pushdown.ts';

/**
 * The store joins a correlated subquery to the query around it by equality of the columns that it takes from
 * there, so where one of these is NULL it finds no row. That is right if a condition on the column is true
 * for no NULL.
 * @returns the columns for which it is not; `outer-nulls.ts` hands them on in a form without NULLs
 */
export function nullableOuterColumns(query: SelectIr): readonly Column[] {
  const exprs = [...query.items, ...query.orderBy.map((sort) => sort.expr)];
  const conditions = query.where === undefined ? [] : conjuncts(query.where);
  const needed = new Set(conditions.flatMap((condition) => [...columnsNeeded(condition)]));
  const found = new Map<string, Column>();
  for (const column of [...exprs, ...conditions].flatMap(outerColumns)) {
    // An array that is NULL is an empty one in the store.
    if (!needed.has(columnKey(column)) && column.type.name !== 'array') found.set(columnKey(column), column);
  }
  return [...found.values()];
}

export function outerColumns(expr: Expr): readonly Column[] {
  const found: Column[] = [];
  some(expr, (each) => {
    if (each.kind === 'column' && each.outer) found.push(each);
    return false;
  });
  return found;
}

/** Operations whose result is NULL if an operand is. */
const strict = /^(compare |operator |cast |timestamp |date |in =|I?LIKE|match |date_trunc |concat$)/;

export const columnKey = ({ relation, name }: Column): string => `${relation}.${name}`;

/** The columns for whose NULL an expression is NULL. */
function* columnsNeeded(expr: Expr): Generator<string> {
  if (expr.kind === 'column') yield columnKey(expr);
  if (expr.kind === 'apply' && strict.test(expr.name)) {
    for (const child of children(expr)) yield* columnsNeeded(child);
  }
}
