import { apply } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { sqlError } from '../../sql-error.ts';
import {
  doubleScale,
  float,
  isInteger,
  numeric,
  numericScale,
  type SqlType,
  storeInteger,
  widerInteger,
} from '../../types.ts';
import {
  callOverload,
  checkCount,
  constantInteger,
  type FunctionTable,
  fn,
  type Overload,
  type SpecialForm,
} from '../definition.ts';
import { callOperator } from '../operators.ts';
import { checkedDouble, exp, logarithm, ofAngle, power, widthBucket } from './double-functions.ts';
import { bucketOfThresholds, integersAlone, logarithmOf } from './exact-functions.ts';

const sameAsFirst = ([first]: readonly SqlType[]): SqlType => first ?? float;
const wholeNumber = ([first]: readonly SqlType[]): SqlType =>
  numeric(0, first?.name !== 'numeric' || first.exact);

/** Forms for double precision and for numeric; integers go with the doubles, as in PostgreSQL. */
const toWhole = (name: string): readonly Overload[] => [
  fn(['float'], float, (a) => `${name}(${a})`),
  fn(['numeric'], wholeNumber, (a) => `toDecimal256(${name}(${a}), 0)`),
];
const integersAsFloat =
  (forms: readonly Overload[]): SpecialForm =>
  (args, site) =>
    callOverload(
      forms,
      args.map((arg) => (isInteger(arg.type) ? convert(arg, float, site.at) : arg)),
      site,
    );

/**
 * `round(x)` and `round(x, digits)`; `trunc` likewise. For a double, PostgreSQL has the first
 * alone. The second is an extension with the meaning of `round(x::numeric, digits)::float8`, which
 * is what people would write.
 */
const toDigits =
  (name: 'round' | 'truncate', whole: string): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 2, site);
    const [value] = args;
    if (value === undefined)
      throw sqlError('sql_unknown_function', `${site.name} needs an argument`, site.at);
    if (args.length === 1 && value.type.name !== 'numeric') {
      return callOverload([fn(['float'], float, (a) => `${whole}(${a})`)], args, site);
    }
    const digits = args.length === 1 ? 0 : constantInteger(args[1], 'the number of digits', site);
    if (Math.abs(digits) > doubleScale) {
      throw sqlError('sql_out_of_range', `${site.name}: at most ${doubleScale} digits can be used`, site.at);
    }
    const isDouble = value.type.name === 'float' || value.type.name === 'mixed';
    const decimal = isDouble
      ? convert(coerce(value, float, site.at), numeric(doubleScale, false), site.at)
      : coerce(value, numeric(numericScale(value.type), true), site.at);
    const rounded = decimalDigits(name, decimal, digits);
    return isDouble ? convert(rounded, float, site.at) : rounded;
  };

function decimalDigits(name: string, decimal: Expr, digits: number): Expr {
  const scale = Math.max(0, digits);
  const render = (a: string): string =>
    scale < numericScale(decimal.type) || digits < 0
      ? `toDecimal256(${name}(${a}, ${digits}), ${scale})`
      : `toDecimal256(${a}, ${scale})`;
  return apply(`${name} ${digits}`, numeric(scale, true), render, decimal);
}

const remainder: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  return callOperator('%', args, site);
};

/**
 * Of whole numbers, brought back to their width with a check. The engine's function takes no zero.
 * @param result of the sizes `a` and `b`, and of `d`, which divides both if neither is 0
 */
const commonDivisor = (result: string): Overload => {
  const size = (value: string): string => `abs(toInt128(${value}))`;
  const divisor = `toInt128(gcd(${['a', 'b'].map((each) => `toUInt64(if(a = 0 OR b = 0, toInt128(1), ${each}))`).join(', ')}))`;
  const render = (a: string, b: string): string =>
    letBindings(['a', 'b'], [size(a), size(b)], letBindings(['d'], [divisor], result));
  return {
    ...fn(['int', 'int'], widerOf, render),
    renderAs: (type) => (a, b) =>
      `if(isNull(${a}) OR isNull(${b}), NULL, accurateCast(${render(`ifNull(${a}, 0)`, `ifNull(${b}, 0)`)}, '${storeInteger(type)}'))`,
  };
};
const widerOf = (args: readonly SqlType[]): SqlType => args.reduce(widerInteger);

const doubles = (name: string): readonly Overload[] => [fn(['float'], float, (a) => `${name}(${a})`)];
const ceiling = integersAsFloat(toWhole('ceil'));

export const mathFunctions: FunctionTable = {
  abs: [
    // First, for a literal that has no type yet.
    fn(['float'], float, (a) => `abs(${a})`),
    {
      ...fn(['int'], sameAsFirst, (a) => `abs(${a})`),
      renderAs: (type) => (a) => `accurateCast(abs(toInt128(${a})), '${storeInteger(type)}')`,
    },
    fn(['numeric'], sameAsFirst, (a) => `abs(${a})`),
  ],
  sign: integersAsFloat([
    fn(['float'], float, (a) => `toFloat64(sign(${a}))`),
    fn(['numeric'], wholeNumber, (a) => `toDecimal256(sign(${a}), 0)`),
  ]),
  round: toDigits('round', 'roundBankers'),
  trunc: toDigits('truncate', 'trunc'),
  ceil: ceiling,
  ceiling,
  floor: integersAsFloat(toWhole('floor')),
  mod: remainder,
  power,
  pow: power,
  exp,
  sqrt: checkedDouble('sqrt', (a) => [`${a} < 0`, 'badPower']),
  cbrt: doubles('cbrt'),
  ln: logarithm('log'),
  log: logarithmOf(logarithm('log10')),
  log10: logarithm('log10'),
  gcd: integersAlone([commonDivisor('if(a = 0 OR b = 0, a + b, d)')]),
  lcm: integersAlone([commonDivisor('if(a = 0 OR b = 0, toInt256(0), toInt256(intDiv(a, d)) * b)')]),
  asin: checkedDouble('asin', (a) => [`abs(${a}) > 1`, 'outOfRange']),
  acos: checkedDouble('acos', (a) => [`abs(${a}) > 1`, 'outOfRange']),
  sinh: doubles('sinh'),
  cosh: doubles('cosh'),
  tanh: doubles('tanh'),
  sin: ofAngle('sin'),
  cos: ofAngle('cos'),
  tan: ofAngle('tan'),
  atan: doubles('atan'),
  atan2: [fn(['float', 'float'], float, (a, b) => `atan2(${a}, ${b})`)],
  degrees: checkedDouble('degrees', (a, result) => [
    `isInfinite(${result}) > isInfinite(${a})`,
    'outOfRange',
  ]),
  radians: checkedDouble('radians', (a, result) => [`(${result} = 0) > (${a} = 0)`, 'outOfRange']),
  width_bucket: (args, site) =>
    args[1]?.type.name === 'array'
      ? bucketOfThresholds(args, site)
      : typeof widthBucket === 'function'
        ? widthBucket(args, site)
        : callOverload(widthBucket, args, site),
  pi: [fn([], float, () => 'pi()')],
};
