import type { Apply, Expr, Literal } from './ir.ts';
import { isInteger, type SqlType, widerInteger } from './types.ts';

/**
 * The value of an expression of constants, where PostgreSQL and the store surely agree on it: integers, truth
 * values and texts, and other literals as they stand. Everything else is the store's to compute, and so is
 * what ends in an error, such as a division by zero: it has the message.
 *
 * Operations are known by the names that the resolver gives them (`ir.ts`: equal names print the same).
 */

/**
 * Integers as `bigint`, doubles as `number`, decimals and texts as text, timestamps in microseconds since
 * 1970, dates in days.
 */
export type ConstantValue = bigint | number | boolean | string | null;

/** @returns undefined where the store has to be asked */
export function constantValue(expr: Expr): ConstantValue | undefined {
  if (expr.kind === 'literal') return literalValue(expr);
  if (expr.kind !== 'apply') return undefined;
  const args: ConstantValue[] = [];
  for (const arg of expr.args) {
    const value = constantValue(arg);
    if (value === undefined) return undefined;
    args.push(value);
  }
  return applied(expr, args);
}

function literalValue({ type, value }: Literal): ConstantValue | undefined {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'object') return undefined;
  if (isInteger(type)) return BigInt(value);
  if (type.name !== 'float') return value;
  return value === 'nan' ? Number.NaN : /inf/i.test(String(value)) ? undefined : Number(value);
}

function applied({ name, args: exprs }: Apply, args: readonly ConstantValue[]): ConstantValue | undefined {
  if (name === 'and') return allOf(args, true);
  if (name === 'or') return allOf(args, false);
  const work = operationOf(
    name,
    exprs.map(({ type }) => type),
  );
  // All of these give NULL for NULL, also where they would refuse another value.
  return work === undefined ? undefined : args.includes(null) ? null : work(args);
}

type Operation = (args: readonly ConstantValue[]) => ConstantValue | undefined;

/** What an operation makes of arguments that are not NULL; undefined for one that is not known here. */
function operationOf(name: string, types: readonly SqlType[]): Operation | undefined {
  if (name.startsWith('operator ')) return integerOperation(name, types);
  if (name.startsWith('compare ')) {
    const isKnown = types.every(isInteger) || types.every((type) => type.name === 'text');
    return isKnown ? ([left = null, right = null]) => compared(name, left, right) : undefined;
  }
  if (name === 'not') return ([arg]) => (typeof arg === 'boolean' ? !arg : undefined);
  if (name === 'concat') return concatenated;
  return isTextCast.has(name) ? ([arg]) => String(arg) : undefined;
}

const concatenated: Operation = ([left, right]) =>
  typeof left === 'string' && typeof right === 'string' ? left + right : undefined;

const isTextCast: ReadonlySet<string> = new Set([
  'cast int2 text',
  'cast int4 text',
  'cast int8 text',
  'cast bool text',
]);

/** AND of all, or OR, where some may be NULL. @param neutral true for AND */
function allOf(args: readonly ConstantValue[], neutral: boolean): boolean | null | undefined {
  if (args.some((arg) => arg !== null && typeof arg !== 'boolean')) return undefined;
  if (args.includes(!neutral)) return !neutral;
  return args.includes(null) ? null : neutral;
}

/** Of integers; undefined for a division by zero. */
const arithmetic: Readonly<Record<string, (left: bigint, right: bigint) => bigint | undefined>> = {
  'operator +(int int)': (left, right) => left + right,
  'operator -(int int)': (left, right) => left - right,
  'operator *(int int)': (left, right) => left * right,
  'operator /(int int)': (left, right) => (right === 0n ? undefined : left / right),
  'operator %(int int)': (left, right) => (right === 0n ? undefined : left % right),
  'operator -(int)': (arg) => -arg,
  'operator +(int)': (arg) => arg,
};

/** The result has the widest type of the arguments; beyond it is an error. */
function integerOperation(name: string, types: readonly SqlType[]): Operation | undefined {
  const compute = Object.hasOwn(arithmetic, name) ? arithmetic[name] : undefined;
  if (compute === undefined || !types.every(isInteger)) return undefined;
  const bits = widthBits[types.reduce(widerInteger).name] ?? 0;
  return ([left, right = 0n]) => {
    const value = typeof left === 'bigint' && typeof right === 'bigint' ? compute(left, right) : undefined;
    return value !== undefined && BigInt.asIntN(bits, value) === value ? value : undefined;
  };
}

const widthBits: Readonly<Record<string, number>> = { int2: 16, int4: 32, int8: 64 };

function compared(name: string, left: ConstantValue, right: ConstantValue): boolean | undefined {
  const order = orderOf(left, right);
  if (order === undefined) return undefined;
  switch (name.slice('compare '.length)) {
    case '=':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    default:
      return undefined;
  }
}

/** Texts are in the order of their bytes. */
function orderOf(left: ConstantValue, right: ConstantValue): number | undefined {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return undefined;
}
