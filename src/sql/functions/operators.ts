import { apply, wholeOf } from '../build.ts';
import { coerce, convert } from '../coerce.ts';
import type { DoubleOperator, Expr } from '../ir.ts';
import { letBindings } from '../let-bindings.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { raiseIf } from '../syntax/raise.ts';
import {
  bool,
  commonType,
  float,
  int4,
  isExactNumeric,
  isInteger,
  maxNumericScale,
  numeric,
  numericScale,
  quotientScale,
  type SqlType,
  storeInteger,
  text,
  typeLabel,
  widerInteger,
} from '../types.ts';
import { compareArrays, concatenateArrays } from './arrays/arrays.ts';
import { concatenateBytes } from './bytes/bytea.ts';
import { type CallSite, callOverload, choose, fn, type Overload } from './definition.ts';
import { jsonChange, jsonOperator, jsonOperatorNames } from './json/json.ts';
import { compareJson } from './json/json-order.ts';
import { power } from './numbers/double-functions.ts';
import { matchPattern } from './text/patterns.ts';
import { negateInterval, timeArithmetic } from './time/time-arithmetic.ts';
import { timeOfDayArithmetic } from './time/time-of-day.ts';

const widest = (args: readonly SqlType[]): SqlType => args.reduce(widerInteger, { name: 'int2' });

/**
 * Computed in 128 bits and brought back with a check: the store's own integers wrap silently. The store also
 * checks what it has computed beside NULL, from zeros in columns and from any number in what is computed.
 */
const checked = (sign: '+' | '-' | '*'): Overload => ({
  args: ['int', 'int'],
  returns: widest,
  render: (a, b) => `${a} ${sign} ${b}`,
  renderAs: (result, args) => (a, b) => {
    const whole = `toInt128(${a}) ${sign} toInt128(${b})`;
    const cast = (value: string): string => `accurateCast(${value}, '${storeInteger(result)}')`;
    if (args.some((arg) => arg.kind === 'apply' && arg.name.startsWith('operator '))) {
      return letBindings(['r'], [whole], `if(isNull(r), NULL, ${cast('r')})`);
    }
    // Of zero, the smallest integer cannot be subtracted.
    const mayFail = sign === '-' && args.every(({ kind }) => kind !== 'literal');
    return mayFail ? `if(isNull(${a}), NULL, ${cast(whole)})` : cast(whole);
  },
});

/** Bits of a double that is integral, as an extension: PostgreSQL has no bit operators for doubles. */
const bits = (name: string): readonly Overload[] => [
  {
    ...fn(['int', 'int'], widest, (a, b) => `${name}(toInt64(${a}), toInt64(${b}))`),
    renderAs: (result) => (a, b) => `to${storeInteger(result)}(${name}(toInt64(${a}), toInt64(${b})))`,
  },
  fn(
    ['float', 'float'],
    float,
    (a, b) => `toFloat64(${name}(accurateCast(${a}, 'Int64'), accurateCast(${b}, 'Int64')))`,
  ),
];

const widerScale = (args: readonly SqlType[]): SqlType =>
  numeric(Math.max(...args.map(numericScale)), args.every(isExactNumeric));

/** Scales add up; a decimal of the store has room for 76 digits. */
const productScale = (args: readonly SqlType[]): SqlType => {
  const scale = args.reduce((sum, type) => sum + numericScale(type), 0);
  if (scale > maxNumericScale)
    throw unsupported(`A product with more than ${maxNumericScale} digits behind the point`);
  return numeric(scale, args.every(isExactNumeric));
};

const quotient = (args: readonly SqlType[]): SqlType =>
  numeric(Math.max(quotientScale, ...args.map(numericScale)), false);

const isZero = (value: unknown): boolean => Number(value) === 0;
const isNonZero = (expr: Expr | undefined): boolean =>
  expr?.kind === 'literal' && expr.value !== null && !isZero(expr.value);
const isNotNull = (expr: Expr | undefined): boolean => expr?.kind === 'literal' && expr.value !== null;

/**
 * A division. NULL divided by anything is NULL, and no error; the engine looks at the divisor first.
 * @param divide by a divisor that may be zero, and must then raise the error
 * @param plain by one that isn't zero
 */
