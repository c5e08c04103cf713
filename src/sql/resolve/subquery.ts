import type { Query } from '../ast.ts';
import { allOf, apply, children, columnOf, fromOutside, isConstant, some } from '../build.ts';
import { exprKey } from '../expr-key.ts';
import { sortedTuples } from '../functions/aggregates/ordered-aggregates.ts';
import { isSet } from '../functions/set-returning.ts';
import {
  type Aggregate,
  type Column,
  type Expr,
  outputName,
  type QueryIr,
  type SelectIr,
  type Sort,
  type Subquery,
} from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { arrayOf, bool, int4, int8, type SqlType } from '../types.ts';
import { correlatedAggregate } from './correlated-aggregate.ts';
import { nullableOuterColumns } from './correlation.ts';
import type { ExpressionContext } from './expression-context.ts';
import { isGrouped } from './grouping.ts';

type Form = Pick<Subquery, 'form' | 'type' | 'query'> &
  Partial<Pick<Subquery, 'arg' | 'zeroWhenEmpty' | 'correlated' | 'nullable'>>;

export function subquery(form: Form, context: ExpressionContext): Subquery {
  context.scope.hasCorrelatedSubqueries ||= form.correlated === true;
  return {
    kind: 'subquery',
    id: context.env.alias(),
    arg: undefined,
    zeroWhenEmpty: false,
    threeValued: true,
    correlated: false,
    nullable: [],
    ...form,
  };
}

/** One column, at most one row; no row gives NULL. */
export function resolveScalarSubquery(ast: Query, context: ExpressionContext, at: number | undefined): Expr {
  const { query, correlated } = context.query(ast, context, context.scope, true);
  const type = onlyColumn(query, at);
  context.env.subqueryNames.set(ast, query.columns[0]?.name ?? '?column?');
  if (!correlated) return subquery({ form: 'scalar', type, query }, context);
  if (query.kind !== 'select' || query.groupingSets.length > 0) {
    throw unsupported('A correlated scalar subquery with GROUP BY or a set operation', at);
  }
  const [item] = query.items;
  if (item === undefined) throw new Error('BUG: the columns were counted');
  if (!isGrouped(query)) return onlyRow(query, item, context, at);
  if (hasLimit(query)) throw unsupported('A correlated scalar subquery with LIMIT beside an aggregate', at);
  const { having } = query;
  const split = new SplitAggregates({ ...query, having: undefined, distinct: false, orderBy: [] }, context);
  const value = split.outside(item);
  if (having === undefined) return value;
  return apply('having', type, (test, a) => `if(${test}, ${a}, NULL)`, split.outside(having), value);
}

/**
 * In the store a correlated subquery without rows is NULL whatever it computes: so each aggregate becomes a
 * subquery of its own, of which `count` gives 0, and what is computed of them stands outside.
 */
class SplitAggregates {
  readonly #query: SelectIr;
  readonly #context: ExpressionContext;

  constructor(query: SelectIr, context: ExpressionContext) {
    this.#query = query;
    this.#context = context;
  }

  outside(item: Expr): Expr {
    if (item.kind === 'aggregate') return this.#single(item);
    if (item.kind === 'column') return fromOutside(item);
    if (item.kind === 'subquery')
      throw unsupported('A subquery beside aggregates in a correlated scalar subquery');
    return item.kind === 'apply' ? { ...item, args: item.args.map((arg) => this.outside(arg)) } : item;
  }

