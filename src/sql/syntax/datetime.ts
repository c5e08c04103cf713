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
 * @returns undefined for any other text, and for fractions of a month or year
 */
export function parseInterval(text: string): IntervalParts | undefined {
  const written = text.trim();
  const ago = written.slice(-3).toLowerCase() === 'ago' && /\s/.test(written.slice(-4, -3));
  let rest = ago ? written.slice(0, -3).trim() : written;
  if (rest === '') return undefined;
  const total = { months: 0, days: 0, micros: 0 };
  while (rest !== '') {
    const match =
      /^([+-]?)(\d+):(\d{2})(?::(\d{2}(?:\.\d{1,6})?))?(?=\s|$)/.exec(rest) ??
      /^([+-]?\d+(?:\.\d+)?)\s*([a-z]+)(?=[\s\d+-]|$)/i.exec(rest);
    if (match === null) return undefined;
    if (match.length > 3) addClock(total, match);
    else if (!addUnit(total, Number(match[1]), match[2] ?? '')) return undefined;
    rest = rest.slice(match[0].length).trim();
  }
  // A text of many digits.
  if (!Object.values(total).every(Number.isFinite)) return undefined;
  const sign = ago ? -1 : 1;
  return { months: sign * total.months, days: sign * total.days, micros: sign * total.micros };
}

type Total = { -readonly [Part in keyof IntervalParts]: number };

function addClock(total: Total, [, sign, hours, minutes, seconds = '0']: RegExpExecArray): void {
  const micros =
    Number(hours) * 3600 * microsPerSecond +
    Number(minutes) * 60 * microsPerSecond +
    Math.round(Number(seconds) * microsPerSecond);
  total.micros += sign === '-' ? -micros : micros;
}

function addUnit(total: Total, amount: number, name: string): boolean {
  const unit = unitNames.get(name.toLowerCase());
  if (unit === undefined) return false;
  if (unit === 'years' || unit === 'months') {
    total.months += amount * (unit === 'years' ? 12 : 1);
    return Number.isInteger(amount);
  }
  if (unit === 'days' || unit === 'weeks') {
    const days = amount * (unit === 'weeks' ? 7 : 1);
    total.days += Math.trunc(days);
    total.micros += Math.round((days - Math.trunc(days)) * microsPerDay);
    return true;
  }
  total.micros += Math.round(amount * (microsPerUnit[unit] ?? 0));
  return true;
}
