import { apply, literal } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { bool, doubleScale, float, int8, numeric } from '../../types.ts';
import { argument, type CallSite, checkCount } from '../definition.ts';
import {
  type AggregateCall,
  type AggregateDefinition,
  type AggregateForm,
  aggregate,
  rejectOrderAndStar,
} from './aggregate-call.ts';
import { exactDistances, exactSpread, hasExactSpread } from './exact-distances.ts';

/**
 * Aggregates of mathematical statistics, made of what PostgreSQL makes them of (float8_accum and
 * float8_regr_accum in src/backend/utils/adt/float.c): counts, sums, and sums of the squares and products of
 * the distances from the mean. If one of these leaves the doubles although all values are in them, that is an
 * error; an infinity or NaN among the values makes the sums of distances NaN. With too few rows for an answer
 * there is none: NULL.
 */
type Aggregated = (name: string, ...args: readonly Expr[]) => Expr;

const aggregatedBy =
  (call: AggregateCall): Aggregated =>
  (name, ...args) =>
    aggregate(name, float, (...each) => `${name}(${each.join(', ')})`, call, args);

const countOf = (call: AggregateCall, value: Expr): Expr =>
  aggregate(
    'count(any)',
    int8,
    (a) => `count(${a})`,
    call,
    [value],
    (a) => `toInt64(${a})`,
  );

/** Whether neither infinities nor NaN are among the values. */
const areFinite = (call: AggregateCall, value: Expr): Expr =>
  aggregate('are finite', bool, (a) => `min(isFinite(${a}))`, { ...call, distinct: false }, [value]);

/**
 * The sum of distances: the exact one where there is one, else of a mean that the store computed. The
 * arguments get names, since they are long and needed more than once; the condition of the error says all,
 * since what is needed more than once may be computed in any case.
 */
const sumOfDistances = (rows: Expr, mean: Expr, finite: Expr, total: Expr, exact: Expr): Expr =>
  apply(
    'sum of distances',
    float,
    (...args) => {
      const isKnown = 'isFinite(n * m) AND isFinite(s)';
      const result = `multiIf(isNull(m), NULL, isNotNull(e), e, ${isKnown}, n * m, ${raiseIf(`f AND NOT (${isKnown})`, 'outOfRange')}, NULL, nan)`;
      return letBindings(['n', 'm', 'f', 's', 'e'], args, result);
    },
    rows,
    mean,
    finite,
    total,
    exact,
  );

const squares = (call: AggregateCall, rows: Expr, value: Expr): Expr => {
  const over = aggregatedBy(call);
  const exact = exactDistances(call, rows, value, value);
  return sumOfDistances(rows, over('varPopStable', value), areFinite(call, value), over('sum', value), exact);
};

function checkArguments(call: AggregateCall, count: number, site: CallSite): void {
  rejectOrderAndStar(call, site);
  checkCount(call.args, count, count, site);
}

/**
 * @param fewer by how much less than the number of rows the squares are divided; for no more
 *   rows there is no answer
 */
const spread =
  (fewer: 0 | 1, isRoot: boolean): AggregateForm =>
  (call, site) => {
    checkArguments(call, 1, site);
    const given = argument(call.args, 0);
    if (hasExactSpread(given.type)) {
      return exactSpread(call, countOf(call, given), given, { fewer, isRoot }, site.at);
    }
    const value = coerce(given, float, site.at);
    const rows = countOf(call, value);
    const render = (n: string, distances: string): string => {
      const variance = `${distances} / (${n} - ${fewer})`;
      return `if(${n} <= ${fewer}, NULL, ${isRoot ? `sqrt(${variance})` : variance})`;
    };
    const spread = apply(`spread ${fewer} ${isRoot}`, float, render, rows, squares(call, rows, value));
    return given.type.name === 'numeric' ? convert(spread, numeric(doubleScale, false), site.at) : spread;
  };

/** Of the pairs without NULL, in PostgreSQL's words N, Sx / N, Sy / N, Sxx, Syy and Sxy. */
interface Pairs {
  readonly rows: Expr;
  readonly averageX: Expr;
  readonly averageY: Expr;
  readonly xx: Expr;
  readonly yy: Expr;
  readonly xy: Expr;
}

function pairsOf(call: AggregateCall, site: CallSite): Pairs {
  checkArguments(call, 2, site);
  // The parts would each be of other values than of the pairs that differ.
  if (call.distinct) throw unsupported(`DISTINCT for ${site.name}`, site.at);
  const y = coerce(argument(call.args, 0), float, site.at);
  const x = coerce(argument(call.args, 1), float, site.at);
  const paired = (value: Expr, other: Expr): Expr =>
    apply('paired', float, (a, b) => `if(isNull(${b}), NULL, ${a})`, value, other);
  const [pairedX, pairedY] = [paired(x, y), paired(y, x)];
  const over = aggregatedBy(call);
  const rows = countOf(call, pairedX);
  const bothFinite = areFinite(
    call,
    apply('pair', float, (a, b) => `if(isFinite(${a}), ${b}, ${a})`, pairedX, pairedY),
  );
  return {
    rows,
    averageX: over('avg', pairedX),
    averageY: over('avg', pairedY),
    xx: squares(call, rows, pairedX),
    yy: squares(call, rows, pairedY),
    xy: sumOfDistances(
      rows,
      over('covarPopStable', y, x),
      bothFinite,
      literal(float, '0'),
      exactDistances(call, rows, pairedX, pairedY),
    ),
  };
}

/**
 * All parts are computed for each result, since an overflow of any is an error.
 * @param result in the store's SQL, of n, x, y (the averages), xx, yy and xy
 */
const regression =
  (result: string): AggregateForm =>
  (call, site) => {
    const { rows, averageX, averageY, xx, yy, xy } = pairsOf(call, site);
    const render = (...args: string[]): string => {
      const value = `if(isNull(xx) OR isNull(yy) OR isNull(xy), NULL, ${result})`;
      return letBindings(['n', 'x', 'y', 'xx', 'yy', 'xy'], args, value);
    };
    return apply(site.name, float, render, rows, averageX, averageY, xx, yy, xy);
  };

export const statisticsAggregates: Readonly<Record<string, AggregateDefinition>> = {
  stddev: spread(1, true),
  stddev_samp: spread(1, true),
  stddev_pop: spread(0, true),
  variance: spread(1, false),
  var_samp: spread(1, false),
  var_pop: spread(0, false),
  corr: regression('if(xx = 0 OR yy = 0, NULL, xy / sqrt(xx * yy))'),
  covar_pop: regression('xy / n'),
  covar_samp: regression('if(n < 2, NULL, xy / (n - 1))'),
  regr_count: (call, site) => pairsOf(call, site).rows,
  regr_avgx: regression('x'),
  regr_avgy: regression('y'),
  regr_sxx: regression('xx'),
  regr_syy: regression('yy'),
  regr_sxy: regression('xy'),
  regr_slope: regression('if(xx = 0, NULL, xy / xx)'),
  regr_intercept: regression('if(xx = 0, NULL, y - x * xy / xx)'),
  regr_r2: regression('multiIf(xx = 0, NULL, yy = 0, 1, xy * xy / (xx * yy))'),
};
