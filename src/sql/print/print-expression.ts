import { quoteIdentifier } from '../../lib/quote.ts';
import { spend } from '../budget.ts';
import { equalityKeyOf, orderKeyOf } from '../functions/json/json-order.ts';
import { quoteGenerated } from '../generated-names.ts';
import {
  type Aggregate,
  type Expr,
  type QueryIr,
  type Sort,
  type Subquery,
  unnestedName,
  type WindowSpec,
} from '../ir.ts';
import { bounded, boundedCall, boundedList } from './bounded.ts';
import { printDoubleArithmetic } from './double-arithmetic.ts';
import { printConstant } from './literal.ts';

/** How expressions reach the printer of queries. */
export type PrintQuery = (query: QueryIr) => string;

/** An expression as ClickHouse SQL. */
export function printExpression(expr: Expr, query: PrintQuery): string {
  spend('steps');
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
      return printConstant(expr);
    case 'column':
      return expr.unnested === true
        ? quoteGenerated(unnestedName(expr.relation, expr.name))
        : `${quoteGenerated(expr.relation)}.${quoteIdentifier(expr.name)}`;
    case 'apply':
      if (expr.arithmetic !== undefined)
        return bounded(printDoubleArithmetic(expr, (each) => printExpression(each, query)));
      return boundedCall(
        expr.render,
        boundedList(expr.args, (arg) => printExpression(arg, query)),
      );
    case 'aggregate':
      return printAggregate(expr, query);
    case 'subquery':
      return printSubquery(expr, query);
    case 'mixed':
      throw new Error(`BUG: the type of field ${expr.label} was left open`);
  }
}

function printAggregate(expr: Aggregate, query: PrintQuery): string {
  const print = (each: Expr): string => printExpression(each, query);
  const args = boundedList(expr.args, print);
  // DISTINCT belongs to the first argument.
  const [first, ...rest] = args;
  const call = boundedCall(
    expr.render,
    expr.distinct && first !== undefined ? [`DISTINCT ${first}`, ...rest] : args,
  );
  const filter = expr.filter === undefined ? '' : ` FILTER (WHERE ${print(expr.filter)})`;
  const over = expr.over === undefined ? '' : ` OVER (${printWindow(expr.over, query)})`;
  const complete = `${call}${filter}${over}`;
  return expr.finish === undefined ? bounded(complete) : boundedCall(expr.finish, [complete]);
}

function printWindow(over: WindowSpec, query: PrintQuery): string {
  const { partitionBy, orderBy, frame } = over;
  const partition = boundedList(partitionBy, (key) => printExpression(comparable(key), query)).join(', ');
  return [
    ...(partition === '' ? [] : [`PARTITION BY ${partition}`]),
    ...(orderBy.length === 0 ? [] : [`ORDER BY ${printSorts(orderBy, query)}`]),
    ...(frame === undefined ? [] : [`${frame.mode} BETWEEN ${frame.start} AND ${frame.end}`]),
  ].join(' ');
}

/** What sorts as the value does, and what is equal where values are. */
const sortable = (expr: Expr): Expr => (expr.type.name === 'jsonb' ? orderKeyOf(expr) : expr);
const comparable = (expr: Expr): Expr => (expr.type.name === 'jsonb' ? equalityKeyOf(expr) : expr);

export const printSorts = (sorts: readonly Sort[], query: PrintQuery): string =>
  boundedList(sorts, ({ expr, descending, nullsFirst }) => {
    const direction = descending ? 'DESC' : 'ASC';
    // NULL is an empty outer array, and in an array the greatest of its elements.
    if (expr.type.name === 'array') {
      const array = printExpression(expr, query);
      const inner = descending ? 'DESC NULLS FIRST' : 'ASC NULLS LAST';
      return `empty(${array}) ${nullsFirst ? 'DESC' : 'ASC'}, ${array} ${inner}`;
    }
    return `${printExpression(sortable(expr), query)} ${direction} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
  }).join(', ');

function printSubquery(expr: Subquery, query: PrintQuery): string {
  const inner = bounded(query(expr.query));
  if (expr.form === 'exists') return `exists(${inner})`;
  if (expr.form === 'scalar' || expr.arg === undefined) {
    return expr.zeroWhenEmpty ? `ifNull((${inner}), 0)` : `(${inner})`;
  }
  const value = printExpression(expr.arg, query);
  const found = `${value} IN (${inner})`;
  if (!expr.threeValued) return `(${found})`;
  // NULL when nothing was found but a NULL on either side might have been it; an empty set has no such
  // doubt. What differs by row stands first: behind a constant the store takes the whole for one, and
  // fails beside an array.
  const counts = `(SELECT (count(), countIf(isNull(o1))) FROM (${inner}))`;
  return bounded(
    `multiIf(ifNull(${found}, false), true, tupleElement(${counts}, 1) = 0, false, isNull(${value}) OR tupleElement(${counts}, 2) > 0, NULL, false)`,
  );
}
