import { apply, children, integerOf, some } from '../build.ts';
import { exprKey } from '../expr-key.ts';
import type { Aggregate, Expr, SelectIr, Sort } from '../ir.ts';
import { sqlError } from '../sql-error.ts';
import { int4 } from '../types.ts';

export const isAggregate = (expr: Expr): boolean => expr.kind === 'aggregate' && expr.over === undefined;
export const hasAggregate = (expr: Expr): boolean => some(expr, isAggregate);

/** True if rows are brought together. */
export function isGrouped({ groupingSets, having, items, orderBy, distinctOn }: SelectIr): boolean {
  const outputs = [...items, ...orderBy.map((sort) => sort.expr), ...distinctOn];
  return groupingSets.length > 0 || having !== undefined || outputs.some(hasAggregate);
}

/**
 * Checks that a grouped query has nothing but grouped expressions, aggregates and what is made of them.
 * @param items the output columns with their places in the text
 * @throws AppError `sql_grouping`, which names the column
 */
export function checkGrouping(
  ir: SelectIr,
  items: readonly { readonly expr: Expr; readonly at: number | undefined }[],
): void {
  if (!isGrouped(ir)) return;
  const keys = new Set(ir.groupingSets.flat().map(exprKey));
  for (const { expr, at } of items) checkGrouped(expr, keys, at);
  if (ir.having !== undefined) checkGrouped(ir.having, keys, undefined);
  for (const sort of ir.orderBy) checkGrouped(sort.expr, keys, undefined);
  for (const expr of ir.distinctOn) checkGrouped(expr, keys, undefined);
}

function checkGrouped(expr: Expr, groupKeys: ReadonlySet<string>, at: number | undefined): void {
  if (isGroupingCall(expr)) checkGroupingCall(expr, groupKeys, at);
  if (groupKeys.has(exprKey(expr)) || isAggregate(expr)) return;
  if (expr.kind === 'column' && !expr.outer) {
    throw sqlError(
      'sql_grouping',
      `column "${expr.label}" must appear in the GROUP BY clause or be used in an aggregate function`,
      at,
    );
  }
  for (const child of children(expr)) checkGrouped(child, groupKeys, at);
}

/**
 * Keeps group keys that are arithmetic apart from the operations around them: these would be computed
 * together with it, and the store would not find its key again. Of an interval, the length is grouped by, and
 * nothing else is left.
 */
export function keepKeys(ir: SelectIr): SelectIr {
  const isArithmetic = (key: Expr): boolean =>
    key.kind === 'apply' && (key.arithmetic !== undefined || key.ofParts === true);
  const keys = new Set(ir.groupingSets.flat().filter(isArithmetic).map(exprKey));
  if (keys.size === 0) return ir;
  const keep = (expr: Expr): Expr => keepIn(expr, keys);
  const keepSort = (sort: Sort): Sort => ({ ...sort, expr: keep(sort.expr) });
  return {
    ...ir,
    items: ir.items.map(keep),
    having: ir.having && keep(ir.having),
    orderBy: ir.orderBy.map(keepSort),
    distinctOn: ir.distinctOn.map(keep),
  };
}

function keepIn(expr: Expr, keys: ReadonlySet<string>): Expr {
  const keep = (each: Expr): Expr => keepIn(each, keys);
  if (expr.kind === 'apply') {
    if (keys.has(exprKey(expr))) return apply('group key', expr.type, (key) => key, expr);
    return { ...expr, args: expr.args.map(keep) };
  }
  if (expr.kind !== 'aggregate' || expr.over === undefined) return expr;
  const { partitionBy, orderBy, frame } = expr.over;
  const over = {
    partitionBy: partitionBy.map(keep),
    orderBy: orderBy.map((sort) => ({ ...sort, expr: keep(sort.expr) })),
    frame,
  };
  return { ...expr, args: expr.args.map(keep), filter: expr.filter && keep(expr.filter), over };
}

/** What rows are grouped by for an expression: of a decimal, its integer, which is much quicker. */
export const groupedBy = (expr: Expr): Expr => integerOf(expr) ?? expr;

export const isGroupingCall = (expr: Expr): boolean => expr.kind === 'aggregate' && expr.name === 'grouping';

function checkGroupingCall(expr: Expr, groupKeys: ReadonlySet<string>, at: number | undefined): void {
  if (children(expr).every((arg) => groupKeys.has(exprKey(arg)))) return;
  throw sqlError('sql_grouping', 'arguments to GROUPING must be grouping expressions', at);
}

/** Of one set, `GROUPING` is 0; the store would not find a key that is a constant. */
export function withoutGrouping(ir: SelectIr): SelectIr {
  if (ir.groupingSets.length !== 1) return ir;
  return {
    ...ir,
    items: ir.items.map(asGrouped),
    having: ir.having && asGrouped(ir.having),
    orderBy: ir.orderBy.map((sort) => ({ ...sort, expr: asGrouped(sort.expr) })),
    distinctOn: ir.distinctOn.map(asGrouped),
  };
}

function asGrouped(expr: Expr): Expr {
  if (isGroupingCall(expr)) return apply('grouping of one set', int4, () => 'toInt32(0)');
  if (!some(expr, isGroupingCall)) return expr;
  if (expr.kind === 'apply') return { ...expr, args: expr.args.map(asGrouped) };
  if (expr.kind !== 'aggregate') return expr;
  return { ...expr, args: expr.args.map(asGrouped) };
}

/** `GROUPING (a, b)`: a bit for each argument, 1 where the row is not grouped by it, the last one lowest. */
export const groupingCall = (args: readonly Expr[]): Aggregate => ({
  kind: 'aggregate',
  type: int4,
  name: 'grouping',
  render: (...keys) => `grouping(${keys.join(', ')})`,
  args: args.map(groupedBy),
  distinct: false,
  filter: undefined,
  over: undefined,
  finish: (a) => `toInt32(${a})`,
});
