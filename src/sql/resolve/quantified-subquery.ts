import type { Expression } from '../ast.ts';
import { and, apply, children, columnOf, isConstant, not, some } from '../build.ts';
import { coerce, condition, isImplicit } from '../coerce.ts';
import { quantified } from '../functions/arrays/arrays.ts';
import { callOperator, compare } from '../functions/operators.ts';
import { isSet } from '../functions/set-returning.ts';
import { type Aggregate, type Expr, outputName, type QueryIr } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { bool, commonType, isNumber, isTimestamp, type SqlType, typeLabel } from '../types.ts';
import type { ExpressionContext } from './expression-context.ts';
import { isGrouped } from './grouping.ts';
import { coerceOutputs } from './outputs.ts';
import { arrayOfRows, exists, hasLimit, onlyColumn, plainSelect, subquery } from './subquery.ts';

/**
 * `x = ANY (SELECT …)`, `(a, b) IN (SELECT …)`, `x > ALL (SELECT …)`. True, or with ALL false, if a row
 * decides it, else NULL if a NULL might have, else the other. ALL is that no row says the contrary.
 */
type Quantified = Extract<Expression, { readonly kind: 'quantified subquery' }>;

/** @param values of the left side: one, or those of a row */
export function resolveQuantifiedSubquery(
  expression: Quantified,
  values: readonly Expr[],
  context: ExpressionContext,
): Expr {
  const { at, quantifier, operator, query: ast } = expression;
  const { query, correlated } = context.query(ast, context, context.scope, true);
  const isIn = quantifier === 'any' ? operator === '=' : operator === '<>';
  if (expression.arg.kind === 'row') {
    if (!isIn) throw unsupported(`${labelOf(expression)} of rows`, at);
    const found = rowIn(values, query, correlated, context, at);
    return quantifier === 'any' ? found : not(found);
  }
  const [value] = values;
  if (value === undefined) throw new Error('BUG: a quantified comparison has a left side');
  const columnType = onlyColumn(query, at);
  if (isIn) {
    const found = valueIn(value, query, columnType, correlated, context, at);
    return quantifier === 'any' ? found : not(found);
  }
  const site = { name: operator, at };
  const test = (left: Expr, right: Expr): Expr =>
    condition(callOperator(operator, [left, right], site), labelOf(expression), at);
  if (correlated) {
    const contrary = (left: Expr, right: Expr): Expr => not(test(left, right));
    const found = correlatedAny(
      [value],
      query,
      ([left], [right]) => (quantifier === 'any' ? test : contrary)(part(left), part(right)),
      labelOf(expression),
      context,
      at,
    );
    return quantifier === 'any' ? found : not(found);
  }
  return isOrder(operator) && isOrdered(columnType)
    ? byBound(expression, value, query, columnType, test, context)
    : quantified(quantifier, arrayOfRows(query, false, context, at), (element) => test(value, element), site);
}

const labelOf = ({ operator, quantifier }: Quantified): string =>
  `${operator} ${quantifier.toUpperCase()} (subquery)`;

const part = (expr: Expr | undefined): Expr => {
  if (expr === undefined) throw new Error('BUG: the values were counted');
  return expr;
};

const isOrder = (operator: string): boolean => ['<', '<=', '>', '>='].includes(operator);
const isOrdered = (type: SqlType): boolean =>
  isNumber(type) || isTimestamp(type) || type.name === 'date' || type.name === 'text';

