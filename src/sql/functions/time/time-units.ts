import { microsPerDay, microsPerSecond } from '../../../lib/timestamp.ts';
import { apply } from '../../build.ts';
import type { Expr } from '../../ir.ts';
import { unsupported } from '../../sql-error.ts';
import { int8, numeric, type SqlType } from '../../types.ts';
import { type CallSite, constantText } from '../definition.ts';
import { intervalOfParts, partsOf, whole } from './interval-parts.ts';

/**
 * PostgreSQL's other words for its units (`datetktbl` and `deltatktbl` in src/backend/utils/adt/datetime.c).
 */
export const synonyms: Readonly<Record<string, readonly string[]>> = {
  microseconds: ['microsecond', 'microsecon', 'us', 'usec', 'usecs', 'usecond', 'useconds'],
  milliseconds: ['millisecond', 'millisecon', 'ms', 'msec', 'msecs', 'msecond', 'mseconds'],
  second: ['s', 'sec', 'secs', 'seconds'],
  minute: ['m', 'min', 'mins', 'minutes'],
  hour: ['h', 'hr', 'hrs', 'hours'],
  day: ['d', 'days'],
  week: ['w', 'weeks'],
  month: ['mon', 'mons', 'months'],
  quarter: ['qtr'],
  year: ['y', 'yr', 'yrs', 'years'],
  decade: ['dec', 'decs', 'decades'],
  century: ['c', 'cent', 'centuries'],
  millennium: ['mil', 'mils', 'millennia'],
};
const unitNames: ReadonlyMap<string, string> = new Map(
  Object.entries(synonyms).flatMap(([unit, words]) => words.map((word) => [word, unit] as const)),
);

/** The unit that a literal names, by its usual name; what is no unit as it is. */
export function unitOf(expr: Expr | undefined, site: CallSite): string {
  const written = constantText(expr, 'the unit', site, { sample: 'second' }).toLowerCase();
  return unitNames.get(written) ?? written;
}

/** Whole microseconds as a decimal of a larger unit, 10 to the power of the scale. */
export const decimalMicros = (micros: string, scale: number): string =>
  scale === 0
    ? `toDecimal256(${micros}, 0)`
    : `divideDecimal(toDecimal256(${micros}, 0), toDecimal256(${10 ** scale}, 0), ${scale})`;

const minuteMicros = 60 * microsPerSecond;
const hourMicros = 60 * minuteMicros;
/** `DAYS_PER_YEAR` of src/include/datatype/timestamp.h, for the epoch of an interval. */
const yearMicros = 365.25 * microsPerDay;

/** What of the parts of an interval a unit is; of a fraction, microseconds. */
interface PartOfInterval {
  readonly type: SqlType;
  readonly render: (months: string, days: string, micros: string) => string;
}
const integral = (render: PartOfInterval['render']): PartOfInterval => ({
  type: numeric(0, true),
  render: (m, d, u) => `toDecimal256(${render(m, d, u)}, 0)`,
});
const fraction = (scale: number, render: PartOfInterval['render']): PartOfInterval => ({
  type: numeric(scale, true),
  render: (m, d, u) => decimalMicros(render(m, d, u), scale),
});
const years = (count: number) => integral((m) => `intDiv(${m}, ${12 * count})`);
const ofMinute = (u: string): string => `(${u} % toInt64(${minuteMicros}))`;

/**
 * No quarter and no week: what they are of an interval is new in PostgreSQL 18, and another for negative
 * ones.
 */
const partsOfInterval: Readonly<Record<string, PartOfInterval>> = {
  epoch: fraction(6, (m, d, u) => {
    const months = `intDiv(${m}, 12) * toInt64(${yearMicros}) + (${m} % 12) * toInt64(${30 * microsPerDay})`;
    return `(${months} + ${d} * toInt64(${microsPerDay}) + ${u})`;
  }),
  millennium: years(1000),
  century: years(100),
  decade: years(10),
  year: years(1),
  month: integral((m) => `(${m} % 12)`),
  day: integral((_, d) => d),
  hour: integral((_m, _d, u) => `intDiv(${u}, toInt64(${hourMicros}))`),
  minute: integral((_m, _d, u) => `intDiv(${u} % toInt64(${hourMicros}), toInt64(${minuteMicros}))`),
  second: fraction(6, (_m, _d, u) => ofMinute(u)),
  milliseconds: fraction(3, (_m, _d, u) => ofMinute(u)),
  microseconds: fraction(0, (_m, _d, u) => ofMinute(u)),
};

/** `extract (unit from interval)`, where its months, days and hours are known. */
export function partOfInterval(unit: string, value: Expr, site: CallSite): Expr {
  const part = Object.hasOwn(partsOfInterval, unit) ? partsOfInterval[unit] : undefined;
  if (part === undefined) throw unsupported(`extract(${unit} from an interval)`, site.at);
  const hasMonths = value.type.name !== 'interval' || value.type.form === 'any';
  if (unit === 'epoch' && !hasMonths) {
    return apply('extract epoch', part.type, (a) => decimalMicros(a, 6), value);
  }
  const parts = partsOf(value);
  if (parts === undefined) {
    throw unsupported(`extract(${unit} from an interval whose days and hours are mixed)`, site.at);
  }
  // Of NULL, no part may be left.
  const render = (a: string, m: string, d: string, u: string): string =>
    `if(isNull(${a}), NULL, ${part.render(m, d, u)})`;
  const args = [value, parts.months, parts.days, parts.micros];
  return apply(`extract ${unit} of parts`, part.type, render, ...args);
}

/** How many months the larger units have. */
const monthsOf: Readonly<Record<string, number>> = {
  month: 1,
  quarter: 3,
  year: 12,
  decade: 120,
  century: 1200,
  millennium: 12_000,
};
/** How long those units are that have one length each, in microseconds. */
export const unitMicros: Readonly<Record<string, number>> = {
  microseconds: 1,
  milliseconds: 1000,
  second: microsPerSecond,
  minute: minuteMicros,
  hour: hourMicros,
  day: microsPerDay,
};

/** `date_trunc (unit, interval)`: without what is smaller than the unit. */
export function truncatedInterval(unit: string, value: Expr, site: CallSite): Expr {
  const parts = partsOf(value);
  if (parts === undefined) {
    throw unsupported('date_trunc of an interval whose days and hours are mixed', site.at);
  }
  // NULL also where only a part is NULL that is left out.
  const cut = (part: Expr, by: string): Expr =>
    apply(`cut ${by}`, int8, (all, a) => `if(isNull(${all}), NULL, ${a} - ${a} % ${by})`, value, part);
  const length = Object.hasOwn(unitMicros, unit) ? unitMicros[unit] : undefined;
  if (length !== undefined) {
    const none = apply('no clock', int8, (all) => `if(isNull(${all}), NULL, toInt64(0))`, value);
    const micros = unit === 'day' ? none : cut(parts.micros, `toInt64(${length})`);
    return intervalOfParts(`date_trunc ${unit}`, { ...parts, micros });
  }
  const months = Object.hasOwn(monthsOf, unit) ? monthsOf[unit] : undefined;
  if (months === undefined) throw unsupported(`date_trunc of an interval to "${unit}"`, site.at);
  return intervalOfParts(`date_trunc ${unit}`, {
    months: cut(parts.months, String(months)),
    days: whole(0),
    micros: whole(0),
  });
}
