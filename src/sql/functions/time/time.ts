import { apply } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr, Renderer } from '../../ir.ts';
import { dayOfQuery, momentOfQuery } from '../../moment-of-query.ts';
import { isSessionInUtc, sessionZone } from '../../session-times.ts';
import { unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { bool, date, float, int4, int8, interval, numeric, timestamp } from '../../types.ts';
import { offsetAtMoment } from '../../zone-clock.ts';
import {
  argument,
  type CallSite,
  checkCount,
  type FunctionTable,
  fn,
  type SpecialForm,
} from '../definition.ts';
import { dateTrunc } from './date-trunc.ts';
import { localTime, momentArguments } from './local-time.ts';
import { makeFunctions } from './make-times.ts';
import { toDate, toTimestamp } from './read-times.ts';
import { spanFunctions } from './time-spans.ts';
import { decimalMicros, partOfInterval, unitOf } from './time-units.ts';
import { timeZone } from './time-zones.ts';
import { timestampArgument } from './timestamp-argument.ts';
import { toChar } from './to-char.ts';

/** The moment of the query, the same wherever it is asked for, as in a transaction of PostgreSQL. */
const nowAs =
  (name: 'timestamp' | 'timestamptz' | 'date'): SpecialForm =>
  (args, site) => {
    checkCount(args, 0, 0, site);
    return apply(`now ${name}`, { name }, () => (name === 'date' ? dayOfQuery() : momentOfQuery(name)));
  };

/** `date_bin (width, t, origin)`: the begin of the bin that a moment lies in. */
const dateBin: SpecialForm = (args, site) => {
  checkCount(args, 3, 3, site);
  const [given] = args;
  const width = coerce(argument(args, 0), given?.type.name === 'interval' ? given.type : interval, site.at);
  if (width.type.name !== 'interval' || width.type.form === 'any') {
    throw unsupported('date_bin with an interval that has months', site.at);
  }
  const [value, origin] = momentArguments(args.slice(1), site);
  if (value === undefined || origin === undefined) throw new Error('BUG: the arguments were counted');
  return apply(
    'date_bin',
    value.type,
    (by, a, from) => {
      const since = `(${microsOf(a)} - ${microsOf(from)})`;
      return `fromUnixTimestamp64Micro(${microsOf(a)} - positiveModulo(${since}, ${by}) + ${raiseIf(`${by} <= 0 AND isNotNull(${a}) AND isNotNull(${from})`, 'outOfRange')}, 'UTC')`;
    },
    width,
    value,
    origin,
  );
};

/** What `extract` gives: whole numbers by the engine's functions, fractions from microseconds. */
const wholeParts: Readonly<Record<string, Renderer>> = {
  millennium: (a) => `intDiv(toYear(${a}) + 999, 1000)`,
  century: (a) => `intDiv(toYear(${a}) + 99, 100)`,
  decade: (a) => `intDiv(toYear(${a}), 10)`,
  year: (a) => `toYear(${a})`,
  month: (a) => `toMonth(${a})`,
  day: (a) => `toDayOfMonth(${a})`,
  hour: (a) => `toHour(${a})`,
  minute: (a) => `toMinute(${a})`,
  doy: (a) => `toDayOfYear(${a})`,
  week: (a) => `toISOWeek(${a})`,
  isoyear: (a) => `toISOYear(${a})`,
  quarter: (a) => `toQuarter(${a})`,
  isodow: (a) => `toDayOfWeek(${a})`,
  dow: (a) => `toDayOfWeek(${a}) % 7`,
};
const clockParts: ReadonlySet<string> = new Set(['hour', 'minute', 'second', 'milliseconds', 'microseconds']);
const microsOf = (a: string): string => `toUnixTimestamp64Micro(${a})`;
const microsOfMinute = (a: string): string => `positiveModulo(${microsOf(a)}, 60000000)`;

/** Whole microseconds, and how many digits of them are behind the point. */
const fractions: Readonly<Record<string, { readonly scale: number; readonly render: Renderer }>> = {
  epoch: { scale: 6, render: microsOf },
  second: { scale: 6, render: microsOfMinute },
  milliseconds: { scale: 3, render: microsOfMinute },
  microseconds: { scale: 0, render: microsOfMinute },
};

/** An integer as a decimal of which some digits are behind the point. */
const decimalOf = (integer: Expr, scale: number): Expr => ({
  ...apply(`decimal ${scale}`, numeric(scale, true), (a) => decimalMicros(a, scale), integer),
  ofInteger: true,
});

/** The Julian day on which 1970 begins. */
const julianEpoch = 2_440_588;

/** Of the offset of the session's zone from UTC, towards zero. */
const zoneParts: Readonly<Record<string, Renderer>> = {
  timezone: (seconds) => seconds,
  timezone_hour: (seconds) => `intDiv(${seconds}, 3600)`,
  timezone_minute: (seconds) => `intDiv(${seconds}, 60) % 60`,
};
const offsetPart =
  (unit: string): Renderer =>
  (a) => {
    const offset = isSessionInUtc() ? undefined : offsetAtMoment(a, sessionZone());
    const part = offset === undefined ? '0' : (zoneParts[unit]?.(offset) ?? '0');
    return `if(isNull(${a}), NULL, toDecimal256(${part}, 0))`;
  };

const extract: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const unit = unitOf(args[0], site);
  const [, value] = args;
  if (value?.type.name === 'interval') return partOfInterval(unit, value, site);
  if (value?.type.name === 'date' && (clockParts.has(unit) || Object.hasOwn(zoneParts, unit))) {
    throw unsupported(`extract(${unit} from a date)`, site.at);
  }
  const source = timestampArgument(value, timestamp, site);
  if (unit === 'julian') return julianDay(value, source, site);
  if (Object.hasOwn(zoneParts, unit) && value?.type.name === 'timestamptz') {
    return apply(`extract ${unit}`, numeric(0, true), offsetPart(unit), source);
  }
  if (unit === 'epoch' && value?.type.name === 'date') {
    const whole: Renderer = (a) => `toDecimal256(intDiv(${microsOf(a)}, 1000000), 0)`;
    return apply('extract epoch of date', numeric(0, true), whole, source);
  }
  const fraction = Object.hasOwn(fractions, unit) ? fractions[unit] : undefined;
  const local = unit === 'epoch' ? source : localTime(source, site.at);
  if (fraction !== undefined) {
    const micros = apply(`extract ${unit}`, int8, (a) => `toInt64(${fraction.render(a)})`, local);
    return decimalOf(micros, fraction.scale);
  }
  const whole = Object.hasOwn(wholeParts, unit) ? wholeParts[unit] : undefined;
  if (whole === undefined) throw unsupported(`extract(${unit} from …)`, site.at);
  return decimalOf(
    apply(`extract ${unit}`, int4, (a) => `toInt32(${whole(a)})`, local),
    0,
  );
};