  #single(item: Aggregate): Expr {
    if (item.over !== undefined) throw unsupported('A window function in a correlated scalar subquery');
    const query = correlatedAggregate(this.#query, item, this.#context.env);
    const nullable = nullableOuterColumns({ ...this.#query, items: [item] });
    const zeroWhenEmpty = item.name.startsWith('count');
    const form = {
      form: 'scalar',
      type: item.type,
      query,
      zeroWhenEmpty,
      correlated: true,
      nullable,
    } as const;
    return subquery(form, this.#context);
  }
}

const isOuter = (expr: Expr): boolean => expr.kind === 'column' && expr.outer;

/** Columns of the query around are computed with outside, where there is a row. */
function onlyRow(query: SelectIr, item: Expr, context: ExpressionContext, at: number | undefined): Expr {
  if (!some(item, isOuter)) return firstRow(query, item, context, at);
  if (some(item, (each) => each.kind === 'subquery')) {
    throw unsupported(
      'A correlated scalar subquery that gives a subquery and columns of the query around it',
      at,
    );
  }
  const own = new Map<string, Expr>();
  const outside = (expr: Expr): Expr => {
    if (expr.kind === 'column' && !expr.outer) {
      const key = exprKey(expr);
      const value = own.get(key) ?? firstRow(query, expr, context, at);
      own.set(key, value);
      return value;
    }
    if (expr.kind === 'column') return fromOutside(expr);
    if (isConstant(expr)) return expr;
    if (expr.kind === 'apply') return { ...expr, args: children(expr).map(outside) };
    throw unsupported('A correlated scalar subquery that gives a window function', at);
  };
  const value = outside(item);
  if (query.from === undefined && query.where === undefined && !hasLimit(query)) return value;
  const isThere = firstRow(
    query,
    apply('1', int4, () => '1'),
    context,
    at,
  );
  const missing = item.type.name === 'array' ? '[]' : 'NULL';
  return apply('of a row', item.type, (one, a) => `if(isNull(${one}), ${missing}, ${a})`, isThere, value);
}

/** Raises the engine's own error for it (src/Common/ErrorCodes.cpp, INCORRECT_RESULT_OF_SCALAR_SUBQUERY). */
const tooManyRows = "throwIf(length(t) > 1, 'more than one row returned by a subquery', toInt16(125)) != 0";

/**
 * The value of the only row that ORDER BY, LIMIT and OFFSET leave. It is taken by an aggregate, since the
 * store joins groups to the query around them, and would not say that there are several rows.
 */
function firstRow(query: SelectIr, item: Expr, context: ExpressionContext, at: number | undefined): Expr {
  const isChosen = hasLimit(query);
  const rows = gatheredRows(isChosen ? query : { ...query, orderBy: [] }, item, context, at);
  const value = 'tupleElement(t[1], 1)';
  const first = item.type.name === 'array' ? value : `if(empty(t), NULL, ${value})`;
  const checked = query.limit === 1 ? first : `if(${tooManyRows}, NULL, ${first})`;
  return apply('first row', item.type, (a) => `arrayMap(t -> ${checked}, [${a}])[1]`, rows);
}

/**
 * The rows of a correlated subquery as an array of tuples, in its order, each a value and what it is sorted
 * by. There are none where the store finds none.
 */
function gatheredRows(
  query: SelectIr,
  item: Expr,
  context: ExpressionContext,
  at: number | undefined,
): Subquery {
  const { orderBy, distinctOn, distinct } = query;
  const { limit, offset } = literalCounts(query, at);
  if (distinctOn.length > 0) throw unsupported('A correlated subquery with DISTINCT ON', at);
  const sorts = orderBy;
  if ([item, ...sorts.map(({ expr }) => expr)].some((expr) => some(expr, cannotBeGathered))) {
    throw unsupported(
      'A correlated subquery that gives or sorts by window functions, rows of a function or subqueries',
      at,
    );
  }
  if (sorts.some(({ expr }) => some(expr, isOuter))) {
    throw unsupported('A correlated subquery that is sorted by columns of the query around it', at);
  }
  const collect = distinct ? 'groupUniqArray' : 'groupArray';
  const gather: Aggregate = {
    kind: 'aggregate',
    type: item.type,
    name: 'rows',
    render: (...values) => `${collect}(tuple(${values.join(', ')}))`,
    args: [item, ...sorts.map((sort) => sort.expr)],
    distinct: false,
    filter: undefined,
    over: undefined,
    finish: (tuples) => sliced(sorts.length === 0 ? tuples : sortedTuples(tuples, sorts), limit, offset),
  };
  const all = {
    ...query,
    distinct: false,
    orderBy: [],
    limit: undefined,
    offset: undefined,
    withTies: false,
  };
  const nullable = nullableOuterColumns({ ...all, items: [item] });
  // The first of a row and its repetitions is that row.
  const isRepeatable = distinct || (limit === 1 && offset === undefined);
  const single = { ...all, columns: [{ name: '', type: item.type }], items: [gather] };
  const gathered = isRepeatable ? single : correlatedAggregate(all, gather, context.env);
  return subquery({ form: 'scalar', type: item.type, query: gathered, correlated: true, nullable }, context);
}

const cannotBeGathered = (expr: Expr): boolean =>
  expr.kind === 'subquery' || expr.kind === 'aggregate' || isSet(expr);

/** What the values of the rows outside are joined to has no place for a count of rows that is computed. */
function literalCounts(
  { limit, offset, withTies }: SelectIr,
  at: number | undefined,
): { readonly limit: number | undefined; readonly offset: number | undefined } {
  if (withTies === true) throw unsupported('WITH TIES in a correlated subquery', at);
  if (typeof limit === 'object' || typeof offset === 'object') {
    throw unsupported('LIMIT or OFFSET of an expression in a correlated subquery', at);
  }
  return { limit, offset };
}

function sliced(rows: string, limit: number | undefined, offset: number | undefined): string {
  if (limit === undefined && offset === undefined) return rows;
  return `arraySlice(${rows}, ${(offset ?? 0) + 1}${limit === undefined ? '' : `, ${limit}`})`;
}

/** `ARRAY (SELECT …)`: the values of the rows in their order; an empty array where there is none. */
export function resolveArraySubquery(ast: Query, context: ExpressionContext, at: number | undefined): Expr {
  const { query, correlated } = context.query(ast, context, context.scope, true);
  onlyColumn(query, at);
  return arrayOfRows(query, correlated, context, at);
}

/** The only column of a query as an array. */
export function arrayOfRows(
  query: QueryIr,
  correlated: boolean,
  context: ExpressionContext,
  at: number | undefined,
): Expr {
  const type = query.columns[0]?.type ?? int8;
  if (type.name === 'array') throw unsupported('ARRAY (subquery) of arrays', at);
  if (!correlated) return uncorrelatedArray(query, type, context, at);
  const [item] = query.kind === 'select' ? query.items : [];
  if (query.kind !== 'select' || item === undefined || isGrouped(query)) {
    throw unsupported('A correlated ARRAY (subquery) with aggregates or a set operation', at);
  }
  if (some(item, isOuter)) {
    throw unsupported('A correlated ARRAY (subquery) that gives columns of the query around it', at);
  }
  const rows = gatheredRows(query, item, context, at);
  return apply('array of rows', arrayOf(type), (a) => `[arrayMap(t -> tupleElement(t, 1), ${a})]`, rows);
}

function uncorrelatedArray(
  query: QueryIr,
  type: SqlType,
  context: ExpressionContext,
  at: number | undefined,
): Expr {
  const sorts = query.kind === 'select' ? query.orderBy : [];
  if (sorts.some(({ expr }) => expr.type.name === 'array' || expr.type.name === 'interval')) {
    throw unsupported('ARRAY (subquery) sorted by arrays or intervals', at);
  }
  const alias = context.env.alias();
  const column = ({ type: each }: { readonly type: SqlType }, index: number): Column =>
    columnOf(alias, outputName(index), each, outputName(index));
  const wide = query.kind === 'select' ? withSortKeys(query) : query;
  const columns = wide.columns.map(column);
  const keys = sorts.map((sort, index): Sort => ({ ...sort, expr: columns[index + 1] ?? sort.expr }));
  const gather: Aggregate = {
    kind: 'aggregate',
    type: arrayOf(type),
    name: 'array of rows',
    render: (...values) => `groupArray(tuple(${values.join(', ')}))`,
    args: columns,
    distinct: false,
    filter: undefined,
    over: undefined,
    finish: (tuples) =>
      `[arrayMap(t -> tupleElement(t, 1), ${keys.length === 0 ? tuples : sortedTuples(tuples, keys)})]`,
  };
  const all: SelectIr = {
    ...plainSelect([gather]),
    from: { kind: 'derived', alias, query: wide },
  };
  return subquery({ form: 'scalar', type: arrayOf(type), query: all }, context);
}

/** What the rows are sorted by stands behind their values. The order itself is needed for LIMIT alone. */
function withSortKeys(query: SelectIr): SelectIr {
  const items = [...query.items, ...query.orderBy.map(({ expr }) => expr)];
  const isOrdered = hasLimit(query) || query.distinctOn.length > 0;
  return {
    ...query,
    columns: items.map(({ type }) => ({ name: '', type })),
    items,
    orderBy: isOrdered ? query.orderBy : [],
  };
}

/** A query of these expressions alone. */
export const plainSelect = (items: readonly Expr[]): SelectIr => ({
  kind: 'select',
  columns: items.map(({ type }) => ({ name: '', type })),
  distinct: false,
  distinctOn: [],
  items,
  from: undefined,
  where: undefined,
  groupingSets: [],
  having: undefined,
  orderBy: [],
  limit: undefined,
  offset: undefined,
});

export function resolveExists(ast: Query, context: ExpressionContext, at: number | undefined): Expr {
  const { query, correlated } = context.query(ast, context, context.scope, true);
  if (!correlated) return subquery({ form: 'exists', type: bool, query }, context);
  const isAnyRow =
    query.kind === 'select' &&
    query.offset === undefined &&
    (query.limit === undefined || (typeof query.limit === 'number' && query.limit > 0));
  if (!isAnyRow) {
    throw unsupported(
      'A correlated EXISTS with OFFSET, LIMIT 0, LIMIT of an expression or a set operation',
      at,
    );
  }
  if (isGrouped(query)) throw unsupported('A correlated EXISTS with aggregates', at);
  return exists(query, query.where === undefined ? [] : [query.where], context);
}

/** Of the rows that satisfy these conditions; what the subquery selects, in which order, changes nothing. */
export const exists = (
  query: SelectIr,
  conditions: readonly Expr[],
  context: ExpressionContext,
): Subquery => {
  const rows: SelectIr = {
    ...query,
    columns: [{ name: '', type: int8 }],
    items: [apply('1', int8, () => '1')],
    distinct: false,
    distinctOn: [],
    where: allOf(conditions),
    orderBy: [],
    limit: undefined,
    withTies: false,
  };
  const nullable = nullableOuterColumns(rows);
  return subquery({ form: 'exists', type: bool, query: rows, correlated: true, nullable }, context);
};

export function onlyColumn(query: QueryIr, at: number | undefined): SqlType {
  const [column, second] = query.columns;
  if (column !== undefined && second === undefined) return column.type;
  throw sqlError('sql_syntax', `subquery must return one column, not ${query.columns.length}`, at);
}

export const hasLimit = (query: QueryIr): boolean =>
  query.kind === 'select' && (query.limit !== undefined || query.offset !== undefined);
