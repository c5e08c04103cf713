import { microsPerDay, microsPerSecond } from '../../../lib/timestamp.ts';
import { apply, literal } from '../../build.ts';
import { convert } from '../../coerce.ts';
import type { Expr, IntervalParts, Renderer } from '../../ir.ts';
import { bindOnce } from '../../let-bindings.ts';
import { isSessionInUtc } from '../../session-times.ts';
import { unsupported } from '../../sql-error.ts';
import { intervalLiteral } from '../../syntax/literals.ts';
import {
  commonForm,
  date,
  float,
  int4,
  int8,
  intervalOf,
  isInteger,
  isNumber,
  isTimestamp,
  timestamp,
  timestamptz,
} from '../../types.ts';
import type { CallSite } from '../definition.ts';
import {
  addParts,
  type IntervalExprs,
  intervalOfParts,
  isZero,
  literalParts,
  mapParts,
  microsInDay,
  partsOf,
  whole,
} from './interval-parts.ts';
import { commonMoments } from './local-time.ts';
import { plusDays as addedDays, isShortStep, plusMicros, plusMonths } from './store-years.ts';

/** The arithmetic of times, dates and intervals; undefined if the operands are neither. */
export function timeArithmetic(
  name: string,
  [left, right]: readonly [Expr, Expr],
  site: CallSite,
): Expr | undefined {
  const sign = name === '-' ? -1 : 1;
  if (name === '+' || name === '-') {
    if (right.type.name === 'interval') return plusInterval(left, right, sign, site);
    if (name === '+' && left.type.name === 'interval') return plusInterval(right, left, 1, site);
    if (left.type.name === 'date' && isDayCount(right)) return plusDays(left, right, sign);
    if (name === '+' && isDayCount(left) && right.type.name === 'date') return plusDays(right, left, 1);
    return name === '-' ? difference(left, right, site) : undefined;
  }
  if (left.type.name === 'interval' && isNumber(right.type) && (name === '*' || name === '/')) {
    return scaleInterval(left, right, name, site);
  }
  return name === '*' && isNumber(left.type) && right.type.name === 'interval'
    ? scaleInterval(right, left, name, site)
    : undefined;
}

/** PostgreSQL has no operator for a date and a `bigint`. */
const isDayCount = ({ type }: Expr): boolean => isInteger(type) && type.name !== 'int8';

const plusDays = (day: Expr, days: Expr, sign: 1 | -1): Expr =>
  apply(
    `date + int ${sign}`,
    date,
    (a, b) => {
      const step = days.kind === 'literal' ? Number(days.value) : undefined;
      const minus = sign < 0 ? '-' : '';
      return step !== undefined && isShortStep(0, step * microsPerDay)
        ? `addDays(${a}, ${minus}toInt32(${b}))`
        : addedDays(a, `${minus}toInt64(${b})`);
    },
    day,
    days,
  );

function difference(left: Expr, right: Expr, site: CallSite): Expr | undefined {
  if (left.type.name === 'date' && right.type.name === 'date') {
    return apply('date - date', int4, (a, b) => `toInt32(toInt32(${a}) - toInt32(${b}))`, left, right);
  }
  const isTime = (expr: Expr): boolean => expr.type.name === 'date' || isTimestamp(expr.type);
  if (!isTime(left) || !isTime(right)) return undefined;
  const moments = commonMoments([left, right], site.at).map((side) =>
    isTimestamp(side.type) ? side : convert(side, timestamp, site.at),
  );
  return apply(
    'timestamp - timestamp',
    intervalOf('days'),
    (a, b) => `(toUnixTimestamp64Micro(${a}) - toUnixTimestamp64Micro(${b}))`,
    ...moments,
  );
}

