import { spend } from '../budget.ts';
import { coerce, isImplicit } from '../coerce.ts';
import type { Expr, QueryIr } from '../ir.ts';
import { sqlError } from '../sql-error.ts';
import { commonType, type SqlType, sameType, typeLabel } from '../types.ts';

/** The query with its output columns converted to these types. */
export function coerceOutputs(query: QueryIr, types: readonly SqlType[]): QueryIr {
  if (query.columns.every((column, index) => sameType(column.type, types[index] ?? column.type)))
    return query;
  return mapOutputs(query, types, (expr, type) => coerce(expr, type, undefined));
}

/** The query with its output columns changed, in every branch of it. */
export function mapOutputs(
  query: QueryIr,
  types: readonly SqlType[],
  change: (expr: Expr, type: SqlType) => Expr,
): QueryIr {
  const columns = query.columns.map((column, index) => ({ ...column, type: types[index] ?? column.type }));
  const row = (exprs: readonly Expr[]): readonly Expr[] =>
    exprs.map((expr, index) => change(expr, types[index] ?? expr.type));
  spend('steps', columns.length);
  switch (query.kind) {
    case 'select':
      return { ...query, columns, items: row(query.items) };
    case 'values':
      return { ...query, columns, rows: query.rows.map(row) };
    case 'set':
      return {
        ...query,
        columns,
        left: mapOutputs(query.left, types, change),
        right: mapOutputs(query.right, types, change),
      };
  }
}

/**
 * The types of the columns of a set operation.
 * @throws AppError `sql_syntax` for different numbers of columns, `sql_type` where types can't be matched
 */
export function matchColumns(left: QueryIr, right: QueryIr, operator: string): readonly SqlType[] {
  if (left.columns.length !== right.columns.length) {
    throw sqlError('sql_syntax', `each ${operator} query must have the same number of columns`);
  }
  return left.columns.map((column, index) => {
    const other = right.columns[index]?.type ?? column.type;
    const type = commonType([column.type, other]);
    if (type === undefined || !isImplicit(column.type, type) || !isImplicit(other, type)) {
      const types = `${typeLabel(column.type)} and ${typeLabel(other)}`;
      throw sqlError('sql_type', `${operator} types ${types} cannot be matched`);
    }
    return type;
  });
}
