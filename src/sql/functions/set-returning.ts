import { quoteString } from '../../lib/quote.ts';
import { microsPerDay } from '../../lib/timestamp.ts';
import { limits } from '../../limits/limits.ts';
import { apply, isNull, literal } from '../build.ts';
import { coerce, unify } from '../coerce.ts';
import type { CountedSeries, Expr, IntervalParts, LiteralValue } from '../ir.ts';
import { letBindings } from '../let-bindings.ts';
import { isSessionInUtc, sessionZone } from '../session-times.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { intervalLiteral } from '../syntax/literals.ts';
import { raiseIf } from '../syntax/raise.ts';
import { arrayOf, int4, int8, isInteger, type SqlType, storeType, timestamptz, typeLabel } from '../types.ts';
import { momentOfClock, wallClock } from '../zone-clock.ts';
import { stringToTable } from './arrays/array-elements.ts';
import {
  argument,
  type CallSite,
  checkCount,
  constantOf,
  type SetRelation,
  type SpecialForm,
} from './definition.ts';
import { definedRowNames, jsonSetFunctions, jsonSetRelations } from './json/json-rows.ts';
import { regexSetFunctions } from './text/regex-functions.ts';

/**
 * Functions that give rows, as arrays of the rows' values (`arrays.ts` tells how arrays are kept). A series
 * is bounded by `function_range_max_elements_in_block`.
 */
const series: SpecialForm = (args, site) => {
  const array = seriesArray(args, site);
  const counted = countedSeries(array);
  if (counted !== undefined && counted.count > limits.maxSeriesRows)
    throw tooLong(limits.maxSeriesRows, site);
  return array;
};

/** In FROM, whole numbers between literals are counted by the store, and may be many more rows. */
const seriesRelation: SetRelation = (args, site) => {
  const array = seriesArray(args, site);
  const counted = countedSeries(array);
  if (counted !== undefined && counted.count > limits.maxCountedSeriesRows)
    throw tooLong(limits.maxCountedSeriesRows, site);
  return [{ array, series: counted }];
};

const seriesArray: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const [first, last, step] = args;
  const { type, exprs } = unify(
    [first, last].flatMap((arg) => arg ?? []),
    site.name,
    site.at,
  );
  const [from, to] = [argument(exprs, 0), argument(exprs, 1)].map((each) => known(each, type, site));
  if (from === undefined || to === undefined) throw new Error('BUG: a series has two ends');
  const isNumeric = [type, step?.type].some((each) => each?.name === 'numeric');
  if (isNumeric && (isInteger(type) || type.name === 'numeric'))
    throw unsupported(`${site.name} of numeric`, site.at);
  if (isInteger(type)) return integerSeries(from, to, step, site);
  if (type.name === 'timestamp' || type.name === 'timestamptz' || type.name === 'date') {
    const moments = type.name === 'date' ? timestamptz : type;
    return timeSeries(coerce(from, moments, site.at), coerce(to, moments, site.at), step, site);
  }
  throw sqlError(
    'sql_unknown_function',
    `function ${site.name}(${typeLabel(type)}, …) does not exist`,
    site.at,
  );
};

/** A parameter is taken with its value, on which the length of the series depends. */
const known = (expr: Expr, type: SqlType, site: CallSite): Expr =>
  coerce(constantOf(expr, type), type, site.at);

/** `from`, `from + step`, … up to `to`: none if one of the three is NULL or the step leads away. */
function stepped(
  type: SqlType,
  element: (from: string, offset: string) => string,
  position: (value: string) => string,
  args: readonly [Expr, Expr, Expr],
): Expr {
  return apply(
    'generate_series',
    arrayOf(type),
    (a, b, by) => {
      const distance = `(${position(b)} - ${position(a)})`;
      const count = `if(${distance} * sign(${by}) < 0, 0, intDiv(${distance}, ${by}) + 1)`;
      const offsets = `range(toUInt64(ifNull(${count}, 0)))`;
      // The engine has no array of elements that it knows to be NULL.
      if (args.some(isNull)) return noRows(type);
      return `[arrayMap(i -> ${element(`assumeNotNull(${a})`, `toInt64(i) * assumeNotNull(${by})`)}, ${offsets})]`;
    },
    ...args,
  );
}

function integerSeries(from: Expr, to: Expr, step: Expr | undefined, site: CallSite): Expr {
  const by = step === undefined ? literal(int4, '1') : known(step, int8, site);
  // Without rows, nothing is wrong with the step.
  if (!isNull(from) && !isNull(to)) checkStep(by, site);
  const type = from.type.name === 'int8' || step?.type.name === 'int8' ? int8 : int4;
  return stepped(
    type,
    (a, offset) => `(toInt64(${a}) + ${offset})`,
    (value) => `toInt64(${value})`,
    [from, to, by],
  );
}

