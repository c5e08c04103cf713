import { microsPerDay } from '../../../lib/timestamp.ts';
import { apply, literal } from '../../build.ts';
import type { Apply, Expr, IntervalParts, Renderer } from '../../ir.ts';
import { bindOnce } from '../../let-bindings.ts';
import { maxIntervalDays } from '../../syntax/literals.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { int8, intervalOf } from '../../types.ts';

/**
 * The months, days and clock of intervals. The store keeps the length of an interval alone, which is what it
 * is compared, grouped and added up by; its parts are computed beside it where an expression says how.
 */
/** The parts of an interval, each of type `int8`. */
export type IntervalExprs = Readonly<Record<keyof IntervalParts, Expr>>;

export const whole = (value: number): Expr => literal(int8, String(value));
const constant = ({ months, days, micros }: IntervalParts): IntervalExprs => ({
  months: whole(months),
  days: whole(days),
  micros: whole(micros),
});

export const microsInDay = `toInt64(${microsPerDay})`;
/** As PostgreSQL compares: a month has 30 days. */
const microsInMonth = `toInt64(${30 * microsPerDay})`;

/** The value of a literal that is no NULL. */
export function literalParts(expr: Expr): IntervalParts | undefined {
  const isParts = expr.kind === 'literal' && typeof expr.value === 'object' && expr.value !== null;
  return isParts ? (expr.value as IntervalParts) : undefined;
}

/** The parts of an interval; undefined where they are lost: in columns of subqueries, for one. */
export function partsOf(expr: Expr): IntervalExprs | undefined {
  const known = literalParts(expr);
  if (known !== undefined) return constant(known);
  if (expr.kind === 'apply' && expr.ofParts === true) {
    const [months = whole(0), days = whole(0), micros = whole(0)] = expr.args;
    return { months, days, micros };
  }
  const form = expr.type.name === 'interval' ? expr.type.form : 'any';
  if (form === 'clock') return { ...constant({ months: 0, days: 0, micros: 0 }), micros: expr };
  return form === 'days' ? { months: whole(0), ...daysAndRest(expr) } : undefined;
}

const daysAndRest = (micros: Expr): Omit<IntervalExprs, 'months'> => ({
  days: quotient(micros, microsInDay, 'days'),
  micros: remainder(micros, microsInDay, 'days'),
});

/** Towards zero, as C divides. */
const quotient = (value: Expr, by: string, name: string): Expr =>
  apply(`${name} in`, int8, (a) => `intDiv(${a}, ${by})`, value);
const remainder = (value: Expr, by: string, name: string): Expr =>
  apply(`beside ${name}`, int8, (a) => `(${a} % ${by})`, value);

export const isZero = (expr: Expr): boolean => expr.kind === 'literal' && expr.value === '0';

/** The store has the length of months and of days, which is an error where it does not fit. */
const within = (part: Expr, max: number): Expr =>
  part.kind === 'literal' || (part.kind === 'apply' && part.name === `at most ${max}`)
    ? part
    : apply(
        `at most ${max}`,
        int8,
        (a) => bindOnce([a], (n) => `(${n} + ${raiseIf(`abs(${n}) > ${max}`, 'longInterval')})`),
        part,
      );
const maxMonths = Math.floor(maxIntervalDays / 30);

/** An interval of which the parts are known: whole numbers of 64 bits. */
export function intervalOfParts(name: string, parts: IntervalExprs): Apply {
  const { micros } = parts;
  const [months, days] = [within(parts.months, maxMonths), within(parts.days, maxIntervalDays)];
  const form = isZero(months) ? (isZero(days) ? 'clock' : 'mixed') : 'any';
  const render: Renderer = (m, d, u) => {
    if (isZero(months) && isZero(days)) return `(${u})`;
    const terms = [
      ...(isZero(months) ? [] : [`toInt128(${m}) * ${microsInMonth}`]),
      ...(isZero(days) ? [] : [`toInt128(${d}) * ${microsInDay}`]),
      u,
    ];
    return inInt64(terms.join(' + '));
  };
  return { ...apply(name, intervalOf(form), render, months, days, micros), ofParts: true };
}

/** An error instead of a sum that does not fit. */
const inInt64 = (sum: string): string => `accurateCast(${sum}, 'Int64')`;

/** The same of each part. */
export const mapParts = (
  { months, days, micros }: IntervalExprs,
  change: (part: Expr) => Expr,
): IntervalExprs => ({
  months: isZero(months) ? months : change(months),
  days: isZero(days) ? days : change(days),
  micros: isZero(micros) ? micros : change(micros),
});

const sum = (left: Expr, right: Expr, operator: '+' | '-'): Expr =>
  isZero(right)
    ? left
    : apply(`part ${operator}`, int8, (a, b) => inInt64(`toInt128(${a}) ${operator} ${b}`), left, right);

/** Part by part. */
export const addParts = (left: IntervalExprs, right: IntervalExprs, operator: '+' | '-'): IntervalExprs => ({
  months: sum(left.months, right.months, operator),
  days: sum(left.days, right.days, operator),
  micros: sum(left.micros, right.micros, operator),
});

/** Days and clock, so that the clock is shorter than a day and both have one sign; months as they are. */
export const justifyHours = ({ months, days, micros }: IntervalExprs): IntervalExprs => {
  const length = apply(
    'days and clock',
    int8,
    (d, u) => inInt64(`toInt128(${d}) * ${microsInDay} + ${u}`),
    days,
    micros,
  );
  return { months, ...daysAndRest(isZero(days) ? micros : length) };
};

/** Months and days likewise, a month being 30 days. */
export const justifyDays = ({ months, days, micros }: IntervalExprs): IntervalExprs => {
  const length = apply('months and days', int8, (m, d) => `(${m} * 30 + ${d})`, months, days);
  const all = isZero(months) ? days : length;
  return { months: quotient(all, '30', 'months'), days: remainder(all, '30', 'months'), micros };
};

/** All three, which the length alone decides. */
export const justifyAll = (length: Expr): IntervalExprs => ({
  months: quotient(length, microsInMonth, 'months'),
  ...daysAndRest(remainder(length, microsInMonth, 'months')),
});
