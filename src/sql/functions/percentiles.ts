import { coerce, settle } from '../coerce.ts';
import { sqlError, unsupported } from '../errors.ts';
import type { Renderer, Sort } from '../ir.ts';
import { float } from '../types.ts';
import {
  type AggregateCall,
  type AggregateDefinition,
  type AggregateForm,
  aggregate,
} from './aggregate-call.ts';
import { type CallSite, checkCount, constantText } from './definition.ts';

/** The fraction of a percentile: a literal from 0 to 1. */
function fraction(call: AggregateCall, site: CallSite): number {
  checkCount(call.args, 1, 1, site);
  const value = Number(constantText(call.args[0], 'the fraction', site));
  if (value >= 0 && value <= 1) return value;
  throw sqlError('sql_out_of_range', `percentile value ${value} is not between 0 and 1`, site.at);
}

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

/** Between the two nearest values; for a descending order the fraction counts from the other end. */
const percentileContinuous: AggregateForm = (call, site) => {
  const sort = orderOf(call, site);
  const level = sort.descending ? 1 - fraction(call, site) : fraction(call, site);
  const value = coerce(sort.expr, float, site.at);
  return aggregate(`percentile_cont ${level}`, float, (a) => `quantileExactInclusive(${level})(${a})`, call, [
    value,
  ]);
};

/** The first value whose share of the rows up to it reaches the fraction. */
const percentileDiscrete: AggregateForm = (call, site) => {
  const sort = orderOf(call, site);
  if (sort.descending) throw unsupported('percentile_disc with a descending order', site.at);
  const level = fraction(call, site);
  const value = settle(sort.expr, site.at);
  const index = `toUInt64(greatest(1, ceil(${level} * length(x))))`;
  return aggregate(
    `percentile_disc ${level}`,
    value.type,
    (a) => `groupArray(${a})`,
    call,
    [value],
    (a) => `arrayMap(x -> arrayElementOrNull(arraySort(x), ${index}), [${a}])[1]`,
  );
};

/** The value met most often; the first in the order asked for, of several. */
const mode: AggregateForm = (call, site) => {
  checkCount(call.args, 0, 0, site);
  const sort = orderOf(call, site);
  if (sort.descending) throw unsupported('mode with a descending order', site.at);
  const value = settle(sort.expr, site.at);
  // Values in order, and how often each was met.
  const counted: Renderer = (a) =>
    `sumMap(if(isNull(${a}), [], [assumeNotNull(${a})]), if(isNull(${a}), [], [toUInt64(1)]))`;
  const first = 'arrayElementOrNull(x.1, indexOf(x.2, arrayMax(x.2)))';
  return aggregate('mode', value.type, counted, call, [value], (a) => `arrayMap(x -> ${first}, [${a}])[1]`);
};

/** Aggregates over sorted values: `percentile_cont (0.5) WITHIN GROUP (ORDER BY x)`. */
export const percentileAggregates: Readonly<Record<string, AggregateDefinition>> = {
  percentile_cont: percentileContinuous,
  percentile_disc: percentileDiscrete,
  mode,
};
