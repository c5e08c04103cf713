import { quoteIdentifier } from '../../lib/quote.ts';
import { limits } from '../../limits.ts';
import { sqlError } from '../errors.ts';
import {
  type Aggregate,
  type Expr,
  type QueryIr,
  type Sort,
  type Subquery,
  unnestedName,
  type WindowSpec,
} from '../ir.ts';
import { printDoubleArithmetic } from './double-arithmetic.ts';
import { printLiteral } from './literal.ts';

/** How expressions reach the printer of queries. */
export type PrintQuery = (query: QueryIr) => string;

/** An expression as ClickHouse SQL. */
export function printExpression(expr: Expr, query: PrintQuery): string {
  switch (expr.kind) {
    case 'literal':
      return printLiteral(expr);
    case 'column':
      return expr.unnested === true
        ? quoteIdentifier(unnestedName(expr.relation, expr.name))
        : `${quoteIdentifier(expr.relation)}.${quoteIdentifier(expr.name)}`;
    case 'apply':
      if (expr.arithmetic !== undefined)
        return bounded(printDoubleArithmetic(expr, (each) => printExpression(each, query)));
      return bounded(expr.render(...expr.args.map((arg) => printExpression(arg, query))));
    case 'aggregate':
      return printAggregate(expr, query);
    case 'subquery':
      return printSubquery(expr, query);
    case 'mixed':
      throw new Error(`BUG: the type of field ${expr.label} was left open`);
  }
}

/** Operations may repeat their arguments: what would be too large in the end is given up as soon as it is. */
function bounded(sql: string): string {
  if (sql.length <= limits.maxStoreSqlBytes) return sql;
  throw sqlError('sql_too_large', 'The query is too complex: what the store would have to run is too large');
}

function printAggregate(expr: Aggregate, query: PrintQuery): string {
  const print = (each: Expr): string => printExpression(each, query);
  const args = expr.args.map(print);
  // DISTINCT belongs to the first argument.
  const [first, ...rest] = args;
  const call = expr.render(...(expr.distinct && first !== undefined ? [`DISTINCT ${first}`, ...rest] : args));
  const filter = expr.filter === undefined ? '' : ` FILTER (WHERE ${print(expr.filter)})`;
  const over = expr.over === undefined ? '' : ` OVER (${printWindow(expr.over, query)})`;
  const complete = `${call}${filter}${over}`;
  return expr.finish === undefined ? complete : expr.finish(complete);
}

function printWindow(over: WindowSpec, query: PrintQuery): string {
  const { partitionBy, orderBy, frame } = over;
  const partition = partitionBy.map((key) => printExpression(key, query)).join(', ');
  return [
    ...(partition === '' ? [] : [`PARTITION BY ${partition}`]),
    ...(orderBy.length === 0 ? [] : [`ORDER BY ${printSorts(orderBy, query)}`]),
    ...(frame === undefined ? [] : [`${frame.mode} BETWEEN ${frame.start} AND ${frame.end}`]),
  ].join(' ');
}

export const printSorts = (sorts: readonly Sort[], query: PrintQuery): string =>
  sorts
    .map(({ expr, descending, nullsFirst }) => {
      const direction = descending ? 'DESC' : 'ASC';
      return `${printExpression(expr, query)} ${direction} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
    })
    .join(', ');

function printSubquery(expr: Subquery, query: PrintQuery): string {
  const inner = query(expr.query);
  if (expr.form === 'exists') return `exists(${inner})`;
  if (expr.form === 'scalar' || expr.arg === undefined) {
    return expr.zeroWhenEmpty ? `ifNull((${inner}), 0)` : `(${inner})`;
  }
  const value = printExpression(expr.arg, query);
  const found = `${value} IN (${inner})`;
  if (!expr.threeValued) return `(${found})`;
  // NULL when nothing was found but a NULL on either side might have been it; an empty set has no such doubt.
  // What differs by row stands first: behind a constant the store takes the whole for one, and fails beside an array.
  const counts = `(SELECT (count(), countIf(isNull(o1))) FROM (${inner}))`;
  return `multiIf(ifNull(${found}, false), true, tupleElement(${counts}, 1) = 0, false, isNull(${value}) OR tupleElement(${counts}, 2) > 0, NULL, false)`;
}
