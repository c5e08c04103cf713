import { quoteString } from '../../../lib/quote.ts';
import type { TimeZone } from '../../../lib/time-zone.ts';
import { microsPerDay } from '../../../lib/timestamp.ts';
import { apply, isConstant } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr, Renderer } from '../../ir.ts';
import { bindOnce, letBindings } from '../../let-bindings.ts';
import { isSessionInUtc, sessionZone } from '../../session-times.ts';
import { unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { text, timestamptz } from '../../types.ts';
import { momentOfClock, offsetAtMoment, wallClock } from '../../zone-clock.ts';
import { type CallSite, checkCount, constantOf, type SpecialForm } from '../definition.ts';
import { synonyms, truncatedInterval, unitMicros, unitOf } from './time-units.ts';
import { zoneOf } from './time-zones.ts';
import { timestampArgument } from './timestamp-argument.ts';

/** 1970 began on a Thursday, weeks do on Mondays. */
const weekMicros = 7 * microsPerDay;
const mondayBeforeMicros = 3 * microsPerDay;

/** By whole microseconds: the engine's own function rounds the last fraction of a second before 1970 up. */
const cut =
  (lengthMicros: number, beforeMicros = 0): Renderer =>
  (a) =>
    bindOnce([a], (t) => {
      const since = `toUnixTimestamp64Micro(${t})`;
      const rest = `positiveModulo(${since}${beforeMicros === 0 ? '' : ` + ${beforeMicros}`}, toInt64(${lengthMicros}))`;
      return `fromUnixTimestamp64Micro(${since} - ${rest}, 'UTC')`;
    });

const firstDay = (day: string): string => `toDateTime64(${day}, 6, 'UTC')`;
/** The first day of a year, which the store's dates must have. */
const newYear = (year: string): string => {
  const isBefore = raiseIf(`${year} < 1900`, 'outOfYears');
  return firstDay(`makeDate32(toInt32(${year}) + ${isBefore}, 1, 1)`);
};

const calendarUnits: Readonly<Record<string, Renderer>> = {
  week: cut(weekMicros, mondayBeforeMicros),
  month: (a) => firstDay(`date_trunc('month', toDate32(${a}))`),
  quarter: (a) => firstDay(`date_trunc('quarter', toDate32(${a}))`),
  year: (a) => firstDay(`date_trunc('year', toDate32(${a}))`),
  decade: (a) => newYear(`intDiv(toYear(${a}), 10) * 10`),
  century: (a) => newYear(`intDiv(toYear(${a}) - 1, 100) * 100 + 1`),
  millennium: (a) => newYear(`intDiv(toYear(${a}) - 1, 1000) * 1000 + 1`),
};

const rendererOf = (unit: string): Renderer | undefined => {
  const length = Object.hasOwn(unitMicros, unit) ? unitMicros[unit] : undefined;
  if (length !== undefined) return length === 1 ? (a) => a : cut(length);
  return Object.hasOwn(calendarUnits, unit) ? calendarUnits[unit] : undefined;
};

/** To a unit that differs by row: each of them, of which one is computed. */
function truncatedByColumn(unit: Expr, args: readonly Expr[], site: CallSite): Expr {
  const [, given] = args;
  if (given?.type.name === 'interval' || args.length > 2) {
    throw unsupported('date_trunc of an interval or in a time zone, to a unit of a column,', site.at);
  }
  const value = timestampArgument(given, timestamptz, site);
  const isZoned = value.type.name === 'timestamptz' && !isSessionInUtc();
  return isZoned
    ? apply('date_trunc by, zoned', value.type, byUnitInZone, coerce(unit, text, site.at), value)
    : apply('date_trunc by', value.type, byUnit, coerce(unit, text, site.at), value);
}

const unitWords = (unit: string): string => [unit, ...(synonyms[unit] ?? [])].map(quoteString).join(', ');
const knownUnits = [...Object.keys(unitMicros), ...Object.keys(calendarUnits)];

/** To whichever unit it is. */
function branchesByUnit(unit: string, momentFor: (condition: string) => string): readonly string[] {
  return knownUnits.flatMap((each) => {
    const condition = `lower(${unit}) IN (${unitWords(each)})`;
    const cutTo = rendererOf(each);
    return cutTo === undefined ? [] : [`${condition}, ${cutTo(momentFor(condition))}`];
  });
}

const byUnit: Renderer = (u, t) => {
  const branches = branchesByUnit(u, () => t).join(', ');
  const other = `${t} + toIntervalSecond(${raiseIf(`isNotNull(${u})`, 'badUnit')})`;
  return `multiIf(isNull(${u}) OR isNull(${t}), NULL, ${branches}, ${other})`;
};

/**
 * Of what the clocks of the session's zone show, which is computed once. All branches are computed there, so
 * those of another unit get a day that each of them can take.
 */
const byUnitInZone: Renderer = (u, t) => {
  const zone = sessionZone();
  const anyDay = "toDateTime64('2024-01-01', 6, 'UTC')";
  const branches = branchesByUnit('u', (condition) => `if(${condition}, ifNull(c, ${anyDay}), ${anyDay})`);
  const isKnown = `lower(u) IN (${knownUnits.map(unitWords).join(', ')})`;
  const isBad = raiseIf(`isNotNull(u) AND NOT ${isKnown}`, 'badUnit');
  const cutClock = `if(${isBad} = 0, multiIf(${branches.join(', ')}, ${anyDay}), ${anyDay})`;
  const isPartOfDay = `lower(u) IN (${Object.keys(unitMicros)
    .filter((each) => each !== 'day')
    .map(unitWords)
    .join(', ')})`;
  const moment = `if(${isPartOfDay}, subtractSeconds(k, o), ${momentOfClock('k', zone)})`;
  const result = letBindings(['k'], [cutClock], moment);
  const inClock = letBindings(['c'], ['addSeconds(t, o)'], result);
  const bound = letBindings(['o'], [offsetAtMoment('t', zone)], inClock);
  return letBindings(['u', 't'], [u, t], `if(isNull(u) OR isNull(t), NULL, ${bound})`);
};

/** `date_trunc (unit, t)`, `date_trunc (unit, t, zone)`: where the unit began that a moment lies in. */
export const dateTrunc: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const [written] = args;
  const constant = constantOf(written, text, 'second');
  if (constant !== undefined && !isConstant(constant)) return truncatedByColumn(constant, args, site);
  const unit = unitOf(written, site);
  const [, given] = args;
  if (given?.type.name === 'interval' && args.length === 2) return truncatedInterval(unit, given, site);
  const render = rendererOf(unit);
  if (render === undefined) throw unsupported(`date_trunc to "${unit}"`, site.at);
  const argument = timestampArgument(given, timestamptz, site);
  const value = args.length === 2 ? argument : coerce(argument, timestamptz, site.at);
  const zone = args.length === 2 ? sessionZone() : zoneOf(args[2], site);
  return value.type.name === 'timestamp' || zone.fixedSeconds === 0
    ? apply(`date_trunc ${unit}`, value.type, render, value)
    : apply(`date_trunc ${unit} in ${zone.name}`, value.type, inZone(render, unit, zone), value);
};

/** Parts of a day keep the offset of the moment; a day begins with the offset that its begin has. */
const inZone = (render: Renderer, unit: string, zone: TimeZone): Renderer =>
  Object.hasOwn(unitMicros, unit) && unit !== 'day'
    ? (a) =>
        bindOnce([a], (t) => {
          const local = `subtractSeconds(${render('addSeconds(t, o)')}, o)`;
          return letBindings(['t', 'o'], [t, offsetAtMoment(t, zone)], local);
        })
    : (a) => momentOfClock(render(wallClock(a, zone)), zone);
