import type { Expression } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';

/** The number of LIMIT or OFFSET; undefined for none, `NULL` and `ALL`. */
export function limitOf(expression: Expression | undefined, clause: 'LIMIT' | 'OFFSET'): number | undefined {
  if (expression === undefined) return undefined;
  if (expression.kind !== 'constant' || !['integer', 'null'].includes(expression.type)) {
    throw unsupported(`${clause} of something other than an integer literal`, expression.at);
  }
  if (expression.type === 'null') return undefined;
  const rows = Number(expression.text);
  if (rows < 0) throw sqlError('sql_out_of_range', `${clause} must not be negative`, expression.at);
  if (!Number.isSafeInteger(rows))
    throw sqlError('sql_out_of_range', `${clause} is too large`, expression.at);
  return rows;
}