/** What a series of whole numbers is, if its ends and its step are literals. */
function countedSeries(array: Expr): CountedSeries | undefined {
  if (array.kind !== 'apply' || array.type.name !== 'array' || !isInteger(array.type.element))
    return undefined;
  const [first, last, step] = array.args.map((arg) =>
    arg.kind === 'literal' && (typeof arg.value === 'string' || typeof arg.value === 'number')
      ? BigInt(arg.value)
      : undefined,
  );
  if (first === undefined || last === undefined || step === undefined || step === 0n) return undefined;
  const steps = (last - first) / step;
  const leadsAway = last > first ? step < 0n : last < first && step > 0n;
  return { first, step, count: leadsAway ? 0n : steps + 1n };
}

const tooLong = (maxRows: number, { at }: CallSite): Error =>
  sqlError('sql_out_of_range', `a series may have at most ${maxRows} rows`, at);

/** A series of two literals is known to be too long before it is made. */
function checkLength(from: Expr, to: Expr, step: Expr, site: CallSite): void {
  const [first, last, by] = [from, to, step].map(lengthInUnits);
  if (first === undefined || last === undefined || by === undefined || by === 0) return;
  if ((last - first) / by < limits.maxSeriesRows) return;
  throw tooLong(limits.maxSeriesRows, site);
}

function lengthInUnits({
  kind,
  value,
}: {
  readonly kind: string;
  readonly value?: LiteralValue;
}): number | undefined {
  if (kind !== 'literal' || value === undefined || value === null) return undefined;
  return typeof value === 'object' ? value.days * microsPerDay + value.micros : Number(value);
}

const noRows = (type: SqlType): string => `[CAST([], ${quoteString(`Array(Nullable(${storeType(type)}))`)})]`;

function checkStep(step: Expr, site: CallSite): void {
  if (step.kind === 'literal' && step.value !== null && Number(step.value) === 0) {
    throw sqlError('sql_out_of_range', 'step size cannot equal zero', site.at);
  }
}

function timeSeries(from: Expr, to: Expr, step: Expr | undefined, site: CallSite): Expr {
  if (step === undefined) {
    throw sqlError('sql_unknown_function', `${site.name} of timestamps needs a step`, site.at);
  }
  const by = coerce(
    step,
    step.type.name === 'unknown' ? { name: 'interval', form: 'any' } : step.type,
    site.at,
  );
  if (by.type.name !== 'interval') {
    throw sqlError('sql_unknown_function', `${site.name} of timestamps needs an interval as step`, site.at);
  }
  const parts = by.kind === 'literal' ? (by.value as IntervalParts | null) : null;
  const isInZone = from.type.name === 'timestamptz' && !isSessionInUtc();
  if (isInZone && parts !== null && (parts.months !== 0 || parts.days !== 0))
    return localSeries(from, to, parts, site);
  if (isInZone && by.kind !== 'literal' && by.type.form !== 'clock') {
    throw unsupported('A series in a time zone other than UTC whose step may have days', site.at);
  }
  if (parts !== null && parts.months !== 0) return monthSeries(from, to, parts, site);
  if (parts === null && by.type.form === 'any' && !(by.kind === 'literal')) {
    throw unsupported('A series whose step is no literal and may have months', site.at);
  }
  checkLength(from, to, by, site);
  return stepped(
    from.type,
    (a, offset) => `addMicroseconds(${a}, ${offset})`,
    (value) => `toUnixTimestamp64Micro(${value})`,
    [from, to, by],
  );
}

/**
 * In months. PostgreSQL adds the step again and again, and a day that a month lacks stays lost, so the series
 * begins on a day that all months have, or not at all.
 */
function monthSeries(from: Expr, to: Expr, { months, days, micros }: IntervalParts, site: CallSite): Expr {
  if (days !== 0 || micros !== 0 || months < 0) {
    throw unsupported('A series whose step is negative months, or months and days', site.at);
  }
  return apply(
    `generate_series ${months} months`,
    arrayOf(from.type),
    (a, b) => {
      if (isNull(from) || isNull(to)) return noRows(from.type);
      const start = `assumeNotNull(${a})`;
      const count = `greatest(0, intDiv(ifNull(dateDiff('month', ${a}, ${b}), -${months}), ${months}) + 1)`;
      const tooLate = raiseIf(`toDayOfMonth(${start}) > 28`, 'lateInMonth');
      const moments = `arrayMap(i -> addMonths(${start}, toInt64(i) * ${months} + ${tooLate}), range(toUInt64(${count})))`;
      return `[arrayFilter(m -> ifNull(m <= ${b}, false), ${moments})]`;
    },
    from,
    to,
  );
}

/**
 * In days or months of the session's time zone, which PostgreSQL adds to what the clocks show, again and
 * again. A time that they skip would be another one from then on, so the store refuses such a series.
 */
