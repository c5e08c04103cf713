import type { IntervalParts } from './ir.ts';

const microsPerSecond = 1_000_000;
export const microsPerDay = 86_400 * microsPerSecond;

const timestampPattern =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6})\d*)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Microseconds since 1970 of an ISO 8601 / PostgreSQL timestamp; UTC unless it names an offset. Digits beyond
 * the sixth behind the point are cut.
 * @returns undefined for any other text, and for dates that don't exist
 */
export function parseTimestamp(text: string): number | undefined {
  const match = timestampPattern.exec(text.trim());
  if (match === null) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = match;
  const days = daysSinceEpoch(Number(year), Number(month), Number(day));
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const offset = parseOffset(zone);
  const inRange = Number(hour) <= 24 && Number(minute) < 60 && Number(second) < 60 && seconds <= 86_400;
  if (days === undefined || offset === undefined || !inRange) return undefined;
  return days * microsPerDay + (seconds - offset) * microsPerSecond + Number(fraction.padEnd(6, '0'));
}

/** Days since 1970 of a date of the Gregorian calendar; undefined if there is no such day. */
export function daysSinceEpoch(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() / 86_400_000 : undefined;
}

/** Seconds east of UTC. */
function parseOffset(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || '0')];
  if (hours > 15 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
}

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
 * Reads an interval in PostgreSQL's verbose form: `1 hour`, `1 day 02:30:00`, `-90 min`, `1.5 hours`, `2 h ago`.
 * @returns undefined for any other text, and for fractions of a month or year
 */
export function parseInterval(text: string): IntervalParts | undefined {
  const ago = /\s+ago\s*$/i.test(text);
  let rest = text.replace(/\s+ago\s*$/i, '').trim();
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
