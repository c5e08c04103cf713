import { allOf, apply, children, columnOf, some } from '../build.ts';
import { exprKey } from '../expr-key.ts';
import { isSet } from '../functions/set-returning.ts';
import { type Column, type Expr, outputName, type SelectIr, type Sort, type Subquery } from '../ir.ts';
import { unsupported } from '../sql-error.ts';
import { bool } from '../types.ts';
import { columnKey } from './correlation.ts';
import type { Environment } from './environment.ts';
import { isAggregate, isGrouped } from './grouping.ts';
import { conjuncts } from './pushdown.ts';
import { RowsInFrom } from './rows-in-from.ts';
import { plainSelect } from './subquery.ts';

/**
 * The store runs correlated subqueries in SELECT, WHERE and HAVING alone, and finds no row where a column
 * that they take from the query around them is NULL. So the query is taken apart: what stands elsewhere
 * becomes a column of a query in FROM, and a column whose NULLs are to be seen is handed on as two that have
 * none.
 * @param isCorrelatedItself whether the query names columns of one around it
 * @throws AppError `sql_unsupported`
 */
export function placeSubqueries(select: SelectIr, env: Environment, isCorrelatedItself: boolean): SelectIr {
  const placed = beforeOrder(withoutNulls(beforeGroups(select, env), env), env);
  // What links it to the query around would no longer stand where it is looked for.
  if (placed !== select && isCorrelatedItself) {
    throw unsupported(
      'A correlated subquery inside of another one, in GROUP BY, ORDER BY, an aggregate or a window, or over a column that may be NULL,',
    );
  }
  return placed;
}

const isCorrelated = (expr: Expr): boolean => expr.kind === 'subquery' && expr.correlated;

function* expressionsOf(select: SelectIr): Generator<Expr> {
  yield* select.items;
  if (select.where !== undefined) yield select.where;
  yield* select.groupingSets.flat();
  if (select.having !== undefined) yield select.having;
  yield* select.orderBy.map((sort) => sort.expr);
  yield* select.distinctOn;
}

function subqueriesIn(expr: Expr): readonly Subquery[] {
  const own = expr.kind === 'subquery' && expr.correlated ? [expr] : [];
  return [...own, ...children(expr).flatMap(subqueriesIn)];
}

/** Those in the keys of groups, and in aggregates and windows. */
function subqueriesBeforeGroups(select: SelectIr): readonly Subquery[] {
  const isWindow = (expr: Expr): boolean => expr.kind === 'aggregate' && expr.over !== undefined;
  const inCalls = (expr: Expr): readonly Subquery[] => {
    if (isAggregate(expr) || isWindow(expr)) return children(expr).flatMap(subqueriesIn);
    return children(expr).flatMap(inCalls);
  };
  const outputs = [
    ...select.items,
    ...(select.having === undefined ? [] : [select.having]),
    ...select.orderBy.map((sort) => sort.expr),
    ...select.distinctOn,
  ];
  return [...select.groupingSets.flat().flatMap(subqueriesIn), ...outputs.flatMap(inCalls)];
}

/** The rows with what the subqueries give for them, to be grouped by the query around. */
function beforeGroups(select: SelectIr, env: Environment): SelectIr {
  const moved = new Map(subqueriesBeforeGroups(select).map((each) => [exprKey(each), each] as const));
  if (moved.size === 0) return select;
  const hasWindow = (expr: Expr): boolean => expr.kind === 'aggregate' && expr.over !== undefined;
  if (isGrouped(select) && [...expressionsOf(select)].some((expr) => some(expr, hasWindow))) {
    throw unsupported(
      'A correlated subquery in GROUP BY, an aggregate or a window, beside GROUP BY and windows',
    );
  }
  const { from, where } = select;
  const rows = new RowsInFrom(env.alias());
  const outer = { ...select, from: undefined, where: undefined };
  const result = rows.over(outer, (expr) => (moved.has(exprKey(expr)) ? rows.place(expr) : undefined));
  const inner = withoutNulls({ ...plainSelect(rows.items), from, where }, env);
  return { ...result, from: { kind: 'derived', alias: rows.alias, query: inner } };
}

/** Columns whose NULLs a subquery must see are handed on to it as a value and whether it is there. */
function withoutNulls(select: SelectIr, env: Environment): SelectIr {
  const all = [...expressionsOf(select)].flatMap(subqueriesIn);
  const nullable = new Map(
    all.flatMap((each) => each.nullable).map((each) => [columnKey(each), each] as const),
  );
  const [first] = nullable.values();
  if (first === undefined) return select;
  if (isGrouped(select)) {
    throw unsupported(
      `A correlated subquery beside GROUP BY that takes "${first.label}", which may be NULL, without a comparison that it must satisfy`,
    );
  }
  const conditions = select.where === undefined ? [] : conjuncts(select.where);
  const later = conditions.filter((each) => subqueriesIn(each).some((one) => one.nullable.length > 0));
  const rows = new RowsInFrom(env.alias());
  const outer = (column: Column): Expr => {
    const own = { ...column, outer: false };
    if (!nullable.has(columnKey(column))) return { ...rows.place(own), outer: true };
    const value = rows.place(apply('value', column.type, (a) => `assumeNotNull(${a})`, own));
    const isThere = rows.place(apply('is there', bool, (a) => `isNotNull(${a})`, own));
    return apply(
      'outer value',
      column.type,
      (is, a) => `if(${is}, ${a}, NULL)`,
      { ...isThere, outer: true },
      { ...value, outer: true },
    );
  };
  const rest = { ...select, from: undefined, where: allOf(later) };
  const result = rows.over(rest, () => undefined, outer);
  const inner = {
    ...plainSelect(rows.items),
    from: select.from,
    where: allOf(conditions.filter((each) => !later.includes(each))),
  };
  return { ...result, from: { kind: 'derived', alias: rows.alias, query: inner } };
}

/** What the rows are sorted by, and told apart by, is a column behind those that are shown. */
function beforeOrder(select: SelectIr, env: Environment): SelectIr {
  const keys = [...select.orderBy.map((sort) => sort.expr), ...select.distinctOn];
  if (!keys.some((expr) => some(expr, isCorrelated))) return select;
  if (select.items.some((item) => some(item, isSet))) {
    throw unsupported('A correlated subquery in ORDER BY or DISTINCT ON, beside rows of a function');
  }
  const rows = new RowsInFrom(env.alias());
  const shown = select.items.map((item, index): Expr => {
    rows.items.push(item);
    return columnOf(rows.alias, outputName(index), item.type, select.columns[index]?.name ?? '');
  });
  const keyed = new Map(select.items.map((item, index) => [exprKey(item), shown[index]] as const));
  const key = (expr: Expr): Expr => keyed.get(exprKey(expr)) ?? rows.place(expr);
  const orderBy = select.orderBy.map((sort): Sort => ({ ...sort, expr: key(sort.expr) }));
  const distinctOn = select.distinctOn.map(key);
  const { items } = rows;
  const inner: SelectIr = {
    ...select,
    columns: items.map(({ type }) => ({ name: '', type })),
    items,
    orderBy: [],
    distinctOn: [],
    limit: undefined,
    offset: undefined,
    withTies: false,
  };
  return {
    ...plainSelect(shown),
    columns: select.columns,
    distinctOn,
    from: { kind: 'derived', alias: rows.alias, query: inner },
    orderBy,
    limit: select.limit,
    offset: select.offset,
    withTies: select.withTies === true,
  };
}
