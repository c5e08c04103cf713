import { children, some } from '../build.ts';
import type { Column, Expr, SelectIr } from '../ir.ts';
import { unsupported } from '../sql-error.ts';
import { conjuncts } from './pushdown.ts';

/**
 * The store joins a correlated subquery to the query around it by equality of the columns that it takes from
 * there, so where one of these is NULL it finds no row. That is right if a condition on the column is true
 * for no NULL, and refused if it is not.
 * @throws AppError `sql_unsupported`, which names the column
 */
export function checkOuterNulls(query: SelectIr, at: number | undefined): void {
  const exprs = [...query.items, ...query.orderBy.map((sort) => sort.expr)];
  const conditions = query.where === undefined ? [] : conjuncts(query.where);
  const needed = new Set(conditions.flatMap((condition) => [...columnsNeeded(condition)]));
  for (const column of [...exprs, ...conditions].flatMap(outerColumns)) {
    if (needed.has(keyOf(column))) continue;
    throw unsupported(
      `A correlated subquery that takes "${column.label}", which may be NULL, without a comparison that it must satisfy`,
      at,
    );
  }
}

function outerColumns(expr: Expr): readonly Column[] {
  const found: Column[] = [];
  some(expr, (each) => {
    if (each.kind === 'column' && each.outer) found.push(each);
    return false;
  });
  return found;
}

/** Operations whose result is NULL if an operand is. */
const strict = /^(compare |operator |cast |timestamp |date |in =|I?LIKE|match |date_trunc |concat$)/;

const keyOf = ({ relation, name }: Column): string => `${relation}.${name}`;

/** The columns for whose NULL an expression is NULL. */
function* columnsNeeded(expr: Expr): Generator<string> {
  if (expr.kind === 'column') yield keyOf(expr);
  if (expr.kind === 'apply' && strict.test(expr.name)) {
    for (const child of children(expr)) yield* columnsNeeded(child);
  }
}