const division = (
  formal: 'int' | 'numeric' | 'float',
  returns: Overload['returns'],
  divide: (a: string, b: string, result: SqlType, divisorScale: number) => string,
  plain = divide,
): Overload => ({
  args: [formal, formal],
  returns,
  render: (a, b) => `${a} / ${b}`,
  renderAs: (result, [dividend, divisor]) => {
    const scale = numericScale(divisor?.type ?? result);
    if (isNonZero(divisor)) return (a, b) => plain(a, b, result, scale);
    if (isNotNull(dividend)) return (a, b) => divide(a, b, result, scale);
    return (a, b) => `if(isNull(${a}), NULL, ${divide(a, b, result, scale)})`;
  },
});

/** By -1 the smallest number has no quotient in its type, and the engine computes no remainder. */
const wholeDivision = (compute: (a: string, b: string) => string): Overload => {
  const checked = (a: string, b: string, result: SqlType): string => {
    const width = storeInteger(result);
    const wide = width === 'Int64' ? 'toInt128' : 'toInt64';
    return `accurateCast(${compute(`${wide}(${a})`, `${wide}(${b})`)}, '${width}')`;
  };
  const plain = (a: string, b: string): string => compute(`toInt64(${a})`, `toInt64(${b})`);
  const overload = division('int', widest, checked, plain);
  return {
    ...overload,
    renderAs: (result, args) => {
      const [, divisor] = args;
      const isMinusOne = divisor?.kind === 'literal' && Number(divisor.value) === -1;
      return isMinusOne ? (a, b) => checked(a, b, result) : (overload.renderAs?.(result, args) ?? plain);
    },
  };
};

/** The engine's function takes a NULL for zero; what stands in for one must have the divisor's scale. */
const divideDecimals = (a: string, b: string, divisorScale: number, scale: number): string =>
  `if(isNull(${b}), NULL, divideDecimal(${a}, ifNull(${b}, toDecimal256(1, ${divisorScale})), ${scale}))`;

/** With fewer digits than the operands have, the engine divides wrongly. */
const wholeQuotient = (a: string, b: string, divisorScale: number, scale: number): string =>
  `toDecimal256(truncate(${divideDecimals(a, b, divisorScale, scale)}), 0)`;

/** The engine cuts the quotient; one digit more and rounding give PostgreSQL's. */
const rounded = (quotientOfScale: (scale: number) => string, scale: number): string =>
  `toDecimal256(round(${quotientOfScale(scale + 1)}, ${scale}), ${scale})`;

const ofDoubles = (operator: DoubleOperator): Overload => ({
  ...fn(['float', 'float'], float, (a, b) => `(${a} ${operator} ${b})`),
  arithmetic: operator,
});

const infix: Readonly<Record<string, readonly Overload[]>> = {
  '+': [checked('+'), fn(['numeric', 'numeric'], widerScale, (a, b) => `(${a} + ${b})`), ofDoubles('+')],
  '-': [checked('-'), fn(['numeric', 'numeric'], widerScale, (a, b) => `(${a} - ${b})`), ofDoubles('-')],
  '*': [checked('*'), fn(['numeric', 'numeric'], productScale, (a, b) => `(${a} * ${b})`), ofDoubles('*')],
  '/': [
    wholeDivision((a, b) => `intDiv(${a}, ${b})`),
    division(
      'numeric',
      quotient,
      (a, b, result, divisorScale) =>
        rounded((scale) => divideDecimals(a, b, divisorScale, scale), numericScale(result)),
      (a, b, result) => rounded((scale) => `divideDecimal(${a}, ${b}, ${scale})`, numericScale(result)),
    ),
    ofDoubles('/'),
  ],
  '%': [
    wholeDivision((a, b) => `(${a} % ${b})`),
    division(
      'numeric',
      widerScale,
      (a, b, result, divisorScale) =>
        `(${a} - ${b} * ${wholeQuotient(a, b, divisorScale, numericScale(result) + 1)})`,
    ),
    // An extension: JSON numbers are doubles, and people take remainders of them.
    division(
      'float',
      float,
      (a, b) => `(${a} % ${b} - ${raiseIf(`${b} = 0`, 'divisionByZero')})`,
      (a, b) => `(${a} % ${b})`,
    ),
  ],
  '&': bits('bitAnd'),
  '|': bits('bitOr'),
  '#': bits('bitXor'),
  '<<': [shift('bitShiftLeft')],
  '>>': [shift('bitShiftRight')],
};