/** Of all rows, the least or the greatest value decides. */
function byBound(
  { at, operator, quantifier }: Quantified,
  value: Expr,
  query: QueryIr,
  type: SqlType,
  test: (left: Expr, right: Expr) => Expr,
  context: ExpressionContext,
): Expr {
  const alias = context.env.alias();
  const isAny = quantifier === 'any';
  const extreme = operator.startsWith('<') === isAny ? 'max' : 'min';
  const item: Aggregate = {
    kind: 'aggregate',
    type,
    name: `${extreme} and counts`,
    render: (a) => `tuple(${extreme}(${a}), count(), countIf(isNull(${a})))`,
    args: [columnOf(alias, outputName(0), type, outputName(0))],
    distinct: false,
    filter: undefined,
    over: undefined,
    finish: undefined,
  };
  const all = { ...plainSelect([item]), from: { kind: 'derived', alias, query } as const };
  const bounds = subquery({ form: 'scalar', type, query: all }, context);
  const tested = test(
    value,
    apply('bound', type, (a) => `tupleElement(${a}, 1)`, bounds),
  );
  return apply(
    `${operator} ${quantifier}`,
    bool,
    (holds, a, counts) => {
      const isEmpty = `tupleElement(${counts}, 2) = 0`;
      const decides = isAny ? `ifNull(${holds}, false)` : `NOT ifNull(${holds}, true)`;
      const isOpen = `isNull(${a}) OR tupleElement(${counts}, 3) > 0`;
      return `multiIf(${isEmpty}, ${!isAny}, ${decides}, ${isAny}, ${isOpen}, NULL, ${!isAny})`;
    },
    tested,
    coerce(value, commonType([value.type, type]) ?? type, at),
    bounds,
  );
}

function valueIn(
  value: Expr,
  query: QueryIr,
  columnType: SqlType,
  correlated: boolean,
  context: ExpressionContext,
  at: number | undefined,
): Expr {
  const type = commonInType(value.type, columnType, at);
  const rows = coerceOutputs(query, [type]);
  const left = coerce(value, type, at);
  if (!correlated) return subquery({ form: 'in', type: bool, query: rows, arg: left }, context);
  const isEqual = ([a]: readonly Expr[], [b]: readonly Expr[]): Expr =>
    apply('in =', bool, (x, y) => `(${x} = ${y})`, part(a), part(b));
  return correlatedAny([left], rows, isEqual, 'IN (subquery)', context, at);
}

function commonInType(value: SqlType, column: SqlType, at: number | undefined): SqlType {
  const type = commonType([value, column]);
  if (type !== undefined && isImplicit(column, type)) return type;
  const types = `${typeLabel(value)} and ${typeLabel(column)}`;
  throw sqlError('sql_type', `IN (subquery): types ${types} cannot be matched`, at);
}

/** `(a, b) IN (SELECT …)` */
function rowIn(
  values: readonly Expr[],
  query: QueryIr,
  correlated: boolean,
  context: ExpressionContext,
  at: number | undefined,
): Expr {
  if (query.columns.length !== values.length) {
    const what = query.columns.length < values.length ? 'few' : 'many';
    throw sqlError('sql_syntax', `subquery has too ${what} columns`, at);
  }
  const types = values.map((value, index) =>
    commonInType(value.type, query.columns[index]?.type ?? value.type, at),
  );
  if (types.some(({ name }) => name === 'array')) throw unsupported('IN (subquery) of rows with arrays', at);
  const rows = coerceOutputs(query, types);
  const left = values.map((value, index) => coerce(value, types[index] ?? value.type, at));
  const isEqual = (some: readonly Expr[], others: readonly Expr[]): Expr =>
    and(...some.map((each, index) => compare('=', each, part(others[index]), at)));
  if (correlated) return correlatedAny(left, rows, isEqual, 'IN (subquery) of rows', context, at);
  const row = apply('row', bool, (...parts) => `tuple(${parts.join(', ')})`, ...left);
  const found = subquery({ form: 'in', type: bool, query: rows, arg: row }, context);
  return apply(
    inRows,
    bool,
    (is, ...rest) => {
      const parts = rest.slice(0, left.length);
      const [withNulls = '', all = ''] = rest.slice(left.length);
      const maybe = parts
        .map((a, index) => `ifNull(${a} = tupleElement(t, ${index + 1}), true)`)
        .join(' AND ');
      const hasNull = parts.map((a) => `isNull(${a})`).join(' OR ');
      const isOpen = (list: string): string => `arrayExists(t -> ${maybe}, ${list})`;
      return `multiIf(ifNull(${is}, false), true, if(${hasNull}, ${isOpen(all)}, ${isOpen(withNulls)}), NULL, false)`;
    },
    { ...found, threeValued: false },
    ...left,
    distinctRows(rows, true, context),
    distinctRows(rows, false, context),
  );
}

