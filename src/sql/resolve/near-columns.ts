import { children, some } from '../build.ts';
import type { Column, Expr, SelectIr } from '../ir.ts';
import { unsupported } from '../sql-error.ts';
import { columnKey } from './correlation.ts';
import { conjuncts } from './pushdown.ts';
import { replaceIn, replaceInSelect } from './replace-columns.ts';

/**
 * The store joins a subquery with the query directly around it, not over two levels. Where that one says
 * that a column of its own equals the column of the query farther out, all of its rows have the same value
 * in both, so the subquery takes the nearer one.
 * @throws AppError `sql_unsupported` where there is no such equality
 */
export function withNearColumns(select: SelectIr): SelectIr {
  const subqueries = { own: () => undefined };
  let found = false;
  const look = (column: Column): Expr => {
    found ||= column.far !== undefined;
    return column;
  };
  replaceInSelect(
    select,
    (expr) => (hasSubquery(expr) ? replaceIn(expr, { ...subqueries, outer: look }) : expr),
    (from) => from,
  );
  if (!found) return select;
  const near = nearBy(select);
  const outer = (column: Column): Expr => {
    if (column.far === undefined) return column;
    const own = near.get(columnKey(column));
    if (own !== undefined) return { ...own, outer: true };
    throw unsupported(
      `A reference to "${column.label}" of a query two levels above, which the query between does not compare with "=" with a column of its own,`,
      column.far.at,
    );
  };
  return replaceInSelect(
    select,
    (expr) => withoutFarNulls(replaceIn(expr, { ...subqueries, outer })),
    (from) => from,
  );
}

const hasSubquery = (expr: Expr): boolean =>
  some(expr, (each) => each.kind === 'subquery' && each.correlated);

/** Columns of the query by those of the query around it to which they are equal. */
function nearBy({ where }: SelectIr): ReadonlyMap<string, Column> {
  const near = new Map<string, Column>();
  for (const condition of where === undefined ? [] : conjuncts(where)) {
    if (condition.kind !== 'apply' || condition.name !== 'compare =') continue;
    const columns = children(condition).filter((each) => each.kind === 'column');
    const outer = columns.find((each) => each.outer && each.far === undefined);
    const own = columns.find((each) => !each.outer);
    if (outer !== undefined && own !== undefined && outer.type.name === own.type.name) {
      near.set(columnKey(outer), own);
    }
  }
  return near;
}

/** What equals something is no NULL. */
function withoutFarNulls(expr: Expr): Expr {
  if (expr.kind === 'subquery') {
    return { ...expr, nullable: expr.nullable.filter((column) => column.far === undefined) };
  }
  if (expr.kind === 'apply') return { ...expr, args: expr.args.map(withoutFarNulls) };
  if (expr.kind !== 'aggregate') return expr;
  return {
    ...expr,
    args: expr.args.map(withoutFarNulls),
    filter: expr.filter && withoutFarNulls(expr.filter),
  };
}
