import type { Query } from '../ast.ts';
import { allOf, apply, children, isConstant, some } from '../build.ts';
import { coerce, isImplicit } from '../coerce.ts';
import { sortedTuples } from '../functions/aggregates/ordered-aggregates.ts';
import type { Aggregate, Expr, QueryIr, SelectIr, Subquery } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { bool, commonType, int8, type SqlType, typeLabel } from '../types.ts';
import { correlatedAggregate } from './correlated-aggregate.ts';
import { checkOuterNulls } from './correlation.ts';
import type { ExpressionContext } from './expression-context.ts';
import { isGrouped } from './grouping.ts';
import { coerceOutputs } from './outputs.ts';

type Form = Pick<Subquery, 'form' | 'type' | 'query'> & Partial<Pick<Subquery, 'arg' | 'zeroWhenEmpty'>>;

const subquery = (form: Form, context: ExpressionContext): Subquery => ({
  kind: 'subquery',
  id: context.env.alias(),
  arg: undefined,
  zeroWhenEmpty: false,
  threeValued: true,
  ...form,
});

/** One column, at most one row; no row gives NULL. */
export function resolveScalarSubquery(ast: Query, context: ExpressionContext, at: number | undefined): Expr {
  const { query, correlated } = context.query(ast, context, context.scope, true);
  const type = onlyColumn(query, at);
  if (!correlated) return subquery({ form: 'scalar', type, query }, context);
  if (
    query.kind !== 'select' ||
    query.groupingSets.length > 0 ||
    query.having !== undefined ||
    query.distinct
  ) {
    throw unsupported('A correlated scalar subquery with DISTINCT, GROUP BY, HAVING or a set operation', at);
  }
  const [item] = query.items;
  if (item === undefined) throw new Error('BUG: the columns were counted');
  // Of aggregates, the columns of the query around are computed with outside.
  checkOuterNulls(isGrouped(query) ? { ...query, items: aggregatesIn(item) } : query, at);
  if (!isGrouped(query))
    return subquery({ form: 'scalar', type, query: firstRow(query, item, context, at) }, context);
  if (hasLimit(query)) throw unsupported('A correlated scalar subquery with LIMIT beside an aggregate', at);
  return splitAggregates(item, { ...query, orderBy: [] }, context);
}

/**
 * In the store a correlated subquery without rows is NULL whatever it computes: so each aggregate becomes a
 * subquery of its own, of which `count` gives 0, and what is computed of them stands outside.
 */
function splitAggregates(item: Expr, query: SelectIr, context: ExpressionContext): Expr {
  if (item.kind === 'aggregate') {
    if (item.over !== undefined) throw unsupported('A window function in a correlated scalar subquery');
    const single = correlatedAggregate(query, item, context.env);
    const zeroWhenEmpty = item.name.startsWith('count');
    return subquery({ form: 'scalar', type: item.type, query: single, zeroWhenEmpty }, context);
  }
  if (item.kind === 'column') return { ...item, outer: false };
  if (item.kind === 'subquery')
    throw unsupported('A subquery beside aggregates in a correlated scalar subquery');
  return item.kind === 'apply'
    ? { ...item, args: item.args.map((arg) => splitAggregates(arg, query, context)) }
    : item;
}

/** Raises the engine's own error for it (src/Common/ErrorCodes.cpp, INCORRECT_RESULT_OF_SCALAR_SUBQUERY). */
const tooManyRows = "throwIf(length(t) > 1, 'more than one row returned by a subquery', toInt16(125)) != 0";

/**
 * The value of the only row, or of the first one by ORDER BY … LIMIT 1. It is taken by an aggregate, since
 * the store joins groups to the query around them, and would not say that there are several rows.
 */
function firstRow(query: SelectIr, item: Expr, context: ExpressionContext, at: number | undefined): SelectIr {
  const { orderBy, limit, offset } = query;
  if (offset !== undefined || (limit !== undefined && limit !== 1) || query.distinctOn.length > 0) {
    throw unsupported('A correlated scalar subquery with OFFSET, or LIMIT other than 1', at);
  }
  if (some(item, (each) => each.kind === 'aggregate' || (each.kind === 'column' && each.outer))) {
    throw unsupported('A correlated scalar subquery that gives columns of the query around it', at);
  }
  const sorts = limit === undefined ? [] : orderBy;
  const gather: Aggregate = {
    kind: 'aggregate',
    type: item.type,
    name: 'first row',
    render: (...values) => `groupArray(tuple(${values.join(', ')}))`,
    args: [item, ...sorts.map((sort) => sort.expr)],
    distinct: false,
    filter: undefined,
    over: undefined,
    finish: (tuples) => {
      const first = `tupleElement(${sorts.length === 0 ? 't' : sortedTuples('t', sorts)}[1], 1)`;
      const checked = limit === undefined ? `if(${tooManyRows}, NULL, ${first})` : first;
      return `arrayMap(t -> ${checked}, [${tuples}])[1]`;
    },
  };
  const all = { ...query, orderBy: [], limit: undefined };
  // The first of a row and its repetitions is that row.
  return limit === undefined ? correlatedAggregate(all, gather, context.env) : { ...all, items: [gather] };
}