const inRows = 'in rows';

/** The rows of a query as an array of tuples: all, or those alone of which a value is NULL. */
function distinctRows(query: QueryIr, withNullsOnly: boolean, context: ExpressionContext): Expr {
  const alias = context.env.alias();
  const columns = query.columns.map(({ type }, index) =>
    columnOf(alias, outputName(index), type, outputName(index)),
  );
  const gather: Aggregate = {
    kind: 'aggregate',
    type: bool,
    name: 'distinct rows',
    render: (...values) => `groupUniqArray(tuple(${values.join(', ')}))`,
    args: columns,
    distinct: false,
    filter: undefined,
    over: undefined,
    finish: undefined,
  };
  const isMissing = apply(
    'has null',
    bool,
    (...all) => `(${all.map((a) => `isNull(${a})`).join(' OR ')})`,
    ...columns,
  );
  const rows = {
    ...plainSelect([gather]),
    from: { kind: 'derived', alias, query } as const,
    where: withNullsOnly ? isMissing : undefined,
  };
  return subquery({ form: 'scalar', type: bool, query: rows }, context);
}

const correlatedIn = 'in correlated';

/** Its first part alone says whether it is true. */
export const isTwoPartIn = (expr: Expr): boolean =>
  expr.kind === 'apply' && (expr.name === correlatedIn || expr.name === inRows);

/** As EXISTS: true if the test holds for a row, NULL if it might, were it or the left side not NULL. */
function correlatedAny(
  values: readonly Expr[],
  query: QueryIr,
  test: (values: readonly Expr[], items: readonly Expr[]) => Expr,
  label: string,
  context: ExpressionContext,
  at: number | undefined,
): Expr {
  if (query.kind !== 'select' || isGrouped(query) || hasLimit(query) || query.distinctOn.length > 0) {
    throw unsupported(`A correlated ${label} with aggregates, DISTINCT ON, LIMIT or a set operation`, at);
  }
  const { items } = query;
  if (items.some((item) => some(item, (each) => each.kind === 'aggregate' || isSet(each)))) {
    throw unsupported(`A correlated ${label} with window functions or rows of a function`, at);
  }
  const conditions = query.where === undefined ? [] : [query.where];
  const holds = test(
    values.map((value) => asOuter(value, label, at)),
    items,
  );
  const isOpen = apply('is null', bool, (a) => `isNull(${a})`, holds);
  const [value] = values;
  const [item] = items;
  if (values.length > 1 || value === undefined || item === undefined) {
    return apply(
      correlatedIn,
      bool,
      (found, open) => `multiIf(${found}, true, ${open}, NULL, false)`,
      exists(query, [...conditions, holds], context),
      exists(query, [...conditions, isOpen], context),
    );
  }
  const isMissing = apply('is null', bool, (a) => `isNull(${a})`, item);
  return apply(
    correlatedIn,
    bool,
    (found, withNull, some, left) =>
      `multiIf(${found}, true, ${withNull}, NULL, isNull(${left}) AND ${some}, NULL, false)`,
    exists(query, [...conditions, holds], context),
    exists(query, [...conditions, isMissing], context),
    exists(query, conditions, context),
    value,
  );
}

/** An expression of the query around, as the subquery sees it. */
function asOuter(expr: Expr, label: string, at: number | undefined): Expr {
  if (expr.kind === 'column') return { ...expr, outer: true, ...(expr.outer ? { far: { at } } : {}) };
  if (isConstant(expr)) return expr;
  if (expr.kind === 'apply')
    return { ...expr, args: children(expr).map((child) => asOuter(child, label, at)) };
  throw unsupported(`An aggregate or a subquery on the left side of a correlated ${label}`, at);
}
