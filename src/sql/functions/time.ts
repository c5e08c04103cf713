import { apply } from '../build.ts';
import { coerce, convert } from '../coerce.ts';
import { sqlError, unsupported } from '../errors.ts';
import type { Expr, Renderer } from '../ir.ts';
import { momentDay, momentTimestamp } from '../moments.ts';
import {
  date,
  float,
  interval,
  intervalOf,
  isTimestamp,
  numeric,
  type SqlType,
  timestamp,
  timestamptz,
  typeLabel,
} from '../types.ts';
import {
  argument,
  type CallSite,
  checkCount,
  constantText,
  type FunctionTable,
  fn,
  type SpecialForm,
} from './definition.ts';
import { atTimeZone, timeZone, zoneName } from './time-zones.ts';
import { toChar } from './to-char.ts';

/** The moment of the query, the same wherever it is asked for, as in a transaction of PostgreSQL. */
const nowAs =
  (type: SqlType): SpecialForm =>
  (args, site) => {
    checkCount(args, 0, 0, site);
    const day = type.name === 'date';
    return apply(`now ${type.name}`, type, () =>
      day ? `toDate32(${momentDay('now')})` : momentTimestamp('now'),
    );
  };

/** A date becomes a timestamp, which every unit can be taken from. */
function moment(expr: Expr | undefined, dateAs: SqlType, site: CallSite): Expr {
  if (expr === undefined) throw sqlError('sql_unknown_function', `${site.name} needs a timestamp`, site.at);
  if (expr.type.name === 'date') return convert(expr, dateAs, site.at);
  if (expr.type.name === 'unknown') return coerce(expr, timestamptz, site.at);
  if (isTimestamp(expr.type)) return expr;
  throw sqlError(
    'sql_unknown_function',
    `${site.name} needs a timestamp, not ${typeLabel(expr.type)}`,
    site.at,
  );
}

const truncatedUnits: ReadonlySet<string> = new Set([
  'microseconds',
  'milliseconds',
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
]);
const engineUnits: Readonly<Record<string, string>> = {
  microseconds: 'microsecond',
  milliseconds: 'millisecond',
};

const dateTrunc: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const unit = constantText(args[0], 'the unit', site).toLowerCase();
  if (!truncatedUnits.has(unit)) throw unsupported(`date_trunc to "${unit}"`, site.at);
  const value = moment(args[1], timestamptz, site);
  if (args.length === 3) {
    const zone = zoneName(args[2], site);
    const local = atTimeZone(coerce(value, timestamptz, site.at), zone, site);
    return atTimeZone(truncated(local, unit), zone, site);
  }
  return truncated(value, unit);
};

/** Where the unit began that a moment lies in. */
function truncated(value: Expr, unit: string): Expr {
  const engineUnit = engineUnits[unit] ?? unit;
  const render: Renderer = (a) => `toDateTime64(date_trunc('${engineUnit}', ${a}, 'UTC'), 6, 'UTC')`;
  return apply(`date_trunc ${unit}`, value.type, render, value);
}

/** `date_bin (width, t, origin)`: the begin of the bin that a moment lies in. */
const dateBin: SpecialForm = (args, site) => {
  checkCount(args, 3, 3, site);
  const [given] = args;
  const width = coerce(argument(args, 0), given?.type.name === 'interval' ? given.type : interval, site.at);
  if (width.type.name !== 'interval' || width.type.form === 'any') {
    throw unsupported('date_bin with an interval that has months', site.at);
  }
  const value = moment(args[1], timestamptz, site);
  const origin = coerce(moment(args[2], value.type, site), value.type, site.at);
  return apply(
    'date_bin',
    value.type,
    (by, a, from) => {
      const since = `(${microsOf(a)} - ${microsOf(from)})`;
      return `fromUnixTimestamp64Micro(${microsOf(a)} - positiveModulo(${since}, ${by}), 'UTC')`;
    },
    width,
    value,
    origin,
  );
};

/** What `extract` gives: whole numbers by the engine's functions, fractions from microseconds. */
const wholeParts: Readonly<Record<string, string>> = {
  year: 'toYear',
  month: 'toMonth',
  day: 'toDayOfMonth',
  hour: 'toHour',
  minute: 'toMinute',
  doy: 'toDayOfYear',
  week: 'toISOWeek',
  isoyear: 'toISOYear',
  quarter: 'toQuarter',
  isodow: 'toDayOfWeek',
};
const microsOf = (a: string): string => `toUnixTimestamp64Micro(${a})`;
const decimalMicros = (micros: string, scale: number): string =>
  `divideDecimal(toDecimal256(${micros}, 0), toDecimal256(${10 ** scale}, 0), ${scale})`;
const microsOfMinute = (a: string): string => `positiveModulo(${microsOf(a)}, 60000000)`;

const fractions: Readonly<Record<string, { readonly scale: number; readonly render: Renderer }>> = {
  epoch: { scale: 6, render: (a) => decimalMicros(microsOf(a), 6) },
  second: { scale: 6, render: (a) => decimalMicros(microsOfMinute(a), 6) },
  milliseconds: { scale: 3, render: (a) => decimalMicros(microsOfMinute(a), 3) },
  microseconds: { scale: 0, render: (a) => `toDecimal256(${microsOfMinute(a)}, 0)` },
  dow: { scale: 0, render: (a) => `toDecimal256(toDayOfWeek(${a}) % 7, 0)` },
};

const extract: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const unit = constantText(args[0], 'the unit', site).toLowerCase();
  const [, value] = args;
  if (value?.type.name === 'interval') {
    if (unit !== 'epoch') throw unsupported(`extract(${unit} from an interval)`, site.at);
    return apply('extract epoch', numeric(6, true), (a) => decimalMicros(a, 6), value);
  }
  const source = moment(value, timestamp, site);
  const fraction = Object.hasOwn(fractions, unit) ? fractions[unit] : undefined;
  if (fraction !== undefined) {
    return apply(`extract ${unit}`, numeric(fraction.scale, true), fraction.render, source);
  }
  const whole = Object.hasOwn(wholeParts, unit) ? wholeParts[unit] : undefined;
  if (whole === undefined) throw unsupported(`extract(${unit} from …)`, site.at);
  return apply(`extract ${unit}`, numeric(0, true), (a) => `toDecimal256(${whole}(${a}), 0)`, source);
};

/** As many days as fit, which is possible where there are no months. */
function justified([type]: readonly SqlType[]): SqlType {
  if (type?.name !== 'interval' || type.form === 'any') throw unsupported('justify_hours of months');
  return intervalOf('days');
}

const now = nowAs(timestamptz);

export const timeFunctions: FunctionTable = {
  now,
  transaction_timestamp: now,
  statement_timestamp: now,
  current_timestamp: now,
  localtimestamp: nowAs(timestamp),
  current_date: nowAs(date),
  date_trunc: dateTrunc,
  extract,
  date_part: (args, site) => convert(extract(args, site), float, site.at),
  date: (args, site) => {
    checkCount(args, 1, 1, site);
    return convert(moment(args[0], timestamp, site), date, site.at);
  },
  date_bin: dateBin,
  timezone: timeZone,
  to_char: toChar,
  justify_hours: [fn(['interval'], justified, (a) => a)],
  to_timestamp: [
    fn(
      ['float'],
      timestamptz,
      (a) => `fromUnixTimestamp64Micro(accurateCast(roundBankers(${a} * 1000000), 'Int64'), 'UTC')`,
    ),
  ],
};
