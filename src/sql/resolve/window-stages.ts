import { children, some } from '../build.ts';
import { exprKey } from '../expr-key.ts';
import type { Expr, SelectIr } from '../ir.ts';
import { unsupported } from '../sql-error.ts';
import type { Environment } from './environment.ts';
import { isAggregate, isGrouped, keepKeys } from './grouping.ts';
import { RowsInFrom } from './rows-in-from.ts';
import { plainSelect } from './subquery.ts';

const isWindow = (expr: Expr): boolean => expr.kind === 'aggregate' && expr.over !== undefined;

/**
 * A window by what another window computes, as frames in groups of peers are. The store takes no window
 * inside of another: those inside become columns of a query in FROM, together with the groups.
 */
export function windowsInStages(select: SelectIr, env: Environment): SelectIr {
  const nested = new Set<string>();
  const visit = (expr: Expr, inWindow: boolean): void => {
    if (expr.kind === 'column' || expr.kind === 'literal') return;
    if (inWindow && isWindow(expr)) nested.add(exprKey(expr));
    for (const child of children(expr)) visit(child, inWindow || isWindow(expr));
  };
  const outputs = [...select.items, ...select.orderBy.map((sort) => sort.expr), ...select.distinctOn];
  for (const expr of outputs) visit(expr, false);
  if (nested.size === 0) return keepKeys(select);
  const grouped = isGrouped(select);
  if (grouped && outputs.some((expr) => some(expr, (each) => each.kind === 'subquery' && each.correlated))) {
    throw unsupported('A correlated subquery beside GROUP BY and a frame of GROUPS');
  }
  const keys = new Set(select.groupingSets.flat().map(exprKey));
  const isOfGroup = (expr: Expr): boolean => grouped && (keys.has(exprKey(expr)) || isAggregate(expr));
  const rows = new RowsInFrom(env.alias());
  const { from, where, groupingSets, having } = select;
  const result = rows.over(
    { ...select, from: undefined, where: undefined, groupingSets: [], having: undefined },
    (expr) => (nested.has(exprKey(expr)) || isOfGroup(expr) ? rows.place(expr) : undefined),
  );
  const inner = keepKeys({ ...plainSelect(rows.items), from, where, groupingSets, having });
  return { ...result, from: { kind: 'derived', alias: rows.alias, query: inner } };
}
