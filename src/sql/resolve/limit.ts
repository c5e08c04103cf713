import type { Expression, Query } from '../ast.ts';
import { apply, columnOf, some } from '../build.ts';
import { convert } from '../coerce.ts';
import { type ConstantValue, constantValue } from '../constant-value.ts';
import { type Expr, outputName, type RowCount, type SelectIr } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { raiseIf } from '../syntax/raise.ts';
import { int8, isNumber } from '../types.ts';
import type { ExpressionContext } from './expression-context.ts';
import { plainSelect, subquery } from './subquery.ts';

type Clause = 'LIMIT' | 'OFFSET';

const integerTypes: ReadonlySet<string> = new Set(['int2', 'int4', 'int8']);

/**
 * The number of LIMIT or OFFSET; undefined for none, `NULL` and `ALL`. Of an expression or a subquery it is
 * known when the query runs.
 * @param context of the query that it belongs to, which has no column for it
 */
function rowCountOf(
  expression: Expression | undefined,
  clause: Clause,
  context: ExpressionContext,
): RowCount | undefined {
  if (expression === undefined) return undefined;
  const { at } = expression;
  if (expression.kind === 'cast' && integerTypes.has(expression.type.name) && !expression.type.array)
    return rowCountOf(expression.arg, clause, context);
  if (expression.kind === 'parameter') {
    const { value } = context.env.parameters.reference(expression.number, at).constant(int8);
    return value === null ? undefined : rowsOf(Number(value), clause, at);
  }
  const own = { ...context, clause, allowAggregates: false, allowWindows: false };
  const given = context.resolve(expression, own);
  if (some(given, (each) => each.kind === 'column' || each.kind === 'mixed')) {
    throw sqlError('sql_bad_reference', `argument of ${clause} must not contain variables`, at);
  }
  if (some(given, (each) => each.kind === 'subquery' && each.correlated)) {
    throw unsupported(`${clause} of a subquery that names columns of the query around it`, at);
  }
  if (given.type.name !== 'unknown' && !isNumber(given.type)) {
    throw sqlError('sql_type', `argument of ${clause} must be type bigint`, at);
  }
  const count = convert(given, int8, at);
  const known = constantValue(count);
  if (known === null) return undefined;
  return known === undefined ? countWhenRun(count, context) : rowsOf(numberOf(known), clause, at);
}

const numberOf = (value: ConstantValue): number => (typeof value === 'bigint' ? Number(value) : Number.NaN);

const allRows = '9223372036854775807';

/** A subquery of its own: the store takes no other expression. Less than 0 would count from the end. */
function countWhenRun(count: Expr, context: ExpressionContext): Expr {
  const alias = context.env.alias();
  const checked = apply(
    'row count',
    int8,
    (a) => `ifNull(toInt64(${a}) + ${raiseIf(`${a} < 0`, 'outOfRange')}, ${allRows})`,
    columnOf(alias, outputName(0), int8, ''),
  );
  const from = { kind: 'derived', alias, query: plainSelect([count]) } as const;
  return subquery({ form: 'scalar', type: int8, query: { ...plainSelect([checked]), from } }, context);
}

/** LIMIT, OFFSET and WITH TIES of a query. */
export function rowCounts(
  { limit, offset, withTies, orderBy }: Query,
  context: ExpressionContext,
): Pick<SelectIr, 'limit' | 'offset' | 'withTies'> {
  const counts = {
    limit: rowCountOf(limit, 'LIMIT', context),
    offset: rowCountOf(offset, 'OFFSET', context),
  };
  if (!withTies) return counts;
  if (orderBy.length === 0) {
    throw sqlError('sql_syntax', 'WITH TIES cannot be specified without ORDER BY clause', limit?.at);
  }
  if (counts.limit === undefined) {
    const reason = 'row count cannot be null in FETCH FIRST ... WITH TIES clause';
    throw sqlError('sql_out_of_range', reason, limit?.at);
  }
  return { ...counts, withTies };
}

function rowsOf(rows: number, clause: Clause, at: number | undefined): number {
  if (rows < 0) throw sqlError('sql_out_of_range', `${clause} must not be negative`, at);
  if (!Number.isSafeInteger(rows)) throw sqlError('sql_out_of_range', `${clause} is too large`, at);
  return rows;
}
