import { quoteString } from '../../../lib/quote.ts';
import { apply, literal } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import {
  arrayOf,
  commonType,
  doubleScale,
  float,
  int4,
  int8,
  isInteger,
  isNumber,
  numeric,
  numericScale,
  text,
  typeLabel,
} from '../../types.ts';
import {
  argument,
  type CallSite,
  callOverload,
  checkCount,
  constantText,
  type FunctionDefinition,
  type FunctionTable,
  type Overload,
  type SpecialForm,
} from '../definition.ts';
import { callOperator } from '../operators.ts';

/** Functions of `numeric`, with all digits. */
function exactArgument(args: readonly Expr[], index: number, site: CallSite): Expr {
  const arg = argument(args, index);
  if (arg.type.name === 'unknown') return coerce(arg, numeric(0, true), site.at);
  if (isInteger(arg.type)) return coerce(arg, numeric(0, true), site.at);
  if (arg.type.name === 'numeric') return arg;
  const types = args.map(({ type }) => typeLabel(type)).join(', ');
  throw sqlError(
    'sql_unknown_function',
    `function ${site.name}(${types}) does not exist; explicit casts may help`,
    site.at,
  );
}

/** How often a number is in another one: what the remainder leaves is a multiple, so no digit is rounded. */
const quotient: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const [dividend, divisor] = [exactArgument(args, 0, site), exactArgument(args, 1, site)];
  const rest = callOperator('%', [dividend, divisor], site);
  const whole = callOperator('/', [callOperator('-', [dividend, rest], site), divisor], site);
  return apply('div', numeric(0, true), (a) => `toDecimal256(round(${a}), 0)`, whole);
};

/** As many digits as a decimal of the store holds. */
const maxFactorial = 56;
const tooLarge = `A factorial of more than ${maxFactorial}`;
const factorials = Array.from({ length: maxFactorial + 1 }, (_, index) => {
  let product = 1n;
  for (let factor = 2n; factor <= BigInt(index); factor += 1n) product *= factor;
  return `'${product}'`;
}).join(', ');

const factorial: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const number = coerce(argument(args, 0), int8, site.at);
  if (number.kind === 'literal' && Number(number.value) > maxFactorial) throw unsupported(tooLarge, site.at);
  const render = (n: string): string => {
    const place = `greatest(1, ${n} + 1 + ${raiseIf(`${n} > ${maxFactorial}`, 'largeFactorial')})`;
    // Of a negative number there is none, which the conversion of the text says.
    const found = `if(${n} < 0, 'none', [${factorials}][${place}])`;
    return `if(isNull(${n}), NULL, toDecimal256(ifNull(${found}, '0'), 0))`;
  };
  return apply('factorial', numeric(0, true), render, number);
};

/** Digits behind the point. */
const scale: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const value = exactArgument(args, 0, site);
  if (!isNumber(value.type) || value.type.name !== 'numeric' || !value.type.exact) {
    throw unsupported('scale of a numeric whose digits are not fixed', site.at);
  }
  const digits = value.type.scale;
  if (value.kind === 'literal') return literal(int4, value.value === null ? null : String(digits));
  return apply(`scale ${digits}`, int4, (a) => `if(isNull(${a}), NULL, ${digits})`, value);
};

/** The digits behind the point without the zeros at their end. */
const neededScale = (digits: string): string =>
  `length(replaceRegexpOne(extract(${digits}, '\\\\.([0-9]+)'), '0+$', ''))`;

const minScale: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const value = exactArgument(args, 0, site);
  const render = (a: string): string =>
    `toInt32(${neededScale(`toDecimalString(${a}, ${numericScale(value.type)})`)})`;
  return apply(`min_scale ${numericScale(value.type)}`, int4, render, value);
};

const trimScale: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const value = exactArgument(args, 0, site);
  return apply('trim_scale', numeric(numericScale(value.type), false), (a) => a, value);
};

/** `log (base, number)`, to the 15 digits of a double. */
const logarithm: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const [base, number] = args.map((_, index) => coerce(exactArgument(args, index, site), float, site.at));
  if (base === undefined || number === undefined) throw new Error('BUG: the arguments were counted');
  const render = (b: string, x: string): string => {
    const isBad = raiseIf(`(${b} <= 0 OR ${x} <= 0) AND isNotNull(${b} + ${x})`, 'badLogarithm');
    const isOne = raiseIf(`${b} = 1 AND isNotNull(${x})`, 'divisionByZero');
    return `(log(if(${x} <= 0, 1, ${x})) / log(if(${b} <= 0 OR ${b} = 1, 2, ${b})) + ${isBad} + ${isOne})`;
  };
  return convert(apply('log of base', float, render, base, number), numeric(doubleScale, false), site.at);
};

