import { apply } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { arrayOf, bool, float, numeric, numericScale, type SqlType } from '../../types.ts';
import { type AggregateCall, aggregate } from './aggregate-call.ts';

/**
 * Sums of the squares and products of distances from the mean, of sums that are exact:
 * `(n · Σxy − Σx · Σy) / n`. Sums of doubles lose what is near a large mean (100000003, 100000004, …), where
 * PostgreSQL's own way (Youngs and Cramer) loses nothing as long as the numbers are integers.
 */

/** Doubles that are multiples of 1/1024 and less than this are summed up in integers: t = 1024 · x. */
const fraction = 1024;
const maxMagnitude = '4e15';
const square = fraction * fraction;

const isOnGrid = (x: string): string =>
  `(abs(${x}) < ${maxMagnitude} AND ${x} * ${fraction} = round(${x} * ${fraction}))`;
const onGrid = (x: string): string => `toInt256(toInt64(if(${isOnGrid(x)}, ${x} * ${fraction}, 0)))`;

const distances = (n: string, sums: readonly [x: string, y: string, xy: string]): string =>
  `toFloat64(toInt256(${n}) * ${sums[2]} - ${sums[0]} * ${sums[1]}) / ${n} / ${square}`;

/**
 * Of doubles; NULL if one of them cannot be summed up exactly.
 * @param rows how many pairs are not NULL
 * @param x NULL where `y` is
 */
export function exactDistances(call: AggregateCall, rows: Expr, x: Expr, y: Expr): Expr {
  if (call.distinct) return distinctDistances(call, x);
  const sum = (name: string, render: (a: string, b: string) => string, ...args: readonly Expr[]): Expr =>
    aggregate(`exact ${name}`, float, (a, b) => `sum(${render(a, b ?? a)})`, call, args);
  const all = aggregate(
    'are on the grid',
    bool,
    (a, b) => `min(${isOnGrid(a)}${b === undefined ? '' : ` AND ${isOnGrid(b)}`})`,
    call,
    x === y ? [x] : [x, y],
  );
  const render = (n: string, isExact: string, ...sums: readonly string[]): string => {
    const [sx = '', sy = '', sxy = ''] = sums;
    return `if(ifNull(${isExact}, 0) = 1 AND ${n} > 0, ${distances(n, [sx, sy, sxy])}, NULL)`;
  };
  const products = sum('products', (a, b) => `${onGrid(a)} * ${onGrid(b)}`, x, y);
  return apply(
    'exact distances',
    float,
    render,
    rows,
    all,
    sum('x', onGrid, x),
    sum('x', onGrid, y),
    products,
  );
}

/** The different values are kept; of those, all else is made. */
function distinctDistances(call: AggregateCall, x: Expr): Expr {
  const values = aggregate(
    'different values',
    arrayOf(float),
    (a) => `groupUniqArray(${a})`,
    { ...call, distinct: false },
    [x],
  );
  const render = (list: string): string => {
    const sum = `arraySum(x -> ${onGrid('x')}, v)`;
    const squares = `arraySum(x -> ${onGrid('x')} * ${onGrid('x')}, v)`;
    const known = distances('length(v)', [sum, sum, squares]);
    return letBindings(
      ['v'],
      [list],
      `if(notEmpty(v) AND arrayAll(x -> ${isOnGrid('x')}, v), ${known}, NULL)`,
    );
  };
  return apply('exact distances of different values', float, render, values);
}

/** More digits behind the point leave too few before it, of a product of two sums. */
const maxExactScale = 12;
/** Of a variance; PostgreSQL gives at least 16 significant ones. */
const resultScale = 30;
const spreadType = numeric(resultScale, false);

export const hasExactSpread = (type: SqlType): boolean =>
  type.name === 'int2' ||
  type.name === 'int4' ||
  type.name === 'int8' ||
  (type.name === 'numeric' && type.scale <= maxExactScale);

/**
 * The variance of integers and decimals, or its root, which PostgreSQL computes in `numeric`.
 * @param fewer by how much less than the number of rows the squares are divided
 */
export function exactSpread(
  call: AggregateCall,
  rows: Expr,
  given: Expr,
  { fewer, isRoot }: { readonly fewer: 0 | 1; readonly isRoot: boolean },
  at: number | undefined,
): Expr {
  const scale = numericScale(given.type);
  const value = coerce(given, numeric(scale, true), at);
  const sums = call.distinct ? distinctSums(call, value) : plainSums(call, value);
  const render = (n: string, sx: string, sxx: string): string => {
    const squares = `toDecimal256(n, 0) * ifNull(q, ${zero(2 * scale)}) - ifNull(s, ${zero(scale)}) * ifNull(s, ${zero(scale)})`;
    const pairs = `toDecimal256(greatest(n, 1), 0) * greatest(toInt64(n) - ${fewer}, 1)`;
    const variance = `divideDecimal(${squares}, ${pairs}, ${resultScale})`;
    const result = isRoot ? letBindings(['u'], [variance], rootOf('u')) : variance;
    return letBindings(['n', 's', 'q'], [n, sx, sxx], `if(n <= ${fewer}, NULL, ${result})`);
  };
  return apply(`exact spread ${fewer} ${isRoot} ${scale}`, spreadType, render, rows, ...sums);
}

const zero = (scale: number): string => `toDecimal256(0, ${scale})`;

/** The root of a double, and one step of Newton's method. */
const rootOf = (value: string): string => {
  const near = `toDecimal256(sqrt(toFloat64(${value})), ${resultScale})`;
  const better = `divideDecimal(r + divideDecimal(${value}, r, ${resultScale}), toDecimal256(2, 0), ${resultScale})`;
  const root = letBindings(['r'], [near], `if(r = 0, r, ${better})`);
  return `if(${value} <= 0, ${zero(resultScale)}, ${root})`;
};

function plainSums(call: AggregateCall, value: Expr): readonly Expr[] {
  const scale = numericScale(value.type);
  return [
    aggregate('sum(numeric)', value.type, (a) => `sum(${a})`, call, [value]),
    aggregate('sum of squares', numeric(2 * scale, true), (a) => `sum(${a} * ${a})`, call, [value]),
  ];
}

function distinctSums(call: AggregateCall, value: Expr): readonly Expr[] {
  const scale = numericScale(value.type);
  const values = { ...call, distinct: false };
  const over = (name: string, type: SqlType, each: string): Expr =>
    aggregate(
      name,
      type,
      (a) => `groupUniqArray(${a})`,
      values,
      [value],
      (list) => `arraySum(x -> ${each}, ${list})`,
    );
  return [
    over('sum of different values', value.type, 'x'),
    over('squares of different values', numeric(2 * scale, true), 'x * x'),
  ];
}
