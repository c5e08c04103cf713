import { apply } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { sessionZone } from '../../session-times.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { date, float, int4, int8, timestamp } from '../../types.ts';
import { argument, checkCount, type FunctionTable, type SpecialForm } from '../definition.ts';
import { intervalOfParts, isZero, whole } from './interval-parts.ts';
import { atTimeZone, zoneOf } from './time-zones.ts';

/** The days of month `m` of year `y`, without a call that could leave the store's dates. */
const daysInMonth =
  'multiIf(m IN (4, 6, 9, 11), 30, m != 2, 31, y % 4 = 0 AND (y % 100 != 0 OR y % 400 = 0), 29, 28)';
const isNoYear = 'isNotNull(y + m + d) AND (y < 1900 OR y > 2254)';
const isNoDay = `isNotNull(y + m + d) AND (y = 0 OR m < 1 OR m > 12 OR d < 1 OR d > ${daysInMonth})`;

/** A day of the store's years, or an error. */
export const dayOf = (year: string, month: string, day: string): string =>
  letBindings(
    ['y', 'm', 'd'],
    [year, month, day],
    `makeDate32(y + ${raiseIf(isNoDay, 'outOfRange')} + ${raiseIf(isNoYear, 'outOfYears')}, m, d)`,
  );

const integers = (args: readonly Expr[], at: number | undefined): readonly Expr[] =>
  args.map((arg) => coerce(arg, int4, at));

const makeDate: SpecialForm = (args, site) => {
  checkCount(args, 3, 3, site);
  return apply('make_date', date, dayOf, ...integers(args, site.at));
};

/** As PostgreSQL's clock: 24 o'clock is the end of the day, a sixtieth second begins the next minute. */
const isNoClock =
  'h < 0 OR i < 0 OR i > 59 OR s < 0 OR s > 60 OR isNaN(s) OR h > 24 OR (h = 24 AND (i > 0 OR s > 0))';
const clockMicros = '(h * 60 + i) * 60000000 + toInt64(roundBankers(s * 1000000))';

/** Microseconds of a time of day. */
const clockOf = (hour: string, minute: string, second: string): string => {
  const checked = `${clockMicros} + ${raiseIf(`isNotNull(h + i + s) AND (${isNoClock})`, 'outOfRange')}`;
  return letBindings(['h', 'i', 's'], [`toInt64(${hour})`, minute, second], checked);
};

const makeTimestamp: SpecialForm = (args, site) => {
  checkCount(args, 6, 6, site);
  const fields = [...integers(args.slice(0, 5), site.at), coerce(argument(args, 5), float, site.at)];
  return apply(
    'make_timestamp',
    timestamp,
    (y, mo, d, h, mi, s) =>
      `addMicroseconds(toDateTime64(${dayOf(y, mo, d)}, 6, 'UTC'), ${clockOf(h, mi, s)})`,
    ...fields,
  );
};

const makeTimestampInZone: SpecialForm = (args, site) => {
  checkCount(args, 6, 7, site);
  const [zone] = args.slice(6);
  return atTimeZone(
    makeTimestamp(args.slice(0, 6), site),
    zone === undefined ? sessionZone() : zoneOf(zone, site),
    site,
  );
};

/** `make_interval (years, months, weeks, days, hours, mins, secs)`, as many of them as there are. */
const makeInterval: SpecialForm = (args, site) => {
  checkCount(args, 0, 7, site);
  const field = (index: number): Expr => {
    const arg = args[index];
    return arg === undefined ? whole(0) : coerce(arg, int4, site.at);
  };
  const pair = (name: string, factor: number, large: Expr, small: Expr): Expr =>
    isZero(large) && isZero(small)
      ? whole(0)
      : apply(name, int8, (a, b) => `(toInt64(${a}) * ${factor} + ${b})`, large, small);
  const seconds = args[6];
  const clock = apply(
    'clock',
    int8,
    (h, m) => `(toInt64(${h}) * 3600000000 + toInt64(${m}) * 60000000)`,
    field(4),
    field(5),
  );
  const fraction = (value: Expr): Expr =>
    apply(
      'with seconds',
      int8,
      (a, s) => `(${a} + accurateCast(roundBankers(${s} * 1000000), 'Int64'))`,
      clock,
      coerce(value, float, site.at),
    );
  return intervalOfParts('make_interval', {
    months: args.length === 0 ? whole(0) : pair('months', 12, field(0), field(1)),
    days: args.length < 3 ? whole(0) : pair('days', 7, field(2), field(3)),
    micros: args.length < 5 ? whole(0) : seconds === undefined ? clock : fraction(seconds),
  });
};

/** Times made of their fields. */
export const makeFunctions: FunctionTable = {
  make_date: makeDate,
  make_timestamp: makeTimestamp,
  make_timestamptz: makeTimestampInZone,
  make_interval: makeInterval,
};
