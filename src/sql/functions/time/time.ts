import { apply } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr, Renderer } from '../../ir.ts';
import { dayPlaceholder, timePlaceholder } from '../../placeholders.ts';
import { unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { bool, date, float, interval, numeric, type SqlType, timestamp, timestamptz } from '../../types.ts';
import {
  argument,
  type CallSite,
  checkCount,
  type FunctionTable,
  fn,
  type SpecialForm,
} from '../definition.ts';
import { dateTrunc } from './date-trunc.ts';
import { makeFunctions } from './make-times.ts';
import { toDate, toTimestamp } from './read-times.ts';
import { spanFunctions } from './time-spans.ts';
import { decimalMicros, partOfInterval, unitOf } from './time-units.ts';
import { timeZone } from './time-zones.ts';
import { timestampArgument } from './timestamp-argument.ts';
import { toChar } from './to-char.ts';

/** The moment of the query, the same wherever it is asked for, as in a transaction of PostgreSQL. */
const nowAs =
  (type: SqlType): SpecialForm =>
  (args, site) => {
    checkCount(args, 0, 0, site);
    const day = type.name === 'date';
    return apply(`now ${type.name}`, type, () =>
      day ? `toDate32(${dayPlaceholder('now')})` : timePlaceholder('now'),
    );
  };

/** `date_bin (width, t, origin)`: the begin of the bin that a moment lies in. */
const dateBin: SpecialForm = (args, site) => {
  checkCount(args, 3, 3, site);
  const [given] = args;
  const width = coerce(argument(args, 0), given?.type.name === 'interval' ? given.type : interval, site.at);
  if (width.type.name !== 'interval' || width.type.form === 'any') {
    throw unsupported('date_bin with an interval that has months', site.at);
  }
  // A date goes with the other argument.
  const first = args[1]?.type.name === 'date' ? (args[2]?.type ?? timestamptz) : timestamptz;
  const value = timestampArgument(args[1], first.name === 'timestamp' ? first : timestamptz, site);
  const origin = coerce(timestampArgument(args[2], value.type, site), value.type, site.at);
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
};
const clockParts: ReadonlySet<string> = new Set(['hour', 'minute', 'second', 'milliseconds', 'microseconds']);
const microsOf = (a: string): string => `toUnixTimestamp64Micro(${a})`;
const microsOfMinute = (a: string): string => `positiveModulo(${microsOf(a)}, 60000000)`;

const fractions: Readonly<Record<string, { readonly scale: number; readonly render: Renderer }>> = {
  epoch: { scale: 6, render: (a) => decimalMicros(microsOf(a), 6) },
  second: { scale: 6, render: (a) => decimalMicros(microsOfMinute(a), 6) },
  milliseconds: { scale: 3, render: (a) => decimalMicros(microsOfMinute(a), 3) },
  microseconds: { scale: 0, render: (a) => `toDecimal256(${microsOfMinute(a)}, 0)` },
  dow: { scale: 0, render: (a) => `toDecimal256(toDayOfWeek(${a}) % 7, 0)` },
};

/** The Julian day on which 1970 begins. */
const julianEpoch = 2_440_588;
const zoneParts: ReadonlySet<string> = new Set(['timezone', 'timezone_hour', 'timezone_minute']);

const extract: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const unit = unitOf(args[0], site);
  const [, value] = args;
  if (value?.type.name === 'interval') return partOfInterval(unit, value, site);
  if (value?.type.name === 'date' && (clockParts.has(unit) || zoneParts.has(unit))) {
    throw unsupported(`extract(${unit} from a date)`, site.at);
  }
  const source = timestampArgument(value, timestamp, site);
  if (unit === 'julian') return julianDay(value, source, site);
  if (zoneParts.has(unit) && value?.type.name === 'timestamptz') {
    // Sessions are in UTC.
    return apply(
      'extract timezone',
      numeric(0, true),
      (a) => `if(isNull(${a}), NULL, toDecimal256(0, 0))`,
      source,
    );
  }
  const fraction = Object.hasOwn(fractions, unit) ? fractions[unit] : undefined;
  if (fraction !== undefined) {
    return apply(`extract ${unit}`, numeric(fraction.scale, true), fraction.render, source);
  }
  const whole = Object.hasOwn(wholeParts, unit) ? wholeParts[unit] : undefined;
  if (whole === undefined) throw unsupported(`extract(${unit} from …)`, site.at);
  return apply(`extract ${unit}`, numeric(0, true), (a) => `toDecimal256(${whole(a)}, 0)`, source);
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

const now = nowAs(timestamptz);

export const timeFunctions: FunctionTable = {
  now,
  // A clock that stands still during the query.
  clock_timestamp: now,
  transaction_timestamp: now,
  statement_timestamp: now,
  current_timestamp: now,
  localtimestamp: nowAs(timestamp),
  current_date: nowAs(date),
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
