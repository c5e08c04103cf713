import { literal } from '../../build.ts';
import { bindOnce } from '../../let-bindings.ts';
import { unsupported } from '../../sql-error.ts';
import { type raised, raiseIf } from '../../syntax/raise.ts';
import { float, int4, numeric } from '../../types.ts';
import { callOverload, fn, type Overload, type SpecialForm } from '../definition.ts';
import { numericPower } from './numeric-power.ts';

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
const powerOfDoubles: readonly Overload[] = [
  fn(['float', 'float'], float, (base, exponent) =>
    bindOnce([base, exponent], (a, b) => {
      const undefinedPower = `(${a} = 0) AND (${b} < 0) OR (${a} < 0) AND (floor(${b}) < ${b})`;
      // All doubles of that size are even; the engine's function gives any number for them.
      const isHuge = `isFinite(${b}) AND abs(${b}) > 9007199254740992`;
      const result = `if(${isHuge}, exp(${b} * log(abs(${a}))), pow(${a}, ${b}))`;
      const infinite = `isInfinite(${a}) + isInfinite(${b}) + (${a} = 0)`;
      const range = `(isInfinite(${result}) > ${infinite}) + ((${result} = 0) > ${infinite})`;
      return `(${result} - ${raiseIf(undefinedPower, 'badPower')} - ${raiseIf(range, 'outOfRange')})`;
    }),
  ),
];

/**
 * The interval's bounds may come in either order; both must be numbers, and apart. As PostgreSQL 18
 * computes it (width_bucket_float8): version 15 rounds a product and a sum once more. Some numbers at the
 * edges of buckets are moved by that, which are refused.
 */
const bucketOfDoubles: readonly Overload[] = [
  fn(['float', 'float', 'float', 'int'], int4, (value, first, last, count) =>
    bindOnce([value, first, last, `toInt64(${count})`], (a, from, to, n) => {
      const bad = `((${n} <= 0) OR isNaN(${a}) OR NOT isFinite(${to} - ${from}) OR (${from} = ${to})) AND isNotNull(${a} + ${from} + ${to} + ${n})`;
      const direction = `sign(${to} - ${from})`;
      const share = `((${a} - ${from}) / (${to} - ${from}))`;
      // The share of a number below the end can round to 1.
      const inside = `if(${n} * ${share} >= ${n}, ${n}, toInt64(floor(${n} * ${share})) + 1)`;
      const before = `(${a} - ${from}) * ${direction} < 0`;
      const behind = `(${a} - ${to}) * ${direction} >= 0`;
      const bucket = `multiIf(${before}, 0 * ${n}, ${behind}, ${n} + 1, ${inside})`;
      const other = `toInt64(floor(${n} * (${a} - ${from}) / (${to} - ${from}) + 1))`;
      const differs = `NOT (${before} OR ${behind}) AND ${other} != ${inside}`;
      return `accurateCast(${bucket} - ${raiseIf(bad, 'outOfRange')} - ${raiseIf(differs, 'betweenBuckets')}, 'Int32')`;
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

/** Of numbers of which one is `numeric`, PostgreSQL computes as many digits as the values have. */
export const power: SpecialForm = (args, site) => {
  const names = args.map(({ type }) => type.name);
  if (!names.includes('numeric') || names.includes('float') || names.includes('mixed'))
    return callOverload(powerOfDoubles, args, site);
  const [base, exponent] = args.map((arg) =>
    arg.kind === 'literal' && typeof arg.value === 'string' ? arg.value : undefined,
  );
  const digits =
    base === undefined || exponent === undefined ? undefined : numericPower(base, exponent, site);
  if (digits !== undefined) return literal(numeric(digits.split('.')[1]?.length ?? 0, false), digits);
  throw unsupported(
    'A power of numeric other than of literals (cast its operands to double precision)',
    site.at,
  );
};
