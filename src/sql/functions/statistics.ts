import { apply } from '../build.ts';
import { coerce } from '../coerce.ts';
import type { Expr } from '../ir.ts';
import { float, int8 } from '../types.ts';
import {
  type AggregateCall,
  type AggregateDefinition,
  type AggregateForm,
  type AggregateOverload,
  aggregate,
} from './aggregate-call.ts';
import { type CallSite, checkCount, fn } from './definition.ts';

/** The engine gives NaN or infinity for fewer than two rows. */
const statistic = (name: string): readonly AggregateOverload[] => [
  { ...fn(['float'], float, (a) => `${name}(${a})`), finish: (a) => `if(isFinite(${a}), ${a}, NULL)` },
];

/** The same for pairs; those with a NULL in them don't count. */
const pairStatistic = (name: string): readonly AggregateOverload[] => [
  {
    ...fn(['float', 'float'], float, (y, x) => `${name}(${y}, ${x})`),
    finish: (a) => `if(isFinite(${a}), ${a}, NULL)`,
  },
];

/** What the regression functions are made of: sums over the pairs without NULL. */
interface Pairs {
  readonly count: Expr;
  readonly averageX: Expr;
  readonly averageY: Expr;
  readonly variance: (of: 'x' | 'y') => Expr;
  readonly covariance: Expr;
}

function pairsOf(call: AggregateCall, site: CallSite): Pairs {
  checkCount(call.args, 2, 2, site);
  const [y, x] = call.args.map((arg) => coerce(arg, float, site.at));
  if (x === undefined || y === undefined) throw new Error('BUG: a regression has two arguments');
  const paired = (value: Expr, other: Expr): Expr =>
    apply('paired', float, (a, b) => `if(isNull(${b}), NULL, ${a})`, value, other);
  const [pairedX, pairedY] = [paired(x, y), paired(y, x)];
  const over = (name: string, ...args: readonly Expr[]): Expr =>
    aggregate(name, float, (...each) => `${name}(${each.join(', ')})`, call, args);
  return {
    count: aggregate(
      'count(any)',
      int8,
      (a) => `count(${a})`,
      call,
      [pairedX],
      (a) => `toInt64(${a})`,
    ),
    averageX: over('avg', pairedX),
    averageY: over('avg', pairedY),
    variance: (of) => over('varPopStable', of === 'x' ? pairedX : pairedY),
    covariance: over('covarPopStable', y, x),
  };
}

const regression =
  (result: (pairs: Pairs) => Expr): AggregateForm =>
  (call, site) =>
    result(pairsOf(call, site));

const times = (count: Expr, value: Expr): Expr =>
  apply('regression times', float, (a, b) => `(${a} * ${b})`, count, value);
const slope = ({ variance, covariance }: Pairs): Expr =>
  apply('regression slope', float, (c, v) => `if(${v} = 0, NULL, ${c} / ${v})`, covariance, variance('x'));

/** Aggregates of mathematical statistics. With too few rows for an answer they give NULL. */
export const statisticsAggregates: Readonly<Record<string, AggregateDefinition>> = {
  stddev: statistic('stddevSampStable'),
  stddev_samp: statistic('stddevSampStable'),
  stddev_pop: statistic('stddevPopStable'),
  variance: statistic('varSampStable'),
  var_samp: statistic('varSampStable'),
  var_pop: statistic('varPopStable'),
  corr: pairStatistic('corrStable'),
  covar_pop: pairStatistic('covarPopStable'),
  covar_samp: pairStatistic('covarSampStable'),
  regr_count: regression(({ count }) => count),
  regr_avgx: regression(({ averageX }) => averageX),
  regr_avgy: regression(({ averageY }) => averageY),
  regr_sxx: regression(({ count, variance }) => times(count, variance('x'))),
  regr_syy: regression(({ count, variance }) => times(count, variance('y'))),
  regr_sxy: regression(({ count, covariance }) => times(count, covariance)),
  regr_slope: regression(slope),
  regr_intercept: regression((pairs) =>
    apply(
      'regression intercept',
      float,
      (y, k, x) => `(${y} - ${k} * ${x})`,
      pairs.averageY,
      slope(pairs),
      pairs.averageX,
    ),
  ),
  regr_r2: regression(({ variance, covariance }) =>
    apply(
      'regression r2',
      float,
      (c, vx, vy) => `multiIf(${vx} = 0, NULL, ${vy} = 0, 1, ${c} * ${c} / (${vx} * ${vy}))`,
      covariance,
      variance('x'),
      variance('y'),
    ),
  ),
};