/**
 * Of a timestamp with the part of the day that has passed, of which PostgreSQL shows digits as it happens.
 */
function julianDay(value: Expr | undefined, source: Expr, site: CallSite): Expr {
  if (value?.type.name !== 'date') throw unsupported('extract(julian from a timestamp)', site.at);
  const render: Renderer = (a) => `toDecimal256(toInt32(toDate32(${a})) + ${julianEpoch}, 0)`;
  return apply('extract julian', numeric(0, true), render, source);
}

/** As `extract`, of a date too what its first moment has. */
const datePart: SpecialForm = (args, site) => {
  const [unit, value] = args;
  const isDate = unit !== undefined && value?.type.name === 'date' && args.length === 2;
  return convert(
    extract(isDate ? [unit, timestampArgument(value, timestamp, site)] : args, site),
    float,
    site.at,
  );
};

const now = nowAs('timestamptz');

export const timeFunctions: FunctionTable = {
  now,
  // A clock that stands still during the query.
  clock_timestamp: now,
  transaction_timestamp: now,
  statement_timestamp: now,
  current_timestamp: now,
  localtimestamp: nowAs('timestamp'),
  current_date: nowAs('date'),
  date_trunc: dateTrunc,
  extract,
  date_part: datePart,
  date: (args, site) => {
    checkCount(args, 1, 1, site);
    return convert(timestampArgument(args[0], timestamp, site), date, site.at);
  },
  date_bin: dateBin,
  timezone: timeZone,
  to_char: toChar,
  // Infinities are no values of the store's types.
  isfinite: (['timestamp', 'date', 'interval'] as const).map((formal) =>
    fn([formal], bool, (a) => `if(isNull(${a}), NULL, true)`),
  ),
  to_timestamp: toTimestamp,
  to_date: toDate,
  ...makeFunctions,
  ...spanFunctions,
};
