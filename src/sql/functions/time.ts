import { apply, literal } from '../build.ts';
import { coerce, convert } from '../coerce.ts';
import { microsPerDay } from '../datetime.ts';
import { sqlError, unsupported } from '../errors.ts';
import type { Expr, Renderer } from '../ir.ts';
import { date, float, isTimestamp, numeric, type SqlType, timestamp, timestamptz } from '../types.ts';
import {
  type CallSite,
  checkCount,
  constantText,
  type FunctionTable,
  fn,
  type SpecialForm,
} from './definition.ts';

/** The moment of the query, the same wherever it is asked for, as in a transaction of PostgreSQL. */
const nowAs =
  (type: SqlType): SpecialForm =>
  (args, site) => {
    checkCount(args, 0, 0, site);
    const value = type.name === 'date' ? Math.floor(site.nowMicros / microsPerDay) : site.nowMicros;
    return literal(type, value);
  };

/** A date becomes a timestamp, which every unit can be taken from. */
function moment(expr: Expr | undefined, dateAs: SqlType, site: CallSite): Expr {
  if (expr === undefined) throw sqlError('sql_unknown_function', `${site.name} needs a timestamp`, site.at);
  if (expr.type.name === 'date') return convert(expr, dateAs, site.at);
  if (expr.type.name === 'unknown') return coerce(expr, timestamptz, site.at);
  if (isTimestamp(expr.type)) return expr;
  throw sqlError('sql_type', `${site.name} needs a timestamp, not ${expr.type.name}`, site.at);
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
  checkCount(args, 2, 2, site);
  const unit = constantText(args[0], 'the unit', site).toLowerCase();
  if (!truncatedUnits.has(unit)) throw unsupported(`date_trunc to "${unit}"`, site.at);
  const value = moment(args[1], timestamptz, site);
  const engineUnit = engineUnits[unit] ?? unit;
  const render: Renderer = (a) => `toDateTime64(date_trunc('${engineUnit}', ${a}, 'UTC'), 6, 'UTC')`;
  return apply(`date_trunc ${unit}`, value.type, render, value);
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
  to_timestamp: [
    fn(
      ['float'],
      timestamptz,
      (a) => `fromUnixTimestamp64Micro(accurateCast(roundBankers(${a} * 1000000), 'Int64'), 'UTC')`,
    ),
  ],
};
