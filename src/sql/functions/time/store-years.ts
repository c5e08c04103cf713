import { microsPerDay, microsPerSecond } from '../../../lib/timestamp.ts';
import { letBindings } from '../../let-bindings.ts';
import { raiseIf } from '../../syntax/raise.ts';

/**
 * Moments and days are in years of which the store's functions are right. Beyond the year 9999 it would give
 * the last moment of it in the place of any other. The text of a moment has one of fewer years, so that steps
 * of some decades away from it need no check.
 */
const firstYear = 1900;
const lastYear = 2299;
const firstSecond = Date.UTC(firstYear, 0, 1) / 1000;
const endSecond = Date.UTC(lastYear + 1, 0, 1) / 1000;

/** Steps that lead nowhere else from the text of a moment. */
const shortStepYears = 40;
export const isShortStep = (months: number, micros: number): boolean =>
  Math.abs(months) + Math.abs(micros) / (30 * microsPerDay) <= shortStepYears * 12;

/** Raises an error for what is not in these years; else the number 0. */
const outside = (value: string, first: number, end: number): string =>
  raiseIf(`NOT (${value} >= ${first} AND ${value} < ${end})`, 'outOfYears');

/** 0, if so many seconds since 1970, a double, are in these years. */
export const checkSeconds = (seconds: string): string => outside(seconds, firstSecond, endSecond);

/** @param micros whole ones */
export const plusMicros = (moment: string, micros: string): string => {
  const sum = `(toFloat64(toUnixTimestamp64Micro(w)) + toFloat64(n))`;
  const check = outside(sum, firstSecond * microsPerSecond, endSecond * microsPerSecond);
  return letBindings(['w', 'n'], [moment, micros], `addMicroseconds(w, n + ${check})`);
};

/** @param months whole ones; what is behind the seconds of the moment is cut, which the engine would round */
export const plusMonths = (moment: string, months: string): string => {
  const sum = '(toInt64(toYear(w)) * 12 + toMonth(w) - 1 + n)';
  const check = outside(sum, firstYear * 12, (lastYear + 1) * 12);
  return letBindings(
    ['w', 'n'],
    [moment, `toInt64(${months})`],
    `addMonths(toStartOfSecond(w), n + ${check})`,
  );
};

export const plusDays = (day: string, days: string): string => {
  const sum = '(toInt64(toInt32(w)) + n)';
  const check = outside(
    sum,
    (firstSecond * microsPerSecond) / microsPerDay,
    (endSecond * microsPerSecond) / microsPerDay,
  );
  return letBindings(['w', 'n'], [day, `toInt64(${days})`], `addDays(w, n + ${check})`);
};