function localSeries(from: Expr, to: Expr, step: IntervalParts, site: CallSite): Expr {
  const { months, days, micros } = step;
  if (micros !== 0 || (months === 0) === (days === 0) || months < 0) {
    const what = 'A series whose step is months and days, days and hours, or negative months,';
    throw unsupported(`${what} in a time zone other than UTC`, site.at);
  }
  checkLength(from, to, intervalLiteral(step), site);
  const zone = sessionZone();
  const element = (index: string): string =>
    months === 0 ? `addDays(w, ${index} * ${days})` : `addMonths(w, ${index} * ${months})`;
  return apply(
    `generate_series ${months} months ${days} days`,
    arrayOf(timestamptz),
    (a, b) => {
      const tooLate = months === 0 ? '0' : raiseIf('toDayOfMonth(w) > 28', 'lateInMonth');
      const isIn = (moment: string): string => `ifNull(${moment} ${days < 0 ? '>=' : '<='} ${b}, false)`;
      const skipped = raiseIf(`${wallClock('m', zone)} != c AND ${isIn('m')}`, 'skippedTime');
      const moment = letBindings(['m'], [momentOfClock('c', zone)], `addMicroseconds(m, ${skipped})`);
      const later = letBindings(['c'], [element('toInt64(i)')], moment);
      const distance =
        months === 0
          ? `intDiv(toUnixTimestamp64Micro(e) - toUnixTimestamp64Micro(w), ${days * microsPerDay})`
          : `intDiv(dateDiff('month', w, e), ${months})`;
      // Where a day has other than 24 hours, one more may fit.
      const count = `toUInt64(greatest(0, ${distance} + 2 + ${tooLate}))`;
      const moments = `arrayMap(i -> if(i = 0, s, ${later}), range(${count}))`;
      const ends = [wallClock('s', zone), wallClock(`assumeNotNull(${b})`, zone)];
      const series = letBindings(['w', 'e'], ends, moments);
      const all = letBindings(['s'], [`assumeNotNull(${a})`], `arrayFilter(m -> ${isIn('m')}, ${series})`);
      return `[if(isNull(${a}) OR isNull(${b}), [], ${all})]`;
    },
    from,
    to,
  );
}

const unnest: SpecialForm = (args, site) => {
  if (args.length > 1) throw unsupported('unnest of several arrays outside of FROM', site.at);
  checkCount(args, 1, 1, site);
  const array = argument(args, 0);
  if (array.type.name === 'array') return array;
  throw sqlError('sql_unknown_function', `function unnest(${typeLabel(array.type)}) does not exist`, site.at);
};

/** Side by side; the shorter ones end with NULLs. */
const unnestSeveral: SetRelation = (args, site) => {
  const each = args.map((arg) => unnest([arg], site));
  return each.map((array, index) => {
    const padded = (...all: string[]): string => {
      const lengths = all.map((one) => `length(${one}[1])`);
      return `[arrayResize(${all[index]}[1], greatest(${lengths.join(', ')}), NULL)]`;
    };
    return { array: apply(`unnest ${index}`, array.type, padded, ...each) };
  });
};

const setFunctions: Readonly<Record<string, SpecialForm>> = {
  generate_series: series,
  unnest,
  string_to_table: stringToTable,
  ...jsonSetFunctions,
  ...regexSetFunctions,
};

/** Functions whose rows have columns of their own, and so stand in FROM. */
const setRelations: Readonly<Record<string, SetRelation>> = {
  generate_series: seriesRelation,
  unnest: (args, site) => (args.length > 1 ? unnestSeveral : single(unnest))(args, site),
  ...jsonSetRelations,
};

export const setFunctionNames: readonly string[] = [
  ...new Set([...Object.keys(setFunctions), ...Object.keys(setRelations), ...definedRowNames]),
];

const single =
  (form: SpecialForm): SetRelation =>
  (args, site) => [{ array: form(args, site) }];

/** The columns of a call in FROM. */
export function findSetRelation(name: string): SetRelation | undefined {
  if (Object.hasOwn(setRelations, name)) return setRelations[name];
  const form = findSetFunction(name);
  return form && single(form);
}

/** The array whose elements are the rows of a call. */
export const findSetFunction = (name: string): SpecialForm | undefined =>
  Object.hasOwn(setFunctions, name) ? setFunctions[name] : undefined;

const rowsName = 'rows of';

/** A row for each element, in SELECT. */
export function rowsOf(array: Expr): Expr {
  if (array.type.name !== 'array') throw new Error('BUG: rows are made of arrays');
  return apply(rowsName, array.type.element, (a) => `arrayJoin(${a}[1])`, array);
}

export const isSet = (expr: Expr): boolean => expr.kind === 'apply' && expr.name === rowsName;
