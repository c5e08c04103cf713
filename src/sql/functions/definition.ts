import { limits } from '../../limits/limits.ts';
import { checkTextLength } from '../budget.ts';
import { apply } from '../build.ts';
import { coerce, isImplicit } from '../coerce.ts';
import { constantValue } from '../constant-value.ts';
import type { CountedSeries, DoubleOperator, Expr, Literal, Renderer } from '../ir.ts';
import { sqlError } from '../sql-error.ts';
import {
  bool,
  date,
  float,
  int4,
  interval,
  isInteger,
  isNumber,
  isTimestamp,
  map,
  numeric,
  numericScale,
  type SqlType,
  text,
  time,
  timestamptz,
  typeLabel,
} from '../types.ts';

/** What an argument may be. `int` takes every width, `timestamp` with and without time zone. */
export type Formal =
  | 'bool'
  | 'int'
  | 'numeric'
  | 'float'
  | 'text'
  | 'timestamp'
  | 'date'
  | 'interval'
  | 'time'
  | 'map'
  | 'any';

/** One form of a function or operator: its arguments, its result, its ClickHouse SQL. */
export interface Overload {
  readonly args: readonly Formal[];
  /** The last argument may be repeated. */
  readonly variadic?: boolean;
  readonly returns: SqlType | ((args: readonly SqlType[]) => SqlType);
  /** Of the arguments' SQL. */
  readonly render: Renderer;
  /** Instead of `render`, when it depends on the type of the result or on the arguments themselves. */
  readonly renderAs?: (result: SqlType, args: readonly Expr[]) => Renderer;
  /** For arithmetic of two doubles, which is printed by rules of its own. */
  readonly arithmetic?: DoubleOperator;
}

/** Where a function is called, and what it may need to know. */
export interface CallSite {
  readonly name: string;
  readonly at: number | undefined;
}

/** A function whose result depends on more than the types of its arguments. */
export type SpecialForm = (args: readonly Expr[], site: CallSite) => Expr;

/** A function that gives rows: the arrays of its columns, of one length, by their names if they have any. */
export type SetRelation = (args: readonly Expr[], site: CallSite) => readonly SetColumn[];

export interface SetColumn {
  /** Of the rows' values. */
  readonly array: Expr;
  readonly name?: string;
  /** The same rows, where they are whole numbers between literals: then the array need not be made. */
  readonly series?: CountedSeries | undefined;
}

export type FunctionDefinition = readonly Overload[] | SpecialForm;

export type FunctionTable = Readonly<Record<string, FunctionDefinition>>;

/** A function of fixed arguments: one line in a table. */
export const fn = (args: readonly Formal[], returns: Overload['returns'], render: Renderer): Overload => ({
  args,
  returns,
  render,
});

/** How far a type is from what is asked for; undefined if it can't be used. Literals fit anything. */
function distance(actual: SqlType, formal: Formal): number | undefined {
  if (formal === 'any') return 0;
  if (actual.name === 'unknown') return formal === 'text' ? 1 : 2;
  if (formal === 'int') return isInteger(actual) ? 0 : undefined;
  if (formal === 'timestamp') return isTimestamp(actual) ? 0 : actual.name === 'date' ? 1 : undefined;
  if (actual.name === formal) return 0;
  if (actual.name === 'mixed') return isImplicit(actual, formalType(formal, actual)) ? 1 : undefined;
  if (formal === 'numeric') return isInteger(actual) ? 1 : undefined;
  return formal === 'float' && isNumber(actual) ? 2 : undefined;
}

const formalTypes = { bool, float, text, date, map, time } as const;

/** The type to which an argument is converted. */
function formalType(formal: Formal, actual: SqlType): SqlType {
  switch (formal) {
    case 'any':
      return actual.name === 'unknown' || actual.name === 'mixed' ? text : actual;
    case 'int':
      return isInteger(actual) ? actual : { name: 'int4' };
    case 'timestamp':
      return isTimestamp(actual) ? actual : timestamptz;
    case 'interval':
      return actual.name === 'interval' ? actual : interval;
    case 'numeric':
      return numeric(numericScale(actual), actual.name !== 'numeric' || actual.exact);
    default:
      return formalTypes[formal];
  }
}

const formalOf = (overload: Overload, index: number): Formal =>
  overload.args[Math.min(index, overload.args.length - 1)] ?? 'any';

