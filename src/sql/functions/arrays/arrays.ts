import { limits } from '../../../limits/limits.ts';
import { apply, literal } from '../../build.ts';
import { castElements, coerce, convert, settle, unify } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { arrayOf, bool, commonType, int4, type SqlType, text, typeLabel } from '../../types.ts';
import {
  argument,
  type CallSite,
  checkCount,
  constantInteger,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';

/**
 * Arrays. The store has no NULL of an array type, so an array is kept inside an outer one: `[[1, 2]]` is
 * an array, `[]` is NULL. The inner array of NULL is then the default, an empty array, which is what
 * most functions need.
 */
export const inner = (array: string): string => `${array}[1]`;
export const isMissing = (array: string): string => `empty(${array})`;

/** `ARRAY[…]`. */
export function arrayLiteral(items: readonly Expr[], at: number | undefined): Expr {
  const { type, exprs } = unify(items, 'ARRAY', at);
  if (type.name === 'array') throw unsupported('An array of arrays', at);
  return apply('array', arrayOf(type), (...each) => `[[${each.join(', ')}]]`, ...exprs);
}

export const elementOf = (array: Expr, site: Pick<CallSite, 'name' | 'at'>): SqlType => {
  if (array.type.name === 'array') return array.type.element;
  throw sqlError(
    'sql_unknown_function',
    `${site.name} needs an array, not ${typeLabel(array.type)}`,
    site.at,
  );
};

/** `a[i]`; NULL outside of its bounds. */
export function arrayElement(array: Expr, index: Expr, at: number | undefined): Expr {
  const type = elementOf(array, { name: 'a subscript', at });
  return apply(
    'array element',
    type,
    (a, i) => `arrayElementOrNull(${inner(a)}, if(${i} < 1, length(${inner(a)}) + 1, ${i}))`,
    array,
    coerce(index, int4, at),
  );
}

/** `a[from:to]`: what of it lies within the array; NULL if a bound is. */
export function arraySlice(
  array: Expr,
  from: Expr | undefined,
  to: Expr | undefined,
  at: number | undefined,
): Expr {
  elementOf(array, { name: 'a slice', at });
  const bounds = [from ?? literal(int4, '1'), to ?? literal(int4, '2147483647')];
  return apply(
    'array slice',
    array.type,
    (a, first, last) => {
      const start = `greatest(1, toInt64(${first}))`;
      const slice = `arraySlice(${inner(a)}, ifNull(${start}, 1), ifNull(greatest(0, toInt64(${last}) - ${start} + 1), 0))`;
      return `if(${isMissing(a)} OR isNull(${first}) OR isNull(${last}), [], [${slice}])`;
    },
    array,
    ...bounds.map((bound) => coerce(bound, int4, at)),
  );
}

/** `x = ANY (a)`: true if it holds for an element, NULL if it might for a NULL. `ALL` likewise. */
export function quantified(
  quantifier: 'any' | 'all',
  array: Expr,
  compareWith: (element: Expr) => Expr,
  site: Pick<CallSite, 'name' | 'at'>,
): Expr {
  const element = apply('element', elementOf(array, site), () => 'element');
  const test = compareWith(element);
  const decides = quantifier === 'any';
  return apply(
    `${quantifier} ${test.kind === 'apply' ? test.name : ''}`,
    bool,
    (a, tested) => {
      const count = (condition: string): string => `arrayCount(element -> ${condition}, ${inner(a)})`;
      const found = count(`ifNull(${decides ? tested : `NOT ${tested}`}, false)`);
      const unknown = count(`isNull(${tested})`);
      return `multiIf(${isMissing(a)}, NULL, ${found} > 0, ${decides}, ${unknown} > 0, NULL, ${!decides})`;
    },
    array,
    test,
  );
}

/** NULL if one of the arrays is. */
export const unlessMissing = (arrays: readonly string[], result: string): string =>
  `if(${arrays.map(isMissing).join(' OR ')}, NULL, ${result})`;

/** Two arrays with a type of element in common. */
function pair(left: Expr, right: Expr, site: Pick<CallSite, 'name' | 'at'>): readonly [Expr, Expr] {
  const type = commonType([left.type, right.type]);
  if (type?.name !== 'array') throw noOperator(site.name, left, right, site.at);
  return [coerce(left, type, site.at), coerce(right, type, site.at)];
}

const noOperator = (name: string, left: Expr, right: Expr, at: number | undefined): Error =>
  sqlError(
    'sql_unknown_function',
    `operator does not exist: ${typeLabel(left.type)} ${name} ${typeLabel(right.type)}; explicit casts may help`,
    at,
  );

/** Arrays of different types are not compared, not even arrays of integers of different widths. */
const haveOtherElements = (left: SqlType, right: SqlType): boolean =>
  left.name === 'array' &&
  right.name === 'array' &&
  ![left.element.name, right.element.name].includes('unknown') &&
  left.element.name !== right.element.name;

const contains = (a: string, b: string): string =>
  `arrayAll(y -> arrayExists(x -> ifNull(x = y, false), ${inner(a)}), ${inner(b)})`;
const overlaps = (a: string, b: string): string =>
  `arrayExists(y -> arrayExists(x -> ifNull(x = y, false), ${inner(a)}), ${inner(b)})`;

const operators: Readonly<Record<string, (a: string, b: string) => string>> = {
  '@>': contains,
  '<@': (a, b) => contains(b, a),
  '&&': overlaps,
  '=': (a, b) => `(${a} = ${b})`,
  '!=': (a, b) => `(${a} != ${b})`,
  '<': (a, b) => `(${a} < ${b})`,
  '<=': (a, b) => `(${a} <= ${b})`,
  '>': (a, b) => `(${a} > ${b})`,
  '>=': (a, b) => `(${a} >= ${b})`,
};

/** An operator that compares two arrays; undefined for others. */
export function compareArrays(
  name: string,
  left: Expr,
  right: Expr,
  at: number | undefined,
): Expr | undefined {
  const render = Object.hasOwn(operators, name) ? operators[name] : undefined;
  if (render === undefined) return undefined;
  if (haveOtherElements(left.type, right.type)) throw noOperator(name, left, right, at);
  return apply(
    `arrays ${name}`,
    bool,
    (a, b) => unlessMissing([a, b], render(a, b)),
    ...pair(left, right, { name, at }),
  );
}

/** `a || b`, of arrays or of an array and an element. */
export function concatenateArrays(left: Expr, right: Expr, site: CallSite): Expr {
  if (left.type.name !== 'array' && left.type.name !== 'unknown') return prepend([left, right], site);
  if (right.type.name !== 'array' && right.type.name !== 'unknown') return append([left, right], site);
  const sides = pair(left, right, site);
  const render = (a: string, b: string): string =>
    `if(${isMissing(a)} AND ${isMissing(b)}, [], [arrayConcat(${inner(a)}, ${inner(b)})])`;
  return apply('arrays ||', sides[0].type, render, ...sides);
}

/** An array and a value of its type of element, which may have to widen. */
export function arrayAndValue(args: readonly Expr[], site: CallSite): readonly [Expr, Expr, SqlType] {
  checkCount(args, 2, 2, site);
  const [array, value] = [argument(args, 0), argument(args, 1)];
  const element = elementOf(array, site);
  const type = commonType([element, value.type]);
  if (type === undefined) {
    throw sqlError(
      'sql_type',
      `${site.name}: ${typeLabel(value.type)} is no element of ${typeLabel(array.type)}`,
      site.at,
    );
  }
  return [coerce(array, arrayOf(type), site.at), coerce(value, type, site.at), type];
}

const append: SpecialForm = (args, site) => {
  const [array, value, type] = arrayAndValue(args, site);
  return apply('array_append', arrayOf(type), (a, v) => `[arrayConcat(${inner(a)}, [${v}])]`, array, value);
};

const prepend: SpecialForm = (args, site) => {
  const [array, value, type] = arrayAndValue([...args].reverse(), site);
  return apply('array_prepend', arrayOf(type), (a, v) => `[arrayConcat([${v}], ${inner(a)})]`, array, value);
};

/** The first index of an array that has elements. */
const lower: SpecialForm = (args, site) => {
  const length = lengthOf(args, site);
  return apply('array_lower', int4, (a) => `if(isNull(${a}), NULL, 1)`, length);
};

/** An empty array has no dimension, and so no length. */
const lengthOf: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const array = argument(args, 0);
  elementOf(array, site);
  if (constantInteger(args[1], 'the dimension', site) !== 1) {
    throw unsupported(`${site.name} of a dimension other than 1`, site.at);
  }
  return apply(site.name, int4, (a) => `toInt32(nullIf(length(${inner(a)}), 0))`, array);
};

