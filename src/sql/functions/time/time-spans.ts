import { apply } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { bindLong, letBindings } from '../../let-bindings.ts';
import { beginOfDay, dayOfQuery } from '../../moment-of-query.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import {
  bool,
  commonType,
  int8,
  interval,
  intervalOf,
  isTimestamp,
  text,
  timestamp,
  timestamptz,
  typeLabel,
} from '../../types.ts';
import { argument, type CallSite, checkCount, type FunctionTable, type SpecialForm } from '../definition.ts';
import {
  type IntervalExprs,
  intervalOfParts,
  justifyAll,
  justifyDays,
  justifyHours,
  microsInDay,
  partsOf,
} from './interval-parts.ts';
import { localTime, momentArguments } from './local-time.ts';
import { timeArithmetic } from './time-arithmetic.ts';
import { timestampArgument } from './timestamp-argument.ts';

const months = (t: string): string => `(toInt64(toYear(${t})) * 12 + toMonth(${t}))`;
const clock = (t: string): string => `positiveModulo(toUnixTimestamp64Micro(${t}), ${microsInDay})`;
const daysOfMonth = (t: string): string => {
  const first = `date_trunc('month', toDate32(${t}))`;
  return `(toInt64(toInt32(addMonths(${first}, 1))) - toInt32(${first}))`;
};

/**
 * The parts of `age (a, b)`, field by field as PostgreSQL takes them (timestamp_age in
 * src/backend/utils/adt/timestamp.c): of the later moment less the earlier one, which lends
 * the days of its month.
 */
function partsOfAge(a: Expr, b: Expr): IntervalExprs {
  // e is the earlier one, l the later, s the sign, u what is left of the clock, d of the days.
  const part = (name: string, body: string): Expr =>
    apply(
      `age ${name}`,
      int8,
      (...ends) => {
        const days = `toInt64(toDayOfMonth(l)) - toDayOfMonth(e) - (u < 0)`;
        const clockAndDays = letBindings(['d'], [days], `s * (${body})`);
        const left = letBindings(['u'], [`${clock('l')} - ${clock('e')}`], clockAndDays);
        return bindLong(ends, (x = '', y = '') => {
          const ordered = [`least(${x}, ${y})`, `greatest(${x}, ${y})`, `if(${x} < ${y}, -1, 1)`];
          return `if(isNull(${x}) OR isNull(${y}), NULL, ${letBindings(['e', 'l', 's'], ordered, left)})`;
        });
      },
      a,
      b,
    );
  return {
    months: part('months', `${months('l')} - ${months('e')} - (d < 0)`),
    days: part('days', `if(d < 0, d + ${daysOfMonth('e')}, d)`),
    micros: part('clock', `if(u < 0, u + ${microsInDay}, u)`),
  };
}

/** The begin of the day of the query. */
const midnight: Expr = apply('midnight', timestamp, () => beginOfDay(dayOfQuery(), 'timestamp'));

/** `age (a, b)`: `a` less `b` in years, months, days and hours; `age (b)`: of today. */
const age: SpecialForm = (args, site) => {
  checkCount(args, 1, 2, site);
  const given = momentArguments(args, site).map((each) => localTime(each, site.at));
  const [a, b] = given.length === 1 ? [midnight, argument(given, 0)] : given;
  if (a === undefined || b === undefined) throw new Error('BUG: the arguments were counted');
  return intervalOfParts('age', partsOfAge(a, b));
};

/** One of the `justify` functions, where it can be known what is to be brought together. */
const justify =
  (change: (parts: IntervalExprs) => IntervalExprs): SpecialForm =>
  (args, site) => {
    const value = intervalArgument(args, site);
    const parts = partsOf(value);
    if (parts !== undefined) return intervalOfParts(site.name, change(parts));
    throw unsupported(`${site.name} of an interval whose days and hours are mixed`, site.at);
  };

function intervalArgument(args: readonly Expr[], site: CallSite): Expr {
  checkCount(args, 1, 1, site);
  const value = argument(args, 0);
  return value.type.name === 'interval' ? value : coerce(value, interval, site.at);
}

const justifyDaysAndHours: SpecialForm = (args, site) => {
  const value = intervalArgument(args, site);
  const hasNoMonths = value.type.name === 'interval' && value.type.form !== 'any';
  // Without months the length is all there is to know.
  return hasNoMonths
    ? apply('justify_hours', intervalOf('days'), (a) => a, value)
    : justify(justifyHours)([value], site);
};

/** The ends of one side of OVERLAPS; the second may be given by its distance. */
function endsOf(start: Expr, end: Expr, site: CallSite): readonly [Expr, Expr] {
  if (end.type.name !== 'interval') return [start, end];
  return [start, timeArithmetic('+', [timestampArgument(start, timestamptz, site), end], site) ?? end];
}

/**
 * `(a, b) OVERLAPS (c, d)`: half-open, in any order of their ends. Where one end is NULL, the other one may
 * decide (overlaps_timestamp in src/backend/utils/adt/timestamp.c).
 */
const overlaps: SpecialForm = (args, site) => {
  checkCount(args, 4, 4, site);
  const ends = [
    ...endsOf(argument(args, 0), argument(args, 1), site),
    ...endsOf(argument(args, 2), argument(args, 3), site),
  ];
  const type = commonType(ends.map((each) => each.type));
  const common = type ?? text;
  if (common.name !== 'date' && !isTimestamp(common)) {
    const types = args.map((arg) => typeLabel(arg.type)).join(', ');
    throw sqlError('sql_unknown_function', `function overlaps(${types}) does not exist`, site.at);
  }
  const moments = ends.map((each) => timestampArgument(coerce(each, common, site.at), timestamp, site));
  return apply(
    'overlaps',
    bool,
    (...all) => {
      // f and g are where the sides begin, u and v where they end, if that is known.
      const last = (x: string, y: string): string =>
        `if(isNull(${x}) OR isNull(${y}), NULL, greatest(${x}, ${y}))`;
      const cases = [
        'isNull(f) OR isNull(g), NULL',
        'f = g, if(isNull(u) OR isNull(v), NULL, true)',
        'f > g, multiIf(isNull(v), NULL, f < v, true, isNull(u), NULL, false)',
        'isNull(u), NULL',
        'g < u, true',
        'isNull(v), NULL',
      ];
      const values = ['least(a, b)', 'least(c, d)', last('a', 'b'), last('c', 'd')];
      const decided = letBindings(['f', 'g', 'u', 'v'], values, `multiIf(${cases.join(', ')}, false)`);
      return letBindings(['a', 'b', 'c', 'd'], all, decided);
    },
    ...moments,
  );
};

/** Functions of two moments, and of what lies between them. */
export const spanFunctions: FunctionTable = {
  age,
  overlaps,
  justify_hours: justifyDaysAndHours,
  justify_days: justify(justifyDays),
  justify_interval: (args, site) => intervalOfParts(site.name, justifyAll(intervalArgument(args, site))),
};
