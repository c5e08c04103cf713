import { apply, literal } from '../build.ts';
import { unsupported } from '../errors.ts';
import type { Expr, IntervalParts, Renderer } from '../ir.ts';
import { numeric, numericScale, type SqlType } from '../types.ts';
import { type CallSite, constantText } from './definition.ts';

/** PostgreSQL's other words for its units (`datetktbl` and `deltatktbl` in src/backend/utils/adt/datetime.c). */
const synonyms: Readonly<Record<string, readonly string[]>> = {
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
  const written = constantText(expr, 'the unit', site).toLowerCase();
  return unitNames.get(written) ?? written;
}

/** Whole microseconds as a decimal of a larger unit, 10 to the power of the scale. */
export const decimalMicros = (micros: string, scale: number): string =>
  scale === 0
    ? `toDecimal256(${micros}, 0)`
    : `divideDecimal(toDecimal256(${micros}, 0), toDecimal256(${10 ** scale}, 0), ${scale})`;

/** What of an interval is a clock's, in microseconds, and how it is shown. */
interface ClockPart {
  readonly unitMicros: number;
  readonly within: number;
  readonly type: SqlType;
}
const minuteMicros = 60_000_000;
const hourMicros = 60 * minuteMicros;
const clockParts: Readonly<Record<string, ClockPart>> = {
  hour: { unitMicros: hourMicros, within: Number.POSITIVE_INFINITY, type: numeric(0, true) },
  minute: { unitMicros: minuteMicros, within: hourMicros, type: numeric(0, true) },
  second: { unitMicros: 1, within: minuteMicros, type: numeric(6, true) },
  milliseconds: { unitMicros: 1, within: minuteMicros, type: numeric(3, true) },
  microseconds: { unitMicros: 1, within: minuteMicros, type: numeric(0, true) },
};

/** Of what has no months, no days beyond those of its form. */
const dayMicros = 24 * hourMicros;

/** `extract (unit from interval)`, where its days and hours are known. */
export function partOfInterval(unit: string, value: Expr, site: CallSite): Expr {
  if (unit === 'epoch') return apply('extract epoch', numeric(6, true), (a) => decimalMicros(a, 6), value);
  if (value.kind === 'literal' && typeof value.value === 'object' && value.value !== null) {
    return partOfLiteral(unit, value.value, site);
  }
  const form = value.type.name === 'interval' ? value.type.form : 'any';
  const clock = Object.hasOwn(clockParts, unit) ? clockParts[unit] : undefined;
  const isKnown = form === 'clock' || form === 'days';
  if (!isKnown || (clock === undefined && !['day', 'month', 'year'].includes(unit))) {
    throw unsupported(
      `extract(${unit} from an interval${isKnown ? '' : ' whose days and hours are mixed'})`,
      site.at,
    );
  }
  const hasDays = form === 'days';
  const render: Renderer = (a) => {
    const zero = `if(isNull(${a}), NULL, 0)`;
    if (clock === undefined)
      return `toDecimal256(${hasDays && unit === 'day' ? `intDiv(${a}, toInt64(${dayMicros}))` : zero}, 0)`;
    const limit = Math.min(clock.within, hasDays ? dayMicros : Number.POSITIVE_INFINITY);
    const rest = Number.isFinite(limit) ? `(${a} % toInt64(${limit}))` : a;
    const scale = numericScale(clock.type);
    return clock.unitMicros === 1
      ? decimalMicros(rest, scale)
      : `toDecimal256(intDiv(${rest}, toInt64(${clock.unitMicros})), 0)`;
  };
  return apply(`extract ${unit} of ${form}`, clock?.type ?? numeric(0, true), render, value);
}

function partOfLiteral(unit: string, { months, days, micros }: IntervalParts, site: CallSite): Expr {
  const whole = (number: number): Expr => literal(numeric(0, true), String(Math.trunc(number) + 0));
  const clock = Object.hasOwn(clockParts, unit) ? clockParts[unit] : undefined;
  if (unit === 'year') return whole(months / 12);
  if (unit === 'month') return whole(months % 12);
  if (unit === 'day') return whole(days);
  if (clock === undefined) throw unsupported(`extract(${unit} from an interval)`, site.at);
  const rest = Number.isFinite(clock.within) ? micros % clock.within : micros;
  const scale = numericScale(clock.type);
  if (clock.unitMicros > 1) return whole(rest / clock.unitMicros);
  return literal(clock.type, (rest / 10 ** scale).toFixed(scale));
}