/** Months are calendar months; what has none is a number of microseconds. */
function plusInterval(base: Expr, amount: Expr, sign: 1 | -1, site: CallSite): Expr | undefined {
  const operator = sign < 0 ? '-' : '+';
  if (base.type.name === 'interval') return addIntervals(base, amount, operator);
  const moment = base.type.name === 'date' ? convert(base, timestamp, site.at) : base;
  if (!isTimestamp(moment.type)) return undefined;
  if (moment.type.name === 'timestamptz' && !isSessionInUtc() && !isClock(amount))
    return plusInZone(moment, amount, sign, site);
  const known = literalParts(amount);
  if (known !== undefined && known.months !== 0) return plusKnown(moment, known, sign);
  const hasNoMonths = amount.type.name === 'interval' && amount.type.form !== 'any';
  if (known !== undefined || hasNoMonths) {
    return apply(
      `timestamp ${operator} interval`,
      moment.type,
      (a, b) => {
        const step = known === undefined ? undefined : known.days * microsPerDay + known.micros;
        const added = `${sign < 0 ? '-' : ''}${b}`;
        return step !== undefined && isShortStep(0, step)
          ? `addMicroseconds(${a}, ${added})`
          : plusMicros(a, added);
      },
      moment,
      amount,
    );
  }
  const parts = partsOf(amount);
  if (parts === undefined) {
    throw unsupported('A timestamp and an interval that may have months, from a subquery or CASE,', site.at);
  }
  const minus = sign < 0 ? '-' : '';
  const render: Renderer = (a, m, d, u) =>
    bindOnce([a], (t) => {
      const micros = `${minus}(toInt128(${d}) * ${microsInDay} + ${u}) + ${fractionOf(t)}`;
      return plusMicros(plusMonths(t, `${minus}${m}`), `accurateCast(${micros}, 'Int64')`);
    });
  const { months, days, micros } = parts;
  return apply(`timestamp ${operator} parts`, moment.type, render, moment, months, days, micros);
}

const isClock = ({ type }: Expr): boolean => type.name === 'interval' && type.form === 'clock';

/**
 * Months, then days, are added to what the clocks of the session show; hours to the moment
 * (timestamptz_pl_interval in src/backend/utils/adt/timestamp.c).
 */
function plusInZone(moment: Expr, amount: Expr, sign: 1 | -1, site: CallSite): Expr {
  if (amount.kind === 'literal' && amount.value === null) return literal(moment.type, null);
  const parts = partsOf(amount);
  if (parts === undefined) {
    const what = 'A timestamp with time zone and an interval whose days and hours are not known apart,';
    throw unsupported(`${what} outside of UTC,`, site.at);
  }
  const none = { months: whole(0), days: whole(0), micros: whole(0) };
  let sum = moment;
  for (const part of ['months', 'days'] as const) {
    if (isZero(parts[part])) continue;
    const step = onlyPart(part, parts[part], none);
    const local = plusInterval(convert(sum, timestamp, site.at), step, sign, site);
    if (local === undefined) throw new Error('BUG: a timestamp and an interval have a sum');
    sum = convert(local, timestamptz, site.at);
  }
  if (isZero(parts.micros)) return sum;
  return plusInterval(sum, onlyPart('micros', parts.micros, none), sign, site) ?? sum;
}

function onlyPart(name: keyof IntervalParts, part: Expr, none: IntervalExprs): Expr {
  const others = { months: 0, days: 0, micros: 0 };
  return part.kind === 'literal'
    ? intervalLiteral({ ...others, [name]: Number(part.value) })
    : intervalOfParts(`${name} of interval`, { ...none, [name]: part });
}

function plusKnown(moment: Expr, parts: IntervalParts, sign: 1 | -1): Expr {
  const months = sign * parts.months;
  const micros = sign * (parts.days * microsPerDay + parts.micros);
  return apply(
    `timestamp + ${months} months ${micros}`,
    moment.type,
    (a) => {
      if (!isShortStep(months, micros)) {
        return bindOnce([a], (t) =>
          plusMicros(plusMonths(t, String(months)), `${fractionOf(t)} + ${micros}`),
        );
      }
      if (mayHaveFraction(moment)) {
        const later = (t: string): string => `addMonths(toStartOfSecond(${t}), ${months})`;
        return bindOnce([a], (t) => `addMicroseconds(${later(t)}, ${fractionOf(t)} + ${micros})`);
      }
      const later = `addMonths(${a}, ${months})`;
      return micros === 0 ? later : `addMicroseconds(${later}, ${micros})`;
    },
    moment,
  );
}

