import { apply } from '../../build.ts';
import type { Expr } from '../../ir.ts';
import { unsupported } from '../../sql-error.ts';
import { parseInterval } from '../../syntax/datetime.ts';
import { readLiteral } from '../../syntax/literals.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { float, int8, interval, isInteger, type SqlType, text } from '../../types.ts';
import { type IntervalExprs, intervalOfParts, whole } from './interval-parts.ts';

/**
 * `(n || ' minutes')::interval`: a text that is put together of a number and the name of a unit. Its parts
 * are computed from the number, since the store has no intervals to read.
 * @throws AppError `sql_unsupported` for all other texts
 */
export function intervalOfText(expr: Expr, at: number | undefined): Expr {
  const [first, second] = expr.kind === 'apply' && expr.name === 'concat' ? expr.args : [];
  const [before, behind] = [wordsOf(first, '1'), wordsOf(second, ' minutes')];
  if (before !== undefined && behind !== undefined) return readLiteral(before + behind, interval, at);
  const number = first === undefined ? undefined : numberInText(first);
  const unit = /^\s*[a-z]+\s*$/i.test(behind ?? '') ? parseInterval(`1 ${behind}`) : undefined;
  if (number === undefined || unit === undefined) {
    throw unsupported("A text as an interval, other than a number with its unit (n || ' minutes'),", at);
  }
  const { months, days, micros } = unit;
  const parts = isInteger(number.type)
    ? { months: times(number, months), days: times(number, days), micros: times(number, micros) }
    : partsOfDouble(checked(number), unit);
  return intervalOfParts('interval of text', parts);
}

/** The text of a literal, or of a parameter: the unit is to be known before the query runs. */
function wordsOf(expr: Expr | undefined, sample: string): string | undefined {
  const constant = expr?.kind === 'parameter' ? expr.constant(text, sample) : expr;
  return constant?.kind === 'literal' && typeof constant.value === 'string' ? constant.value : undefined;
}

/** What stands in a text as a number, before it became one. */
function numberInText(expr: Expr): Expr | undefined {
  if (expr.kind !== 'apply' || !/^cast (?:int[248]|float) text$/.test(expr.name)) return undefined;
  return expr.args[0];
}

const times = (number: Expr, factor: number): Expr =>
  factor === 0
    ? whole(0)
    : apply(`part * ${factor}`, int8, (n) => `accurateCast(toInt128(${n}) * ${factor}, 'Int64')`, number);

/** Where a double is written with an exponent, the text is no interval. */
const checked = (number: Expr): Expr =>
  apply(
    'plain double',
    float,
    (n) => `(${n} + ${raiseIf(`${n} != 0 AND NOT (abs(${n}) >= 1e-4 AND abs(${n}) < 1e15)`, 'outOfRange')})`,
    number,
  );

/**
 * A fraction of a year is rounded to months; of a month, it is days of 24 hours, 30 of them (AdjustFractDays
 * in src/backend/utils/adt/datetime.c).
 */
function partsOfDouble(number: Expr, unit: Readonly<Record<keyof IntervalExprs, number>>): IntervalExprs {
  const part = (name: string, render: (n: string) => string, type: SqlType = int8): Expr =>
    apply(`${name} ${JSON.stringify(unit)}`, type, render, number);
  const rest = (n: string): string => `(${n} - trunc(${n}))`;
  const integer = (value: string): string => `accurateCast(${value}, 'Int64')`;
  if (unit.micros !== 0) {
    const micros = (n: string): string => integer(`roundBankers(${n} * ${unit.micros})`);
    return { months: whole(0), days: whole(0), micros: part('micros', micros) };
  }
  if (unit.months > 1) {
    const months = (n: string): string =>
      integer(`trunc(${n}) * ${unit.months} + roundBankers(${rest(n)} * ${unit.months})`);
    return { months: part('months', months), days: whole(0), micros: whole(0) };
  }
  const daysInUnit = unit.months === 1 ? 30 : unit.days;
  const wholeDays = (n: string): string => (unit.months === 1 ? '0' : `trunc(${n}) * ${unit.days}`);
  const days = (n: string): string => integer(`${wholeDays(n)} + trunc(${rest(n)} * ${daysInUnit})`);
  const micros = (n: string): string => {
    const ofDays = `${rest(n)} * ${daysInUnit}`;
    return integer(`roundBankers((${ofDays} - trunc(${ofDays})) * 86400000000)`);
  };
  return {
    months: unit.months === 1 ? part('whole months', (n) => integer(`trunc(${n})`)) : whole(0),
    days: part('days', days),
    micros: part('micros of days', micros),
  };
}