/**
 * The result has the width of what is shifted; bits beyond it are lost, as in PostgreSQL. Of the distance,
 * processors take the lowest five bits, or six for `bigint`.
 */
function shift(name: string): Overload {
  const render = (a: string, b: string, bits: number): string =>
    `${name}(toInt64(${a}), bitAnd(toInt64(${b}), ${bits}))`;
  return {
    ...fn(
      ['int', 'int'],
      ([shifted]) => shifted ?? int4,
      (a, b) => render(a, b, 63),
    ),
    renderAs: (result) => (a, b) =>
      `to${storeInteger(result)}(${render(a, b, result.name === 'int8' ? 63 : 31)})`,
  };
}

const prefix: Readonly<Record<string, readonly Overload[]>> = {
  '-': [
    {
      ...fn(['int'], widest, (a) => `-${a}`),
      renderAs: (result) => (a) => `accurateCast(-toInt128(${a}), '${storeInteger(result)}')`,
    },
    fn(['numeric'], widerScale, (a) => `(-${a})`),
    fn(['float'], float, (a) => `(-${a})`),
  ],
  '+': [
    fn(['int'], widest, (a) => `${a}`),
    fn(['numeric'], widerScale, (a) => `${a}`),
    fn(['float'], float, (a) => `${a}`),
  ],
  '~': [fn(['int'], widest, (a) => `bitNot(toInt64(${a}))`)],
};

const comparisons: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>=']);

/** `~~` is LIKE, `~~*` ILIKE. */
const patternOperators: ReadonlySet<string> = new Set(
  ['~', '~*', '~~', '~~*'].flatMap((name) => [name, `!${name}`]),
);

/** Of texts by their bytes, as all comparisons of texts are here. */
const byteComparisons: Readonly<Record<string, string>> = {
  '~<~': '<',
  '~<=~': '<=',
  '~>=~': '>=',
  '~>~': '>',
};

/** The operators that a query may use, for the documentation. */
export const operatorNames: readonly string[] = [
  ...Object.keys(infix),
  '^',
  ...comparisons,
  ...['||', '~', '~*', '!~', '!~*', ...Object.keys(byteComparisons), 'LIKE', 'ILIKE', '&&', '<@'],
  ...jsonOperatorNames,
];

/** The integers of which two values are the decimals, where both are: the store is quicker with them. */
function asIntegers(left: Expr, right: Expr): readonly [Expr, Expr] {
  const [a, b] = [wholeOf(left) ?? left, wholeOf(right) ?? right];
  return isInteger(a.type) && isInteger(b.type) ? [a, b] : [left, right];
}

/** Compares two expressions that have a type in common. */
export function compare(operator: string, a: Expr, b: Expr, at: number | undefined): Expr {
  const [left, right] = asIntegers(a, b);
  const type = commonType([left.type, right.type]);
  if (type?.name === 'array') {
    const equal = compareArrays(operator === '<>' ? '!=' : operator, left, right, at);
    if (equal !== undefined) return equal;
    throw unsupported(`${operator} of arrays`, at);
  }
  if (type?.name === 'jsonb') return compareJson(operator, left, right, at);
  if (type?.name === 'record') throw unsupported(`${operator} of whole rows`, at);
  if (type === undefined || type.name === 'map' || type.name === 'json')
    throw noOperator(operator, [left, right], at);
  const sign = operator === '<>' ? '!=' : operator;
  const sides = [coerce(left, type, at), coerce(right, type, at)];
  return apply(`compare ${sign}`, bool, (a, b) => `(${a} ${sign} ${b})`, ...sides);
}

