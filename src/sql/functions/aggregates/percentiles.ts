import { quoteString } from '../../../lib/quote.ts';
import { coerce, settle } from '../../coerce.ts';
import type { Expr, Renderer, Sort } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { arrayOf, float, type SqlType, storeType } from '../../types.ts';
import { type CallSite, checkCount, constantText } from '../definition.ts';
import {
  type AggregateCall,
  type AggregateDefinition,
  type AggregateForm,
  aggregate,
} from './aggregate-call.ts';

/** The fraction of a percentile: a literal from 0 to 1. */
function fraction(value: Expr | undefined, site: CallSite): number {
  const level = Number(constantText(value, 'the fraction', site, { type: float, sample: '0.5' }));
  if (level >= 0 && level <= 1) return level;
  throw sqlError('sql_out_of_range', `percentile value ${level} is not between 0 and 1`, site.at);
}

/** The fractions of `ARRAY[…]`, null for NULL; undefined if it is one fraction. */
function fractions(call: AggregateCall, site: CallSite): readonly (number | null)[] | undefined {
  checkCount(call.args, 1, 1, site);
  const [array] = call.args;
  if (array?.type.name !== 'array') return undefined;
  const items = array.kind === 'apply' && array.name === 'array' ? array.args : undefined;
  if (items === undefined) throw unsupported(`${site.name} of fractions that are no literals`, site.at);
  return items.map((item) => {
    const [written] = item.kind === 'apply' && item.name.startsWith('cast ') ? item.args : [item];
    return written?.kind === 'literal' && written.value === null ? null : fraction(written, site);
  });
}

/** An array of what stands at several places of the values, sorted; NULL of no rows. */
function atPlaces(
  levels: readonly (number | null)[],
  type: SqlType,
  call: AggregateCall,
  value: Expr,
  sort: Sort,
  at: (level: number) => string,
  site: CallSite,
): Expr {
  const items = levels.map((level) => (level === null ? 'NULL' : at(level)));
  const values = `CAST([${items.join(', ')}], ${quoteString(`Array(Nullable(${storeType(type)}))`)})`;
  return aggregate(
    `${site.name} ${levels.join(' ')} ${sort.descending}`,
    arrayOf(type),
    (a) => `groupArray(${a})`,
    call,
    [value],
    (a) => `arrayMap(x -> if(empty(x), [], [${values}]), [${sorted(a, sort)}])[1]`,
  );
}

const sorted = (values: string, { descending }: Sort): string =>
  `${descending ? 'arrayReverseSort' : 'arraySort'}(${values})`;

function orderOf(call: AggregateCall, site: CallSite): Sort {
  const [sort] = call.withinGroup;
  if (sort === undefined || call.withinGroup.length > 1) {
    throw sqlError(
      'sql_unknown_function',
      `${site.name} needs WITHIN GROUP (ORDER BY one expression)`,
      site.at,
    );
  }
  return sort;
}

const between = (level: number): string => {
  const place = `(${level} * (length(x) - 1))`;
  const [low, high] = [`x[toUInt64(floor(${place})) + 1]`, `x[toUInt64(ceil(${place})) + 1]`];
  return `(${low} + (${place} - floor(${place})) * (${high} - ${low}))`;
};

/** Between the two nearest values; for a descending order the fraction counts from the other end. */
const percentileContinuous: AggregateForm = (call, site) => {
  const sort = orderOf(call, site);
  if (sort.expr.type.name === 'interval') throw unsupported('percentile_cont of intervals', site.at);
  const value = coerce(sort.expr, float, site.at);
  const several = fractions(call, site);
  if (several !== undefined) return atPlaces(several, float, call, value, sort, between, site);
  const given = fraction(call.args[0], site);
  const level = sort.descending ? 1 - given : given;
  return aggregate(`percentile_cont ${level}`, float, (a) => `quantileExactInclusive(${level})(${a})`, call, [
    value,
  ]);
};

/** The first value whose share of the rows up to it reaches the fraction. */
const percentileDiscrete: AggregateForm = (call, site) => {
  const sort = orderOf(call, site);
  const value = settle(sort.expr, site.at);
  const at = (level: number): string =>
    `arrayElementOrNull(x, toUInt64(greatest(1, ceil(${level} * length(x)))))`;
  const several = fractions(call, site);
  if (several !== undefined) return atPlaces(several, value.type, call, value, sort, at, site);
  const level = fraction(call.args[0], site);
  return aggregate(
    `percentile_disc ${level} ${sort.descending}`,
    value.type,
    (a) => `groupArray(${a})`,
    call,
    [value],
    (a) => `arrayMap(x -> ${at(level)}, [${sorted(a, sort)}])[1]`,
  );
};

/** The value met most often; the first in the order asked for, of several. */
const mode: AggregateForm = (call, site) => {
  checkCount(call.args, 0, 0, site);
  const sort = orderOf(call, site);
  const value = settle(sort.expr, site.at);
  // Values in order, and how often each was met.
  const counted: Renderer = (a) =>
    `sumMap(if(isNull(${a}), [], [assumeNotNull(${a})]), if(isNull(${a}), [], [toUInt64(1)]))`;
  const inOrder = (part: string): string => (sort.descending ? `arrayReverse(${part})` : part);
  const first = `arrayElementOrNull(${inOrder('x.1')}, indexOf(${inOrder('x.2')}, arrayMax(x.2)))`;
  return aggregate(
    `mode ${sort.descending}`,
    value.type,
    counted,
    call,
    [value],
    (a) => `arrayMap(x -> ${first}, [${a}])[1]`,
  );
};

/** Aggregates over sorted values: `percentile_cont (0.5) WITHIN GROUP (ORDER BY x)`. */
export const percentileAggregates: Readonly<Record<string, AggregateDefinition>> = {
  percentile_cont: percentileContinuous,
  percentile_disc: percentileDiscrete,
  mode,
};