/** What the engine rounds up where it adds months before 1970. */
const fractionOf = (moment: string): string =>
  `positiveModulo(toUnixTimestamp64Micro(${moment}), toInt64(${microsPerSecond}))`;

/** False for what is known to be whole seconds or behind 1970. */
const mayHaveFraction = (moment: Expr): boolean =>
  moment.kind === 'literal'
    ? Number(moment.value) < 0
    : moment.kind !== 'apply' || !/^(now|cast date) /.test(moment.name);

function addIntervals(left: Expr, right: Expr, operator: '+' | '-'): Expr {
  const forms = [left, right].map((side) => (side.type.name === 'interval' ? side.type.form : 'any'));
  const [leftKnown, rightKnown] = [literalParts(left), literalParts(right)];
  if (leftKnown !== undefined && rightKnown !== undefined) {
    const add = (part: keyof IntervalParts): number =>
      leftKnown[part] + (operator === '-' ? -rightKnown[part] : rightKnown[part]);
    return intervalLiteral({ months: add('months'), days: add('days'), micros: add('micros') });
  }
  const [leftParts, rightParts] = [partsOf(left), partsOf(right)];
  const areClocks = forms.every((each) => each === 'clock');
  if (!areClocks && leftParts !== undefined && rightParts !== undefined) {
    return intervalOfParts(`interval ${operator}`, addParts(leftParts, rightParts, operator));
  }
  // Days are added to days and hours to hours, so that hours may come to more than a day.
  const form = areClocks ? 'clock' : commonForm(forms, 'mixed');
  const render: Renderer = (a, b) => `accurateCast(toInt128(${a}) ${operator} ${b}, 'Int64')`;
  return apply(`interval ${operator}`, intervalOf(form), render, left, right);
}

const scaledParts = ({ months, days, micros }: IntervalParts, times: number): IntervalParts => ({
  months: months * times,
  days: days * times,
  micros: micros * times,
});

/** `-interval '…'` */
export function negateInterval(amount: Expr): Expr {
  const known = literalParts(amount);
  if (known !== undefined) return intervalLiteral(scaledParts(known, -1));
  const parts = partsOf(amount);
  if (parts !== undefined && hasDaysApart(amount)) {
    const negated = mapParts(parts, (part) => apply('part negated', int8, (a) => `(-${a})`, part));
    return intervalOfParts('interval -', negated);
  }
  return apply('interval -', amount.type, (a) => `(-${a})`, amount);
}

/** True where the length and the form do not say all. */
const hasDaysApart = ({ type }: Expr): boolean =>
  type.name === 'interval' && (type.form === 'any' || type.form === 'mixed');

function scaleInterval(amount: Expr, factor: Expr, operator: '*' | '/', site: CallSite): Expr {
  if (factor.kind === 'literal' && factor.value === null) return literal(amount.type, null);
  const known = literalParts(amount);
  const times = operator === '*' && isInteger(factor.type) ? factor : undefined;
  if (known !== undefined && times?.kind === 'literal') {
    return intervalLiteral(scaledParts(known, Number(times.value)));
  }
  const form = amount.type.name === 'interval' ? amount.type.form : 'any';
  const parts = partsOf(amount);
  if (times !== undefined && parts !== undefined && form !== 'clock') {
    const multiply = (part: Expr): Expr =>
      apply('part *', int8, (a, n) => `accurateCast(toInt128(${a}) * ${n}, 'Int64')`, part, times);
    return intervalOfParts('interval * whole', mapParts(parts, multiply));
  }
  if (parts !== undefined && !isZero(parts.months)) {
    throw unsupported('An interval with months times something other than an integer', site.at);
  }
  const number = convert(factor, float, site.at);
  const scaled = operator === '*' ? '*' : '/';
  return apply(
    `interval ${scaled}`,
    intervalOf(form === 'clock' || form === 'any' ? form : 'mixed'),
    (a, b) => {
      const divisor = operator === '/' ? ` * intDiv(1, ${b} != 0)` : '';
      return `accurateCast(roundBankers(${a} ${scaled} ${b}${divisor}), 'Int64')`;
    },
    amount,
    number,
  );
}
