import { bindOnce } from '../../let-bindings.ts';
import { unsupported } from '../../sql-error.ts';
import { type raised, raiseIf } from '../../syntax/raise.ts';
import { float, int4 } from '../../types.ts';
import { callOverload, fn, type Overload, type SpecialForm } from '../definition.ts';

/** Functions of doubles with PostgreSQL's errors, by the rules of src/backend/utils/adt/float.c. */
type Check = readonly [condition: string, error: keyof typeof raised];

/** @param check of the argument and the result */
export const checkedDouble = (
  name: string,
  check: (value: string, result: string) => Check,
): readonly Overload[] => [
  fn(['float'], float, (value) =>
    bindOnce([value], (a) => `(${name}(${a}) - ${raiseIf(...check(a, `${name}(${a})`))})`),
  ),
];

export const exp = checkedDouble('exp', (a, result) => [
  `(isInfinite(${result}) > isInfinite(${a})) + ((${result} = 0) > isInfinite(${a}))`,
  'outOfRange',
]);

export const logarithm = (name: string): readonly Overload[] =>
  checkedDouble(name, (a) => [`${a} <= 0`, 'badLogarithm']);

/** An infinity is no angle. */
export const ofAngle = (name: string): readonly Overload[] =>
  checkedDouble(name, (a) => [`isInfinite(${a})`, 'outOfRange']);

/** Zero has no negative powers, and what is negative has whole ones alone. */
export const power: readonly Overload[] = [
  fn(['float', 'float'], float, (base, exponent) =>
    bindOnce([base, exponent], (a, b) => {
      const undefinedPower = `(${a} = 0) AND (${b} < 0) OR (${a} < 0) AND (floor(${b}) < ${b})`;
      const result = `pow(${a}, ${b})`;
      const infinite = `isInfinite(${a}) + isInfinite(${b}) + (${a} = 0)`;
      const range = `(isInfinite(${result}) > ${infinite}) + ((${result} = 0) > ${infinite})`;
      return `(${result} - ${raiseIf(undefinedPower, 'badPower')} - ${raiseIf(range, 'outOfRange')})`;
    }),
  ),
];

/**
 * The interval's bounds may come in either order; both must be numbers, and apart. As PostgreSQL 18
 * computes it (width_bucket_float8): version 15 rounds a sum once more, which moves some numbers at
 * the edges of buckets.
 */
const bucketOfDoubles: readonly Overload[] = [
  fn(['float', 'float', 'float', 'int'], int4, (value, first, last, count) =>
    bindOnce([value, first, last, `toInt64(${count})`], (a, from, to, n) => {
      const bad = `(${n} <= 0) OR isNaN(${a}) OR NOT isFinite(${to} - ${from}) OR (${from} = ${to})`;
      const direction = `sign(${to} - ${from})`;
      const share = `((${a} - ${from}) / (${to} - ${from}))`;
      // The share of a number below the end can round to 1.
      const inside = `if(${n} * ${share} >= ${n}, ${n}, toInt64(floor(${n} * ${share})) + 1)`;
      const bucket = `multiIf((${a} - ${from}) * ${direction} < 0, 0 * ${n}, (${a} - ${to}) * ${direction} >= 0, ${n} + 1, ${inside})`;
      return `toInt32(${bucket} - ${raiseIf(bad, 'outOfRange')})`;
    }),
  ),
];

/** In which of so many equal parts of an interval a number lies. */
export const widthBucket: SpecialForm = (args, site) => {
  const bounds = args.slice(0, 3).map(({ type }) => type.name);
  // PostgreSQL computes these with all their digits.
  const exact = bounds.includes('numeric') && !bounds.includes('float') && !bounds.includes('mixed');
  if (exact) throw unsupported('width_bucket of numeric', site.at);
  return callOverload(bucketOfDoubles, args, site);
};
