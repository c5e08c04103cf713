import { apply, literal } from '../../build.ts';
import { coerce, settle } from '../../coerce.ts';
import type { Expr, Renderer } from '../../ir.ts';
import { unsupported } from '../../sql-error.ts';
import {
  bool,
  int8,
  intervalOf,
  isExactNumeric,
  isInteger,
  numeric,
  numericScale,
  type SqlType,
  text,
} from '../../types.ts';
import { type CallSite, checkCount, fn } from '../definition.ts';
import { equalityKeyOf } from '../json/json-order.ts';
import { callOperator } from '../operators.ts';
import { asRow } from '../rows.ts';
import {
  type AggregateCall,
  type AggregateDefinition,
  type AggregateForm,
  type AggregateOverload,
  aggregate,
  callAggregate,
} from './aggregate-call.ts';
import { totalOfDoubles } from './double-totals.ts';
import { objectAggregates } from './object-aggregates.ts';
import { orderedAggregates } from './ordered-aggregates.ts';
import { percentileAggregates } from './percentiles.ts';
import { statisticsAggregates } from './statistics.ts';

const asInt64: Renderer = (a) => `toInt64(${a})`;
const sameAsArgument = ([first]: readonly SqlType[]): SqlType => first ?? text;

/** Rows for `count(*)`, values that aren't NULL for `count(x)`. */
const count: AggregateForm = (call, site) => {
  if (call.star && call.args.length === 0)
    return aggregate('count', int8, () => 'count()', call, [], asInt64);
  if (call.withinGroup.length > 0) throw unsupported('WITHIN GROUP for count', site.at);
  checkCount(call.args, 1, 1, site);
  const args = call.args.map((arg) => countable(settle(arg, site.at), call, site));
  // The engine's own `count(DISTINCT x)` may be configured to estimate.
  return call.distinct
    ? aggregate('count distinct', int8, (a) => `uniqExact(${a})`, { ...call, distinct: false }, args, asInt64)
    : aggregate('count(any)', int8, (a) => `count(${a})`, call, args, asInt64);
};

/** An array is never NULL in the store; one without a value in it means NULL. */
function countable(arg: Expr, call: AggregateCall, site: CallSite): Expr {
  if (asRow(arg) !== undefined) {
    if (call.distinct) throw unsupported('count (DISTINCT …) of rows', site.at);
    return literal(bool, true);
  }
  if (call.distinct && arg.type.name === 'jsonb') return equalityKeyOf(arg);
  if (arg.type.name !== 'array') return arg;
  if (call.distinct) throw unsupported('count (DISTINCT …) of arrays', site.at);
  return apply('array is there', bool, (a) => `if(empty(${a}), NULL, 1)`, arg);
}

/** Days are added up apart from hours. */
const intervalTotal = ([each]: readonly SqlType[]): SqlType =>
  intervalOf(
    each?.name === 'interval' && (each.form === 'clock' || each.form === 'any') ? each.form : 'mixed',
  );

/** PostgreSQL adds up bigint as numeric, so that sums don't overflow. */
const sum: readonly AggregateOverload[] = [
  fn(
    ['numeric'],
    (args) => numeric(Math.max(...args.map(numericScale)), args.every(isExactNumeric)),
    (a) => `sum(${a})`,
  ),
  { ...fn(['interval'], intervalTotal, (a) => `sum(${a})`), finish: asInt64 },
];
const smallSum: readonly AggregateOverload[] = [
  { ...fn(['int'], int8, (a) => `sum(${a})`), finish: asInt64 },
];

const sumOf: AggregateForm = (call, site) => {
  const type = call.args[0]?.type;
  const small = type?.name === 'int2' || type?.name === 'int4';
  if (type?.name === 'float' || type?.name === 'mixed' || type?.name === 'unknown')
    return totalOfDoubles('sum', call, site);
  return callAggregate(small ? smallSum : sum, call, site);
};

const averageInterval: readonly AggregateOverload[] = [
  {
    ...fn(['interval'], intervalTotal, (a) => `avg(${a})`),
    finish: (a) => `toInt64(roundBankers(${a}))`,
  },
];

/** Of integers and decimals exact, as sum over count; the engine would compute it in doubles. */
const average: AggregateForm = (call, site) => {
  checkCount(call.args, 1, 1, site);
  const [arg] = call.args;
  if (arg === undefined || !(isInteger(arg.type) || arg.type.name === 'numeric')) {
    return arg?.type.name === 'interval'
      ? callAggregate(averageInterval, call, site)
      : totalOfDoubles('avg', call, site);
  }
  const total = coerce(callAggregate(sumOf, call, site), numeric(numericScale(arg.type), true), site.at);
  const rows = callAggregate(count, call, site);
  const divisor = apply('nullif 0', int8, (a) => `nullIf(${a}, 0)`, rows);
  return callOperator('/', [total, divisor], site);
};

const extreme = (name: string): readonly AggregateOverload[] =>
  (['float', 'int', 'numeric', 'text', 'timestamp', 'date', 'time', 'interval'] as const).map((formal) =>
    fn([formal], sameAsArgument, (a) => `${name}(${a})`),
  );

/** Of the width of their arguments. */
const bits = (name: string): readonly AggregateOverload[] => [
  { ...fn(['int'], sameAsArgument, (a) => `${name}(toInt64(${a}))`) },
];

const every: readonly AggregateOverload[] = [fn(['bool'], bool, (a) => `min(${a})`)];

export const aggregateFunctions: Readonly<Record<string, AggregateDefinition>> = {
  count,
  sum: sumOf,
  avg: average,
  min: extreme('min'),
  max: extreme('max'),
  bool_and: every,
  every,
  bool_or: [fn(['bool'], bool, (a) => `max(${a})`)],
  bit_and: bits('groupBitAnd'),
  bit_or: bits('groupBitOr'),
  bit_xor: bits('groupBitXor'),
  any_value: extreme('any'),
  ...statisticsAggregates,
  ...percentileAggregates,
  ...objectAggregates,
  ...orderedAggregates,
};
