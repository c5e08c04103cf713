import { children, some } from '../build.ts';
import { exprKey } from '../expr-key.ts';
import { isSet } from '../functions/set-returning.ts';
import type { Expr, SelectIr } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { isGrouped } from './grouping.ts';

/**
 * A function that gives rows may stand in SELECT, as an item of its own, and once. The store makes the rows
 * before it groups, PostgreSQL after, so in a grouped query it must be a key.
 */
export function checkSets(ir: SelectIr): void {
  const keys = ir.groupingSets.flat();
  const exprs = [...ir.items, ...keys, ...ir.orderBy.map((sort) => sort.expr), ...ir.distinctOn];
  const withSets = exprs.filter((expr) => some(expr, isSet));
  if (withSets.length === 0) return;
  // PostgreSQL takes one row of each before it makes the rows.
  if (ir.distinctOn.length > 0) throw unsupported('A function that gives rows beside DISTINCT ON');
  if (withSets.some((expr) => children(expr).some((child) => some(child, isSet)))) {
    throw unsupported('A function that gives rows inside an expression');
  }
  if (new Set(withSets.map(exprKey)).size > 1) throw unsupported('More than one function that gives rows');
  const isWindow = (expr: Expr): boolean => expr.kind === 'aggregate' && expr.over !== undefined;
  if (exprs.some((expr) => some(expr, isWindow))) {
    throw unsupported('A function that gives rows beside a window function');
  }
  const grouped = new Set(keys.map(exprKey));
  if (isGrouped(ir) && withSets.some((expr) => !grouped.has(exprKey(expr)))) {
    throw sqlError('sql_unsupported', 'A function that gives rows must be in GROUP BY in a grouped query');
  }
}