/** How many thresholds a value has reached; they are sorted. */
export const bucketOfThresholds: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const [value, array] = [argument(args, 0), argument(args, 1)];
  if (array.type.name !== 'array') throw new Error('BUG: the thresholds are an array');
  const type = commonType([value.type, array.type.element]);
  if (type === undefined || type.name === 'jsonb' || type.name === 'record' || type.name === 'array') {
    throw sqlError(
      'sql_unknown_function',
      `function width_bucket(${typeLabel(value.type)}, ${typeLabel(array.type)}) does not exist`,
      site.at,
    );
  }
  const render = (x: string, list: string): string => {
    const isMissing = raiseIf(`arrayExists(t -> isNull(t), ${list}[1]) AND isNotNull(${x})`, 'nullKey');
    return `if(isNull(${x}) OR empty(${list}), NULL, toInt32(arrayCount(t -> ifNull(t <= ${x}, false), ${list}[1]) + ${isMissing}))`;
  };
  return apply(
    'width_bucket of thresholds',
    int4,
    render,
    coerce(value, type, site.at),
    coerce(array, arrayOf(type), site.at),
  );
};

/** A number from 0 to 1, another one in each row; two calls are told apart by their places. */
const random: SpecialForm = (args, site) => {
  checkCount(args, 0, 0, site);
  const place = site.at ?? 0;
  return apply(`random ${place}`, float, () => `randCanonical(${place})`);
};

const refused =
  (what: string): SpecialForm =>
  (_, site) => {
    throw unsupported(what, site.at);
  };

const intDigits = /[90]/g;

/**
 * A number that is written as its format says: digits, commas between thousands, a point, a sign on either
 * side. PostgreSQL reads others somehow; they are refused.
 */
const toNumber: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const format = constantText(args[1], 'the format', site, { sample: '9' }).toUpperCase();
  const shape = /^(?:FM)?(?:S|MI)?([90,G]*)(?:[.D]([90]*))?(?:S|MI|SG)?$/.exec(format);
  if (shape === null || format.length > maxNumberFormat) {
    throw unsupported('to_number with a format of more than 9 0 , G . D S MI FM', site.at);
  }
  const [, whole = '', fraction = ''] = shape;
  const [first = '', ...groups] = whole.split(/[,G]/);
  const isSigned = /S|MI/.test(format);
  const sign = isSigned ? '[-+ ]?' : '-?';
  const digits = [
    `[0-9]{0,${first.match(intDigits)?.length ?? 0}}`,
    ...groups.map((group) => `,[0-9]{${group.length}}`),
  ].join('');
  const plain = `[0-9]{0,${groups.length > 0 ? 0 : whole.length}}`;
  const point = `(?:\\.[0-9]{0,${fraction.length}})?`;
  const pattern = `^ *${sign}(?:${digits}|${plain})${point}${isSigned ? '[-+]?' : ''} *$`;
  const scale = fraction.length;
  const render = (a: string): string => {
    const isOther = raiseIf(`NOT match(t, ${quoteString(pattern)}) OR NOT match(t, '[0-9]')`, 'unreadNumber');
    const number = `concat(if(position(t, '-') > 0, '-', ''), '0', replaceRegexpAll(t, '[^0-9.]', ''))`;
    return letBindings(
      ['t'],
      [a],
      `toDecimal256(concat(${number}, substring('', 1 + ${isOther})), ${scale})`,
    );
  };
  return apply(
    `to_number ${format}`,
    numeric(scale, false),
    render,
    coerce(argument(args, 0), text, site.at),
  );
};
const maxNumberFormat = 60;

export const exactFunctions: FunctionTable = {
  div: quotient,
  factorial,
  scale,
  min_scale: minScale,
  trim_scale: trimScale,
  to_number: toNumber,
  random,
  setseed: refused('The function setseed'),
};

/** `log (x)` is of base 10. */
export const logarithmOf =
  (ofTen: FunctionDefinition): SpecialForm =>
  (args, site) => {
    if (args.length === 2) return logarithm(args, site);
    return typeof ofTen === 'function' ? ofTen(args, site) : callOverload(ofTen, args, site);
  };

/** Of decimals there are multiples, too. */
export const integersAlone =
  (forms: readonly Overload[]): SpecialForm =>
  (args, site) => {
    if (args.some(({ type }) => type.name === 'numeric'))
      throw unsupported(`${site.name} of numeric`, site.at);
    return callOverload(forms, args, site);
  };
