import { spend } from '../budget.ts';
import type { Column, Expr, FromIr, QueryIr, SelectIr, Sort } from '../ir.ts';

/**
 * Puts other expressions in the place of columns, in an expression and in the subqueries that name columns of
 * the query around them.
 */
export interface Replacement {
  /** Undefined: the expression stays, and what is below it is looked at. */
  readonly own: (expr: Expr) => Expr | undefined;
  /** For a column of the query around a subquery. */
  readonly outer: (column: Column) => Expr;
}

export function replaceIn(expr: Expr, to: Replacement): Expr {
  spend('steps');
  const replaced = to.own(expr);
  if (replaced !== undefined) return replaced;
  const each = (child: Expr): Expr => replaceIn(child, to);
  switch (expr.kind) {
    case 'apply':
      return { ...expr, args: expr.args.map(each) };
    case 'aggregate':
      return {
        ...expr,
        args: expr.args.map(each),
        filter: expr.filter && each(expr.filter),
        over: expr.over && {
          ...expr.over,
          partitionBy: expr.over.partitionBy.map(each),
          orderBy: expr.over.orderBy.map((sort) => replaceInSort(sort, each)),
        },
      };
    case 'subquery': {
      const query = expr.correlated ? replaceOuter(expr.query, to.outer) : expr.query;
      return { ...expr, arg: expr.arg && each(expr.arg), query };
    }
    default:
      return expr;
  }
}

const replaceInSort = (sort: Sort, each: (expr: Expr) => Expr): Sort => ({ ...sort, expr: each(sort.expr) });

/**
 * The columns of the query around, in all of a subquery. In a subquery of the subquery they are columns of
 * that one.
 */
function replaceOuter(query: QueryIr, to: Replacement['outer']): QueryIr {
  const own = (expr: Expr): Expr | undefined => (expr.kind === 'column' && expr.outer ? to(expr) : undefined);
  const each = (expr: Expr): Expr => replaceIn(expr, { own, outer: (column) => column });
  switch (query.kind) {
    case 'select':
      return replaceInSelect(query, each, (from) => replaceInFrom(from, each, to));
    case 'values':
      return { ...query, rows: query.rows.map((row) => row.map(each)) };
    case 'set':
      return { ...query, left: replaceOuter(query.left, to), right: replaceOuter(query.right, to) };
  }
}

/** @param inFrom what becomes of FROM */
export function replaceInSelect(
  query: SelectIr,
  each: (expr: Expr) => Expr,
  inFrom: (from: FromIr) => FromIr,
): SelectIr {
  return {
    ...query,
    items: query.items.map(each),
    from: query.from && inFrom(query.from),
    where: query.where && each(query.where),
    groupingSets: query.groupingSets.map((keys) => keys.map(each)),
    having: query.having && each(query.having),
    orderBy: query.orderBy.map((sort) => replaceInSort(sort, each)),
    distinctOn: query.distinctOn.map(each),
    ...(query.limitBy === undefined ? {} : { limitBy: query.limitBy.map(each) }),
  };
}

function replaceInFrom(from: FromIr, each: (expr: Expr) => Expr, to: Replacement['outer']): FromIr {
  switch (from.kind) {
    case 'derived':
      return { ...from, query: replaceOuter(from.query, to) };
    case 'join':
      return {
        ...from,
        left: replaceInFrom(from.left, each, to),
        right: replaceInFrom(from.right, each, to),
        on: from.on && each(from.on),
      };
    case 'unnest':
      return {
        ...from,
        input: from.input && replaceInFrom(from.input, each, to),
        arrays: from.arrays.map(each),
      };
    default:
      return from;
  }
}