const cardinality: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const array = argument(args, 0);
  elementOf(array, site);
  return apply('cardinality', int4, (a) => unlessMissing([a], `toInt32(length(${inner(a)}))`), array);
};

/** Brings an array to another type of element. */
export const castArray = (array: Expr, element: SqlType, at: number | undefined): Expr =>
  array.type.name === 'array' ? castElements(array, element, at) : convert(array, arrayOf(element), at);

/** `1` and `[1:3]`; NULL of an empty array, which has no dimension. */
const dimensions =
  (type: SqlType, render: (length: string) => string): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 1, site);
    const array = argument(args, 0);
    elementOf(array, site);
    const shown = (a: string): string => `if(empty(${inner(a)}), NULL, ${render(`length(${inner(a)})`)})`;
    return apply(site.name, type, shown, array);
  };

/** `array_fill (value, array[length])` */
const fill: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const value = settle(argument(args, 0), site.at);
  const lengths = argument(args, 1);
  const isSingle = lengths.kind === 'apply' && lengths.name === 'array' && lengths.args.length === 1;
  if (!isSingle || args.length > 2 || value.type.name === 'array') {
    throw unsupported('array_fill other than of a scalar with one dimension from 1', site.at);
  }
  const length = coerce(argument(lengths.args, 0), int4, site.at);
  const { maxFilledElements } = limits;
  if (length.kind === 'literal' && Number(length.value) > maxFilledElements) {
    throw sqlError('sql_too_large', `array_fill with more than ${maxFilledElements} elements`, site.at);
  }
  const render = (a: string, n: string): string => {
    const isOutside = raiseIf(`${n} < 0 OR ${n} > ${maxFilledElements}`, 'outOfRange');
    return `[arrayMap(i -> ${a}, range(toUInt32(greatest(0, ${n} + ${isOutside}))))]`;
  };
  return apply('array_fill', arrayOf(value.type), render, value, length);
};

export const arrayFunctions: FunctionTable = {
  array_ndims: dimensions(int4, () => 'toInt32(1)'),
  array_dims: dimensions(text, (length) => `concat('[1:', toString(${length}), ']')`),
  array_fill: fill,
  array_append: append,
  array_prepend: prepend,
  array_cat: (args, site) => {
    checkCount(args, 2, 2, site);
    return concatenateArrays(argument(args, 0), argument(args, 1), site);
  },
  array_lower: lower,
  array_length: lengthOf,
  array_upper: lengthOf,
  cardinality,
};
