import { microsPerDay, microsPerSecond } from '../../lib/timestamp.ts';
import type { IntervalParts } from '../ir.ts';

type Unit = keyof IntervalParts | 'years' | 'weeks' | 'hours' | 'minutes' | 'seconds' | 'milliseconds';

/** PostgreSQL's names of units (src/backend/utils/adt/datetime.c, deltatktbl). */
const unitNames: ReadonlyMap<string, Unit> = new Map<string, Unit>(
  Object.entries({
    years: ['y', 'yr', 'yrs', 'year', 'years'],
    months: ['mon', 'mons', 'month', 'months'],
    weeks: ['w', 'week', 'weeks'],
    days: ['d', 'day', 'days'],
    hours: ['h', 'hr', 'hrs', 'hour', 'hours'],
    minutes: ['m', 'min', 'mins', 'minute', 'minutes'],
    seconds: ['s', 'sec', 'secs', 'second', 'seconds'],
    milliseconds: ['ms', 'msec', 'msecs', 'millisecond', 'milliseconds'],
    micros: ['us', 'usec', 'usecs', 'microsecond', 'microseconds'],
  } satisfies Partial<Record<Unit, string[]>>).flatMap(([unit, names]) =>
    names.map((name): [string, Unit] => [name, unit as Unit]),
  ),
);

export const isUnitName = (name: string): boolean => unitNames.has(name);

const microsPerUnit: Readonly<Partial<Record<Unit, number>>> = {
  hours: 3600 * microsPerSecond,
  minutes: 60 * microsPerSecond,
  seconds: microsPerSecond,
  milliseconds: 1000,
  micros: 1,
};

/**
 * Reads an interval in PostgreSQL's verbose form: `1 hour`, `1 day 02:30:00`, `-90 min`,
 * `1.5 hours`, `2 h ago`.
 * @returns undefined for any other text, for a unit that is there twice, and for fractions of a month or year
 */
export function parseInterval(text: string): IntervalParts | undefined {
  const written = text.trim();
  const ago = written.slice(-3).toLowerCase() === 'ago' && /\s/.test(written.slice(-4, -3));
  let rest = ago ? written.slice(0, -3).trim() : written;
  if (rest === '') return undefined;
  const total = { months: 0, days: 0, micros: 0 };
  const taken = new Set<Unit>();
  while (rest !== '') {
    const match =
      /^([+-]?)(\d+):(\d{2})(?::(\d{2}(?:\.\d{1,6})?))?(?=\s|$)/.exec(rest) ??
      /^([+-]?)(\d+(?:\.\d+)?)\s*([a-z]+)(?=[\s\d+-]|$)/i.exec(rest);
    if (match === null) return undefined;
    const isClock = match[0].includes(':');
    const units = isClock ? addClock(total, match) : addUnit(total, match);
    if (units === undefined || units.some((unit) => taken.has(unit))) return undefined;
    for (const unit of units) taken.add(unit);
    rest = rest.slice(match[0].length).trim();
  }
  // A text of many digits.
  if (!Object.values(total).every(Number.isFinite)) return undefined;
  const sign = ago ? -1 : 1;
  return { months: sign * total.months, days: sign * total.days, micros: sign * total.micros };
}

type Total = { -readonly [Part in keyof IntervalParts]: number };

const partsOfSecond: readonly Unit[] = ['seconds', 'milliseconds', 'micros'];

/** @returns the units that are read with it, which may not be there again */
function addClock(total: Total, [, sign, hours, minutes, seconds = '0']: RegExpExecArray): readonly Unit[] {
  const micros =
    Number(hours) * 3600 * microsPerSecond +
    Number(minutes) * 60 * microsPerSecond +
    Math.round(Number(seconds) * microsPerSecond);
  total.micros += sign === '-' ? -micros : micros;
  return ['hours', 'minutes', ...partsOfSecond];
}

/** @returns as `addClock`; undefined if it is no amount of that unit */
function addUnit(total: Total, [, minus, digits, name = '']: RegExpExecArray): readonly Unit[] | undefined {
  const unit = unitNames.get(name.toLowerCase());
  if (unit === undefined) return undefined;
  const sign = minus === '-' ? -1 : 1;
  const amount = sign * Number(digits);
  if (unit === 'years' || unit === 'months') {
    total.months += amount * (unit === 'years' ? 12 : 1);
    return Number.isInteger(amount) ? [unit] : undefined;
  }
  if (unit === 'days' || unit === 'weeks') {
    const days = amount * (unit === 'weeks' ? 7 : 1);
    total.days += Math.trunc(days);
    total.micros += wholeMicros((days - Math.trunc(days)) * microsPerDay);
    return [unit];
  }
  const size = microsPerUnit[unit] ?? 0;
  const whole = Math.trunc(amount);
  total.micros += whole * size + wholeMicros(sign * Number(`0.${digits?.split('.')[1] ?? '0'}`) * size);
  return unit === 'seconds' && !Number.isInteger(amount) ? partsOfSecond : [unit];
}

/** A half becomes nothing (AdjustFractMicroseconds in src/backend/utils/adt/datetime.c). */
function wholeMicros(micros: number): number {
  const whole = Math.trunc(micros);
  return Math.abs(micros - whole) > 0.5 ? whole + Math.sign(micros) : whole;
}