export function resolveExists(ast: Query, context: ExpressionContext, at: number | undefined): Expr {
  const { query, correlated } = context.query(ast, context, context.scope, true);
  if (!correlated) return subquery({ form: 'exists', type: bool, query }, context);
  if (query.kind !== 'select' || query.offset !== undefined || query.limit === 0) {
    throw unsupported('A correlated EXISTS with OFFSET, LIMIT 0 or a set operation', at);
  }
  if (isGrouped(query)) throw unsupported('A correlated EXISTS with aggregates', at);
  checkOuterNulls({ ...query, items: [], orderBy: [] }, at);
  return exists(query, query.where === undefined ? [] : [query.where], context);
}

/** Of the rows that satisfy these conditions; what the subquery selects, in which order, changes nothing. */
const exists = (query: SelectIr, conditions: readonly Expr[], context: ExpressionContext): Subquery => {
  const rows: SelectIr = {
    ...query,
    columns: [{ name: '', type: int8 }],
    items: [apply('1', int8, () => '1')],
    distinct: false,
    distinctOn: [],
    where: allOf(conditions),
    orderBy: [],
    limit: undefined,
  };
  return subquery({ form: 'exists', type: bool, query: rows }, context);
};

function aggregatesIn(expr: Expr): readonly Expr[] {
  return expr.kind === 'aggregate' ? [expr] : children(expr).flatMap(aggregatesIn);
}

export function resolveInSubquery(
  arg: Expr,
  ast: Query,
  context: ExpressionContext,
  at: number | undefined,
): Expr {
  const { query, correlated } = context.query(ast, context, context.scope, true);
  const columnType = onlyColumn(query, at);
  const type = commonType([arg.type, columnType]);
  if (type === undefined || !isImplicit(columnType, type)) {
    const types = `${typeLabel(arg.type)} and ${typeLabel(columnType)}`;
    throw sqlError('sql_type', `IN (subquery): types ${types} cannot be matched`, at);
  }
  const values = coerceOutputs(query, [type]);
  const value = coerce(arg, type, at);
  if (correlated) return inCorrelated(value, values, context, at);
  return subquery({ form: 'in', type: bool, query: values, arg: value }, context);
}

const correlatedIn = 'in correlated';

/** Its first part alone says whether it is true. */
export const isCorrelatedIn = (expr: Expr): boolean => expr.kind === 'apply' && expr.name === correlatedIn;

/** As EXISTS: true if a value is equal, NULL if one might be, were it or the left side not NULL. */
function inCorrelated(value: Expr, query: QueryIr, context: ExpressionContext, at: number | undefined): Expr {
  const [item] = query.kind === 'select' ? query.items : [];
  if (query.kind !== 'select' || item === undefined || isGrouped(query) || hasLimit(query)) {
    throw unsupported('A correlated IN (subquery) with aggregates, LIMIT or a set operation', at);
  }
  const outer = asOuter(value, at);
  const conditions = query.where === undefined ? [] : [query.where];
  const isEqual = apply('in =', bool, (a, b) => `(${a} = ${b})`, item, outer);
  const isMissing = apply('is null', bool, (a) => `isNull(${a})`, item);
  checkOuterNulls({ ...query, items: [item], where: allOf(conditions), orderBy: [] }, at);
  return apply(
    correlatedIn,
    bool,
    (found, withNull, some, left) =>
      `multiIf(${found}, true, ${withNull}, NULL, isNull(${left}) AND ${some}, NULL, false)`,
    exists(query, [...conditions, isEqual], context),
    exists(query, [...conditions, isMissing], context),
    exists(query, conditions, context),
    value,
  );
}

/** An expression of the query around, as the subquery sees it. */
function asOuter(expr: Expr, at: number | undefined): Expr {
  if (expr.kind === 'column') return { ...expr, outer: true };
  if (isConstant(expr)) return expr;
  if (expr.kind === 'apply') return { ...expr, args: children(expr).map((child) => asOuter(child, at)) };
  throw unsupported('An aggregate or a subquery on the left side of a correlated IN (subquery)', at);
}

function onlyColumn(query: QueryIr, at: number | undefined): SqlType {
  const [column, second] = query.columns;
  if (column !== undefined && second === undefined) return column.type;
  throw sqlError('sql_syntax', `subquery must return one column, not ${query.columns.length}`, at);
}

const hasLimit = (query: QueryIr): boolean =>
  query.kind === 'select' && (query.limit !== undefined || query.offset !== undefined);
