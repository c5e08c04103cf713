import { apply } from '../build.ts';
import { coerce } from '../coerce.ts';
import { unsupported } from '../errors.ts';
import type { Expr, Renderer } from '../ir.ts';
import { withNames } from '../named.ts';
import { raiseIf } from '../raise.ts';
import { timestamptz } from '../types.ts';
import { checkCount, type SpecialForm } from './definition.ts';
import { moment } from './time-moments.ts';
import { truncatedInterval, unitOf } from './time-units.ts';
import { atTimeZone, zoneOf } from './time-zones.ts';

const dayMicros = 86_400_000_000;

/** Units of one length each: how long, and how long before 1970 one began. */
const lengths: Readonly<Record<string, { readonly micros: number; readonly before: number }>> = {
  microseconds: { micros: 1, before: 0 },
  milliseconds: { micros: 1000, before: 0 },
  second: { micros: 1_000_000, before: 0 },
  minute: { micros: 60_000_000, before: 0 },
  hour: { micros: 3_600_000_000, before: 0 },
  day: { micros: dayMicros, before: 0 },
  // 1970 began on a Thursday, weeks do on Mondays.
  week: { micros: 7 * dayMicros, before: 3 * dayMicros },
};

/** By whole microseconds: the engine's own function rounds the last fraction of a second before 1970 up. */
const cut =
  ({ micros, before }: { readonly micros: number; readonly before: number }): Renderer =>
  (a) =>
    withNames([a], (t) => {
      const since = `toUnixTimestamp64Micro(${t})`;
      const rest = `positiveModulo(${since}${before === 0 ? '' : ` + ${before}`}, toInt64(${micros}))`;
      return `fromUnixTimestamp64Micro(${since} - ${rest}, 'UTC')`;
    });

const firstDay = (day: string): string => `toDateTime64(${day}, 6, 'UTC')`;
/** The first day of a year, which the store's dates must have. */
const newYear = (year: string): string => {
  const isBefore = raiseIf(`${year} < 1900`, 'outOfRange');
  return firstDay(`makeDate32(toInt32(${year}) + ${isBefore}, 1, 1)`);
};

const calendarUnits: Readonly<Record<string, Renderer>> = {
  month: (a) => firstDay(`date_trunc('month', toDate32(${a}))`),
  quarter: (a) => firstDay(`date_trunc('quarter', toDate32(${a}))`),
  year: (a) => firstDay(`date_trunc('year', toDate32(${a}))`),
  decade: (a) => newYear(`intDiv(toYear(${a}), 10) * 10`),
  century: (a) => newYear(`intDiv(toYear(${a}) - 1, 100) * 100 + 1`),
  millennium: (a) => newYear(`intDiv(toYear(${a}) - 1, 1000) * 1000 + 1`),
};

const rendererOf = (unit: string): Renderer | undefined => {
  const length = Object.hasOwn(lengths, unit) ? lengths[unit] : undefined;
  if (length !== undefined) return length.micros === 1 ? (a) => a : cut(length);
  return Object.hasOwn(calendarUnits, unit) ? calendarUnits[unit] : undefined;
};

/** `date_trunc (unit, t)`, `date_trunc (unit, t, zone)`: where the unit began that a moment lies in. */
export const dateTrunc: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const unit = unitOf(args[0], site);
  const [, given] = args;
  if (given?.type.name === 'interval' && args.length === 2) return truncatedInterval(unit, given, site);
  const render = rendererOf(unit);
  if (render === undefined) throw unsupported(`date_trunc to "${unit}"`, site.at);
  const truncated = (value: Expr): Expr => apply(`date_trunc ${unit}`, value.type, render, value);
  const value = moment(given, timestamptz, site);
  if (args.length === 2) return truncated(value);
  const zone = zoneOf(args[2], site);
  return atTimeZone(truncated(atTimeZone(coerce(value, timestamptz, site.at), zone, site)), zone, site);
};
