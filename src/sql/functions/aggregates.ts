import { apply, literal } from '../build.ts';
import { coerce, settle } from '../coerce.ts';
import { sqlError, unsupported } from '../errors.ts';
import type { Aggregate, Expr, Renderer, Sort, WindowSpec } from '../ir.ts';
import {
  bool,
  float,
  int8,
  interval,
  isExactNumeric,
  isInteger,
  numeric,
  numericScale,
  type SqlType,
  text,
} from '../types.ts';
import {
  type CallSite,
  callOverload,
  checkCount,
  choose,
  coerceArguments,
  constantText,
  fn,
  type Overload,
  resultType,
} from './definition.ts';
import { callOperator } from './operators.ts';

/** A call of an aggregate, as it was resolved. */
export interface AggregateCall {
  readonly args: readonly Expr[];
  /** `count(*)` */
  readonly star: boolean;
  readonly distinct: boolean;
  readonly filter: Expr | undefined;
  readonly withinGroup: readonly Sort[];
  readonly over: WindowSpec | undefined;
}

export interface AggregateOverload extends Overload {
  /** Applied to the finished call, behind FILTER and OVER. */
  readonly finish?: Renderer;
}

export type AggregateForm = (call: AggregateCall, site: CallSite) => Expr;
export type AggregateDefinition = readonly AggregateOverload[] | AggregateForm;

const aggregate = (
  name: string,
  type: SqlType,
  render: Renderer,
  call: AggregateCall,
  args: readonly Expr[],
  finish?: Renderer,
): Aggregate => ({
  kind: 'aggregate',
  type,
  name,
  render,
  args,
  distinct: call.distinct,
  filter: call.filter,
  over: call.over,
  finish,
});

/** Calls an aggregate of the table. */
export function callAggregate(definition: AggregateDefinition, call: AggregateCall, site: CallSite): Expr {
  if (typeof definition === 'function') return definition(call, site);
  rejectOrderAndStar(call, site);
  const types = call.args.map((arg) => arg.type);
  const overload = choose(definition, types);
  // Says what is wrong with the arguments.
  if (overload === undefined) return callOverload(definition, call.args, site);
  const args = coerceArguments(overload, call.args, site.at);
  const name = `${site.name}(${overload.args.join(' ')})`;
  return aggregate(name, resultType(overload, args), overload.render, call, args, overload.finish);
}

function rejectOrderAndStar(call: AggregateCall, site: CallSite): void {
  if (call.withinGroup.length > 0) throw unsupported(`WITHIN GROUP for ${site.name}`, site.at);
  if (call.star) throw sqlError('sql_unknown_function', `function ${site.name}(*) does not exist`, site.at);
}

const asInt64: Renderer = (a) => `toInt64(${a})`;
const sameAsArgument = ([first]: readonly SqlType[]): SqlType => first ?? text;

/** Rows for `count(*)`, values that aren't NULL for `count(x)`. */
const count: AggregateForm = (call, site) => {
  if (call.star && call.args.length === 0)
    return aggregate('count', int8, () => 'count()', call, [], asInt64);
  if (call.withinGroup.length > 0) throw unsupported('WITHIN GROUP for count', site.at);
  checkCount(call.args, 1, 1, site);
  const args = call.args.map((arg) => settle(arg, site.at));
  // The engine's own `count(DISTINCT x)` may be configured to estimate.
  return call.distinct
    ? aggregate('count distinct', int8, (a) => `uniqExact(${a})`, { ...call, distinct: false }, args, asInt64)
    : aggregate('count(any)', int8, (a) => `count(${a})`, call, args, asInt64);
};

/** PostgreSQL adds up bigint as numeric, so that sums don't overflow. */
const sum: readonly AggregateOverload[] = [
  fn(['float'], float, (a) => `sum(${a})`),
  fn(
    ['numeric'],
    (args) => numeric(Math.max(...args.map(numericScale)), args.every(isExactNumeric)),
    (a) => `sum(${a})`,
  ),
  { ...fn(['interval'], interval, (a) => `sum(${a})`), finish: asInt64 },
];
const smallSum: readonly AggregateOverload[] = [
  { ...fn(['int'], int8, (a) => `sum(${a})`), finish: asInt64 },
];

const sumOf: AggregateForm = (call, site) => {
  const type = call.args[0]?.type;
  const small = type?.name === 'int2' || type?.name === 'int4';
  return callAggregate(small ? smallSum : sum, call, site);
};

/** Of integers and decimals exact, as sum over count; the engine would compute it in doubles. */
const average: AggregateForm = (call, site) => {
  checkCount(call.args, 1, 1, site);
  const [arg] = call.args;
  if (arg === undefined || !(isInteger(arg.type) || arg.type.name === 'numeric')) {
    return callAggregate(
      [
        fn(['float'], float, (a) => `avg(${a})`),
        { ...fn(['interval'], interval, (a) => `avg(${a})`), finish: (a) => `toInt64(roundBankers(${a}))` },
      ],
      call,
      site,
    );
  }
  const total = coerce(callAggregate(sumOf, call, site), numeric(numericScale(arg.type), true), site.at);
  const rows = callAggregate(count, call, site);
  const divisor = apply('nullif 0', int8, (a) => `nullIf(${a}, 0)`, rows);
  return callOperator('/', [total, divisor], site);
};

const extreme = (name: string): readonly AggregateOverload[] =>
  (['float', 'int', 'numeric', 'text', 'timestamp', 'date', 'interval'] as const).map((formal) =>
    fn([formal], sameAsArgument, (a) => `${name}(${a})`),
  );

const every: readonly AggregateOverload[] = [fn(['bool'], bool, (a) => `min(${a})`)];

/** The engine gives NaN for fewer than two rows. */
const statistic = (name: string): readonly AggregateOverload[] => [
  { ...fn(['float'], float, (a) => `${name}(${a})`), finish: (a) => `if(isNaN(${a}), NULL, ${a})` },
];

const stringAggregate: AggregateForm = (call, site) => {
  rejectOrderAndStar(call, site);
  checkCount(call.args, 2, 2, site);
  const separator = literal(text, constantText(call.args[1], 'the separator', site));
  const [value] = call.args;
  if (value === undefined || !['text', 'unknown', 'mixed'].includes(value.type.name)) {
    throw sqlError('sql_unknown_function', `string_agg needs text; cast its argument`, site.at);
  }
  const args = [coerce(value, text, site.at), separator];
  return aggregate('string_agg', text, (a, by) => `groupConcat(${by})(${a})`, call, args);
};

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

export const aggregateFunctions: Readonly<Record<string, AggregateDefinition>> = {
  count,
  sum: sumOf,
  avg: average,
  min: extreme('min'),
  max: extreme('max'),
  bool_and: every,
  every,
  bool_or: [fn(['bool'], bool, (a) => `max(${a})`)],
  stddev: statistic('stddevSampStable'),
  stddev_samp: statistic('stddevSampStable'),
  stddev_pop: statistic('stddevPopStable'),
  variance: statistic('varSampStable'),
  var_samp: statistic('varSampStable'),
  var_pop: statistic('varPopStable'),
  string_agg: stringAggregate,
  percentile_cont: percentileContinuous,
  percentile_disc: percentileDiscrete,
};
