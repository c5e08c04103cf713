import { microsPerDay } from '../../../lib/timestamp.ts';
import { apply } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { momentOfQuery } from '../../moment-of-query.ts';
import { unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { float, int4, interval, intervalOf, numeric, time, timestamp } from '../../types.ts';
import {
  argument,
  type CallSite,
  callOverload,
  checkCount,
  constantText,
  type FunctionDefinition,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';
import { withinDay } from './time-of-day-text.ts';

/** `time`: microseconds since midnight. */

/** Whole days of the interval change nothing. */
const moved = (left: Expr, sign: '+' | '-', right: Expr, site: CallSite): Expr =>
  apply(
    `time ${sign} interval`,
    time,
    (a, b) => withinDay(`(toInt64(${a}) ${sign} toInt64(${b}) % toInt64(${microsPerDay}))`),
    left,
    coerce(right, interval, site.at),
  );

/** Arithmetic with a time of day; undefined for others. */
export function timeOfDayArithmetic(name: string, left: Expr, right: Expr, site: CallSite): Expr | undefined {
  const [a, b] = [left.type.name, right.type.name];
  if (a !== 'time' && b !== 'time') return undefined;
  if (name === '-' && a === 'time' && (b === 'time' || b === 'unknown')) {
    const difference = (x: string, y: string): string => `(toInt64(${x}) - toInt64(${y}))`;
    return apply('time - time', intervalOf('clock'), difference, left, coerce(right, time, site.at));
  }
  if (a === 'time' && b === 'interval' && (name === '+' || name === '-'))
    return moved(left, name, right, site);
  if (name !== '+') return undefined;
  if (a === 'interval') return moved(right, '+', left, site);
  const [day, clock] = a === 'time' ? [right, left] : [left, right];
  if (day.type.name !== 'date') return undefined;
  const render = (d: string, t: string): string =>
    `addMicroseconds(toDateTime64(${d}, 6, 'UTC'), toInt64(${t}))`;
  return apply('date + time', timestamp, render, day, clock);
}

const fields: Readonly<Record<string, readonly [scale: number, micros: string]>> = {
  hour: [0, 'intDiv(t, 3600000000)'],
  minute: [0, 'intDiv(t, 60000000) % 60'],
  second: [6, 't % 60000000'],
  milliseconds: [3, 't % 60000000'],
  microseconds: [0, 't % 60000000'],
  epoch: [6, 't'],
};
const names: Readonly<Record<string, string>> = {
  hours: 'hour',
  h: 'hour',
  minutes: 'minute',
  min: 'minute',
  m: 'minute',
  seconds: 'second',
  sec: 'second',
  s: 'second',
  ms: 'milliseconds',
  us: 'microseconds',
};

const extracted: SpecialForm = (args, site) => {
  const word = constantText(args[0], 'the unit', site, { sample: 'hour' }).toLowerCase();
  const [scale, micros] = fields[names[word] ?? word] ?? [];
  if (scale === undefined || micros === undefined) throw unsupported(`The unit ${word} of time`, site.at);
  const type = numeric(scale, true);
  const render = (a: string): string =>
    letBindings(['t'], [a], `toDecimal256(${micros}, ${scale}) / ${10 ** scale}`);
  const value = apply(`extract ${word} of time`, type, render, argument(args, 1));
  return site.name === 'date_part' ? convert(value, float, site.at) : value;
};

const makeTime: SpecialForm = (args, site) => {
  checkCount(args, 3, 3, site);
  const [hours, minutes] = args.slice(0, 2).map((arg) => coerce(arg, int4, site.at));
  const seconds = coerce(argument(args, 2), float, site.at);
  if (hours === undefined || minutes === undefined) throw new Error('BUG: the arguments were counted');
  const render = (h: string, m: string, s: string): string => {
    const micros = `(toInt64(${h}) * 3600000000 + toInt64(${m}) * 60000000 + toInt64(roundBankers(if(abs(${s}) < 100, ${s}, 99) * 1000000)))`;
    const isNone = `${h} < 0 OR ${m} < 0 OR ${m} > 59 OR ${s} < 0 OR ${s} > 60 OR ${h} > 24 OR NOT (${micros} <= ${microsPerDay})`;
    const isBad = `isNotNull(${h} + ${m} + ${s}) AND (${isNone})`;
    return `(${micros} + ${raiseIf(isBad, 'outOfRange')})`;
  };
  return apply('make_time', time, render, hours, minutes, seconds);
};

const isTime = (expr: Expr | undefined): boolean => expr?.type.name === 'time';

/** The functions of times with a day, and where they are given a time of day those of it. */
export const withTimeOfDay = (table: FunctionTable): FunctionTable => {
  const orOfTime = (name: string, form: SpecialForm): FunctionDefinition => {
    const other = table[name];
    return (args, site) => {
      if (isTime(args[1]) || other === undefined) return form(args, site);
      return typeof other === 'function' ? other(args, site) : callOverload(other, args, site);
    };
  };
  return {
    ...table,
    extract: orOfTime('extract', extracted),
    date_part: orOfTime('date_part', extracted),
    date_trunc: orOfTime('date_trunc', (_, site) => {
      throw unsupported('date_trunc of time', site.at);
    }),
    make_time: makeTime,
    localtime: (args, site) => {
      checkCount(args, 0, 0, site);
      const now = apply('now timestamp', timestamp, () => momentOfQuery('timestamp'));
      return convert(now, time, site.at);
    },
  };
};
