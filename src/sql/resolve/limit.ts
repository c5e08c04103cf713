import type { Expression } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { int8 } from '../types.ts';
import type { Environment } from './environment.ts';

const integerTypes: ReadonlySet<string> = new Set(['int2', 'int4', 'int8']);

/** The number of LIMIT or OFFSET; undefined for none, `NULL` and `ALL`. */
export function limitOf(
  expression: Expression | undefined,
  clause: 'LIMIT' | 'OFFSET',
  env: Environment,
): number | undefined {
  if (expression === undefined) return undefined;
  if (expression.kind === 'cast' && integerTypes.has(expression.type.name))
    return limitOf(expression.arg, clause, env);
  if (expression.kind === 'parameter') {
    const { value } = env.parameters.reference(expression.number, expression.at).constant(int8);
    return value === null ? undefined : rowsOf(Number(value), clause, expression.at);
  }
  if (expression.kind !== 'constant' || !['integer', 'null'].includes(expression.type)) {
    throw unsupported(`${clause} of something other than an integer literal or a parameter`, expression.at);
  }
  if (expression.type === 'null') return undefined;
  return rowsOf(Number(expression.text), clause, expression.at);
}

function rowsOf(rows: number, clause: string, at: number | undefined): number {
  if (rows < 0) throw sqlError('sql_out_of_range', `${clause} must not be negative`, at);
  if (!Number.isSafeInteger(rows)) throw sqlError('sql_out_of_range', `${clause} is too large`, at);
  return rows;
}
