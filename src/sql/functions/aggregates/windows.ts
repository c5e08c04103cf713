import { coerce, settle } from '../../coerce.ts';
import type { Expr, Renderer, WindowSpec } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { float, int4, int8, type SqlType } from '../../types.ts';
import { argument, type CallSite, checkCount, constantInteger } from '../definition.ts';

/** A call with OVER of a function that is no aggregate. */
export type WindowForm = (args: readonly Expr[], over: WindowSpec, site: CallSite) => Expr;

const windowCall = (
  name: string,
  type: SqlType,
  render: Renderer,
  args: readonly Expr[],
  over: WindowSpec,
  finish?: Renderer,
): Expr => ({
  kind: 'aggregate',
  type,
  name,
  render,
  args,
  distinct: false,
  filter: undefined,
  over,
  finish,
});

/** These look at the whole partition; PostgreSQL ignores a frame here, the engine would refuse it. */
const withoutFrame = (over: WindowSpec): WindowSpec => ({ ...over, frame: undefined });

const ranking =
  (name: string, type: SqlType, finish?: Renderer): WindowForm =>
  (args, over, site) => {
    checkCount(args, 0, 0, site);
    return windowCall(name, type, () => `${name}()`, [], withoutFrame(over), finish);
  };

const asInt64: Renderer = (a) => `toInt64(${a})`;

const ntile: WindowForm = (args, over, site) => {
  checkCount(args, 1, 1, site);
  const buckets = args.map((arg) => coerce(arg, int4, site.at));
  return windowCall(
    'ntile',
    int4,
    (n) => `ntile(${n})`,
    buckets,
    withoutFrame(over),
    (a) => `toInt32(${a})`,
  );
};

/** `lag(value, offset, default)`: NULL, or the default, where there is no such row. */
const neighbour =
  (name: 'lag' | 'lead'): WindowForm =>
  (args, over, site) => {
    checkCount(args, 1, 3, site);
    const [first, offset, otherwise] = args;
    if (first === undefined) throw sqlError('sql_unknown_function', `${name} needs an argument`, site.at);
    const value = settle(first, site.at);
    if (value.type.name === 'array') throw unsupported(`${name} of arrays`, site.at);
    // The store takes no other offset.
    if (offset !== undefined) constantInteger(offset, 'the offset', site);
    const rest = [
      ...(offset === undefined ? [] : [coerce(offset, int4, site.at)]),
      ...(otherwise === undefined ? [] : [coerce(otherwise, value.type, site.at)]),
    ];
    const render: Renderer = (a, ...others) => `${name}(${[`toNullable(${a})`, ...others].join(', ')})`;
    return windowCall(name, value.type, render, [value, ...rest], withoutFrame(over));
  };

const edge =
  (name: string): WindowForm =>
  (args, over, site) => {
    checkCount(args, 1, 1, site);
    const values = args.map((arg) => settle(arg, site.at));
    const type = values[0]?.type ?? int8;
    return windowCall(name, type, (a) => `${name}_respect_nulls(${a})`, values, over);
  };

/** The row counted from 1 in the frame; NULL where there is none. */
const nth: WindowForm = (args, over, site) => {
  checkCount(args, 2, 2, site);
  const place = constantInteger(args[1], 'the number of the row', site);
  if (place < 1) throw sqlError('sql_out_of_range', 'nth_value counts rows from 1', site.at);
  const value = settle(argument(args, 0), site.at);
  if (value.type.name === 'array') throw unsupported('nth_value of arrays', site.at);
  const render: Renderer = (a) => `nth_value(toNullable(${a}), ${place})`;
  return windowCall(`nth_value ${place}`, value.type, render, [value], over);
};

export const windowFunctions: Readonly<Record<string, WindowForm>> = {
  row_number: ranking('row_number', int8, asInt64),
  rank: ranking('rank', int8, asInt64),
  dense_rank: ranking('dense_rank', int8, asInt64),
  percent_rank: ranking('percent_rank', float),
  cume_dist: ranking('cume_dist', float),
  ntile,
  lag: neighbour('lag'),
  lead: neighbour('lead'),
  first_value: edge('first_value'),
  last_value: edge('last_value'),
  nth_value: nth,
};
