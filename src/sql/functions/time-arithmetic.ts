import { microsPerDay } from '../../lib/timestamp.ts';
import { apply, literal } from '../build.ts';
import { convert } from '../coerce.ts';
import { unsupported } from '../errors.ts';
import type { Expr, IntervalParts } from '../ir.ts';
import { intervalLiteral } from '../literals.ts';
import {
  commonForm,
  date,
  float,
  int4,
  intervalOf,
  isInteger,
  isNumber,
  isTimestamp,
  timestamp,
} from '../types.ts';
import type { CallSite } from './definition.ts';

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
    if (left.type.name === 'date' && isInteger(right.type)) return plusDays(left, right, sign);
    if (name === '+' && isInteger(left.type) && right.type.name === 'date') return plusDays(right, left, 1);
    return name === '-' ? difference(left, right, site) : undefined;
  }
  if (left.type.name === 'interval' && isNumber(right.type) && (name === '*' || name === '/')) {
    return scaleInterval(left, right, name, site);
  }
  return name === '*' && isNumber(left.type) && right.type.name === 'interval'
    ? scaleInterval(right, left, name, site)
    : undefined;
}

const plusDays = (day: Expr, days: Expr, sign: 1 | -1): Expr =>
  apply(
    `date + int ${sign}`,
    date,
    (a, b) => `addDays(${a}, ${sign < 0 ? '-' : ''}toInt32(${b}))`,
    day,
    days,
  );

function difference(left: Expr, right: Expr, site: CallSite): Expr | undefined {
  if (left.type.name === 'date' && right.type.name === 'date') {
    return apply('date - date', int4, (a, b) => `toInt32(toInt32(${a}) - toInt32(${b}))`, left, right);
  }
  const isTime = (expr: Expr): boolean => expr.type.name === 'date' || isTimestamp(expr.type);
  if (!isTime(left) || !isTime(right)) return undefined;
  const moments = [left, right].map((side) =>
    isTimestamp(side.type) ? side : convert(side, timestamp, site.at),
  );
  return apply(
    'timestamp - timestamp',
    intervalOf('days'),
    (a, b) => `(toUnixTimestamp64Micro(${a}) - toUnixTimestamp64Micro(${b}))`,
    ...moments,
  );
}

/** A literal's months are calendar months; what has none is a number of microseconds. */
function plusInterval(base: Expr, amount: Expr, sign: 1 | -1, site: CallSite): Expr | undefined {
  const operator = sign < 0 ? '-' : '+';
  if (base.type.name === 'interval') return addIntervals(base, amount, operator);
  const moment = base.type.name === 'date' ? convert(base, timestamp, site.at) : base;
  if (!isTimestamp(moment.type)) return undefined;
  const parts = intervalParts(amount);
  if (parts === undefined && amount.type.name === 'interval' && amount.type.form === 'any') {
    throw unsupported('A timestamp and an interval that may have months, other than a literal,', site.at);
  }
  if (parts === undefined || parts.months === 0) {
    return apply(
      `timestamp ${operator} interval`,
      moment.type,
      (a, b) => `addMicroseconds(${a}, ${sign < 0 ? '-' : ''}${b})`,
      moment,
      amount,
    );
  }
  const months = sign * parts.months;
  const micros = sign * (parts.days * microsPerDay + parts.micros);
  return apply(
    `timestamp + ${months} months ${micros}`,
    moment.type,
    (a) =>
      micros === 0 ? `addMonths(${a}, ${months})` : `addMicroseconds(addMonths(${a}, ${months}), ${micros})`,
    moment,
  );
}

function addIntervals(left: Expr, right: Expr, operator: '+' | '-'): Expr {
  const forms = [left, right].map((side) => (side.type.name === 'interval' ? side.type.form : 'any'));
  // Days are added to days and hours to hours, so that hours may come to more than a day.
  const form = forms.every((each) => each === 'clock') ? 'clock' : commonForm(forms, 'mixed');
  return apply(`interval ${operator}`, intervalOf(form), (a, b) => `(${a} ${operator} ${b})`, left, right);
}

function intervalParts(expr: Expr): IntervalParts | undefined {
  const isParts = expr.kind === 'literal' && typeof expr.value === 'object' && expr.value !== null;
  return isParts ? (expr.value as IntervalParts) : undefined;
}

const scaledParts = ({ months, days, micros }: IntervalParts, times: number): IntervalParts => ({
  months: months * times,
  days: days * times,
  micros: micros * times,
});

/** `-interval '…'` */
export function negateInterval(amount: Expr): Expr {
  const parts = intervalParts(amount);
  if (parts !== undefined) return intervalLiteral(scaledParts(parts, -1));
  return apply('interval -', amount.type, (a) => `(-${a})`, amount);
}

function scaleInterval(amount: Expr, factor: Expr, operator: '*' | '/', site: CallSite): Expr {
  const parts = intervalParts(amount);
  if (factor.kind === 'literal' && factor.value === null) return literal(amount.type, null);
  if (parts !== undefined && operator === '*' && factor.kind === 'literal' && isInteger(factor.type)) {
    return intervalLiteral(scaledParts(parts, Number(factor.value)));
  }
  const form = amount.type.name === 'interval' ? amount.type.form : 'any';
  if (parts !== undefined && parts.months !== 0) {
    throw unsupported('An interval with months times something other than an integer literal', site.at);
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
