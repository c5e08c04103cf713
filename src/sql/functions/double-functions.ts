import { withNames } from '../named.ts';
import { type raised, raiseIf } from '../raise.ts';
import { float } from '../types.ts';
import { fn, type Overload } from './definition.ts';

/** Functions of doubles with PostgreSQL's errors, by the rules of src/backend/utils/adt/float.c. */
type Check = readonly [condition: string, error: keyof typeof raised];

/** @param check of the argument and the result */
export const checkedDouble = (
  name: string,
  check: (value: string, result: string) => Check,
): readonly Overload[] => [
  fn(['float'], float, (value) =>
    withNames([value], (a) => `(${name}(${a}) - ${raiseIf(...check(a, `${name}(${a})`))})`),
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
    withNames([base, exponent], (a, b) => {
      const undefinedPower = `(${a} = 0) AND (${b} < 0) OR (${a} < 0) AND (floor(${b}) < ${b})`;
      const result = `pow(${a}, ${b})`;
      const infinite = `isInfinite(${a}) + isInfinite(${b}) + (${a} = 0)`;
      const range = `(isInfinite(${result}) > ${infinite}) + ((${result} = 0) > ${infinite})`;
      return `(${result} - ${raiseIf(undefinedPower, 'badPower')} - ${raiseIf(range, 'outOfRange')})`;
    }),
  ),
];