const noOperator = (name: string, args: readonly Expr[], at: number | undefined): Error => {
  const types = args.map((arg) => typeLabel(arg.type));
  const shown = types.length === 1 ? `${name} ${types[0]}` : types.join(` ${name} `);
  return sqlError('sql_unknown_function', `operator does not exist: ${shown}; explicit casts may help`, at);
};

/** An operator applied to one or two operands. */
export function callOperator(name: string, args: readonly Expr[], site: CallSite): Expr {
  const [left, right] = args;
  if (left === undefined) throw noOperator(name, args, site.at);
  if (right === undefined) {
    return name === '-' && left.type.name === 'interval'
      ? negateInterval(left)
      : callArithmetic(prefix, name, args, site);
  }
  if (comparisons.has(name)) return compare(name, left, right, site.at);
  if (patternOperators.has(name)) return matchPattern(name, left, right, args[2], site);
  const byBytes = Object.hasOwn(byteComparisons, name) ? byteComparisons[name] : undefined;
  if (byBytes !== undefined) {
    return compare(byBytes, coerce(left, text, site.at), coerce(right, text, site.at), site.at);
  }
  const hasArray = left.type.name === 'array' || right.type.name === 'array';
  const takesNames = ['?|', '?&', '#>', '#>>'].includes(name);
  const ofJson = hasArray && !takesNames ? undefined : jsonOperator(name, left, right, site);
  if (ofJson !== undefined) return ofJson;
  const ofOwnType = ofOneType(name, left, right, site);
  if (ofOwnType !== undefined) return ofOwnType;
  if (name === '||') return (hasArray ? concatenateArrays : concatenate)(left, right, site);
  const ofArrays = hasArray ? compareArrays(name, left, right, site.at) : undefined;
  if (ofArrays !== undefined) return ofArrays;
  if (name === '->>' && left.type.name === 'map') return labelOf(left, right, site);
  const operands = adoptType(left, right, site.at);
  if (name === '^') return power(operands, { ...site, name: 'operator ^' });
  return timeArithmetic(name, operands, site) ?? callArithmetic(infix, name, operands, site);
}

/** Of `jsonb`, bytes and times of day, which have operators of their own; undefined for others. */
const ofOneType = (name: string, left: Expr, right: Expr, site: CallSite): Expr | undefined =>
  jsonChange(name, left, right, site) ??
  (name === '||' ? concatenateBytes(left, right, site) : undefined) ??
  timeOfDayArithmetic(name, left, right, site);

/** A literal beside an operand with a type is taken for a value of that type. */
function adoptType(left: Expr, right: Expr, at: number | undefined): readonly [Expr, Expr] {
  const known = (expr: Expr): boolean => !['unknown', 'mixed'].includes(expr.type.name);
  if (left.type.name === 'unknown' && known(right)) return [coerce(left, right.type, at), right];
  if (right.type.name === 'unknown' && known(left)) return [left, coerce(right, left.type, at)];
  return [left, right];
}

function callArithmetic(
  table: Readonly<Record<string, readonly Overload[]>>,
  name: string,
  args: readonly Expr[],
  site: CallSite,
): Expr {
  const overloads = Object.hasOwn(table, name) ? table[name] : undefined;
  const types = args.map((arg) => arg.type);
  if (overloads === undefined || choose(overloads, types) === undefined)
    throw noOperator(name, args, site.at);
  return callOverload(overloads, args, { name: `operator ${name}`, at: site.at });
}

/** One side must be text; the other may be of any type that has a text form. */
function concatenate(left: Expr, right: Expr, site: CallSite): Expr {
  const isText = (expr: Expr): boolean => ['text', 'unknown', 'mixed'].includes(expr.type.name);
  if (!isText(left) && !isText(right)) throw noOperator('||', [left, right], site.at);
  const sides = [convert(left, text, site.at), convert(right, text, site.at)];
  return apply('concat', text, (a, b) => `concat(${a}, ${b})`, ...sides);
}

/** A label of a series; NULL where it has none of that name. */
export function labelOf(labels: Expr, name: Expr, site: Pick<CallSite, 'at'>): Expr {
  const key = coerce(name, text, site.at);
  return apply('label', text, (m, k) => `if(mapContains(${m}, ${k}), ${m}[${k}], NULL)`, labels, key);
}