function totalDistance(overload: Overload, types: readonly SqlType[]): number | undefined {
  const { length } = overload.args;
  if (overload.variadic === true ? types.length < length : types.length !== length) return undefined;
  let total = 0;
  for (const [index, type] of types.entries()) {
    const each = distance(type, formalOf(overload, index));
    if (each === undefined) return undefined;
    total += each;
  }
  return total;
}

/** The overload that fits best, the first of equals; undefined if none does. */
export function choose<Form extends Overload>(
  overloads: readonly Form[],
  types: readonly SqlType[],
): Form | undefined {
  let best: { overload: Form; total: number } | undefined;
  for (const overload of overloads) {
    const total = totalDistance(overload, types);
    if (total !== undefined && (best === undefined || total < best.total)) best = { overload, total };
  }
  return best?.overload;
}

/** Converts the arguments to what the overload takes. */
export const coerceArguments = (
  overload: Overload,
  args: readonly Expr[],
  at: number | undefined,
): readonly Expr[] =>
  args.map((arg, index) => coerce(arg, formalType(formalOf(overload, index), arg.type), at));

export function resultType(overload: Overload, args: readonly Expr[]): SqlType {
  const { returns } = overload;
  return typeof returns === 'function' ? returns(args.map((arg) => arg.type)) : returns;
}

/**
 * Calls the overload that fits the arguments.
 * @throws AppError with `code` if none does
 */
export function callOverload(
  overloads: readonly Overload[],
  args: readonly Expr[],
  site: Pick<CallSite, 'name' | 'at'>,
  code: 'sql_unknown_function' | 'sql_type' = 'sql_unknown_function',
): Expr {
  const types = args.map((arg) => arg.type);
  const overload = choose(overloads, types);
  if (overload === undefined) {
    const signature = `${site.name}(${types.map(typeLabel).join(', ')})`;
    throw sqlError(code, `function ${signature} does not exist; explicit casts may help`, site.at);
  }
  const converted = coerceArguments(overload, args, site.at);
  const type = resultType(overload, converted);
  const render = overload.renderAs?.(type, converted) ?? overload.render;
  const formals = overload.args.join(' ');
  const called = apply(`${site.name}(${formals})`, type, render, ...converted);
  return overload.arithmetic === undefined ? called : { ...called, arithmetic: overload.arithmetic };
}

/**
 * An argument of which the translation needs the value: that of a parameter is taken.
 * @param type of a parameter whose type is not known by now
 * @param sample of a parameter, where the query is described without its values
 */
export const constantOf = <Arg extends Expr | undefined>(
  expr: Arg,
  type: SqlType,
  sample?: string,
): Arg | Literal => (expr?.kind === 'parameter' ? expr.constant(type, sample) : expr);

/** The value of an argument that must be a literal of the query, or a parameter. */
export function constantText(
  expr: Expr | undefined,
  what: string,
  site: CallSite,
  { type = text, sample = 'x' }: { readonly type?: SqlType; readonly sample?: string } = {},
): string {
  const constant = constantOf(expr, type, sample);
  if (constant?.kind === 'literal' && typeof constant.value === 'string') return constant.value;
  // What is made of literals is as good as one.
  const value = constant === undefined ? undefined : constantValue(constant);
  if (typeof value === 'string' || typeof value === 'bigint') return String(value);
  throw sqlError(
    'sql_unsupported',
    `${site.name}: ${what} must be a literal or a parameter, and not NULL`,
    site.at,
  );
}

/** A format, of which each part may repeat the value. */
export function constantFormat(expr: Expr | undefined, site: CallSite, sample = 'YYYY'): string {
  const format = constantText(expr, 'the format', site, { sample });
  checkTextLength(format, limits.maxSqlFormatLength, 'A format', site.at);
  return format;
}

export function constantInteger(expr: Expr | undefined, what: string, site: CallSite): number {
  const digits = constantText(expr, what, site, { type: int4, sample: '1' });
  if (/^-?\d{1,9}$/.test(digits)) return Number(digits);
  throw sqlError('sql_unsupported', `${site.name}: ${what} must be an integer literal`, site.at);
}

/** An argument of a call whose arguments were counted. */
export function argument(args: readonly Expr[], index: number): Expr {
  const arg = args[index];
  if (arg === undefined) throw new Error(`BUG: argument ${index + 1} is missing`);
  return arg;
}

export function checkCount(args: readonly Expr[], min: number, max: number, site: CallSite): void {
  if (args.length >= min && args.length <= max) return;
  const expected = min === max ? `${min}` : `${min} to ${max}`;
  throw sqlError(
    'sql_unknown_function',
    `${site.name} takes ${expected} arguments, not ${args.length}`,
    site.at,
  );
}
