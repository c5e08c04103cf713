import { quoteString } from '../../../lib/quote.ts';
import { apply, literal } from '../../build.ts';
import { convert, settle, unify } from '../../coerce.ts';
import { constantValue } from '../../constant-value.ts';
import type { Expr, Renderer, WindowSpec } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { float, int4, int8, type SqlType, storeType } from '../../types.ts';
import { argument, type CallSite, checkCount, constantOf } from '../definition.ts';

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

/** Of a window without ORDER BY, the rows in any order: the store's `ntile` needs one. */
const ordered = (over: WindowSpec): WindowSpec =>
  over.orderBy.length > 0
    ? over
    : { ...over, orderBy: [{ expr: literal(int4, '1'), descending: false, nullsFirst: false }] };

/** The store takes no other number than a literal. */
const ntile: WindowForm = (args, over, site) => {
  checkCount(args, 1, 1, site);
  const buckets = constantOf(convert(argument(args, 0), int4, site.at), int4);
  const count = constantValue(buckets);
  if (count === null) return literal(int4, null);
  if (typeof count !== 'bigint') throw unsupported('ntile of a number that is no constant', site.at);
  // Without rows there is no error.
  const isBad = count < 1n;
  return windowCall(
    `ntile ${count}`,
    int4,
    () => `ntile(${isBad ? 1 : count})`,
    [],
    ordered(withoutFrame(over)),
    (a) => (isBad ? `toInt32(${a} + ${raiseIf(`${a} > 0`, 'outOfRange')})` : `toInt32(${a})`),
  );
};

/**
 * `lag(value, offset, default)`: NULL, or the default, where there is no such row; NULL for an offset that
 * is. The store counts in one direction only, from literals without NULL.
 */
const neighbour =
  (name: 'lag' | 'lead'): WindowForm =>
  (args, over, site) => {
    checkCount(args, 1, 3, site);
    const [first, given, otherwise] = args;
    if (first === undefined) throw sqlError('sql_unknown_function', `${name} needs an argument`, site.at);
    const { exprs } = unify(
      otherwise === undefined ? [settle(first, site.at)] : [first, otherwise],
      name,
      site.at,
    );
    const [value, ...defaults] = exprs.map((each) => settle(each, site.at));
    if (value === undefined) throw new Error('BUG: there is a value');
    if (value.type.name === 'array') throw unsupported(`${name} of arrays`, site.at);
    // Beside a default the store takes a value of the same type alone, and knows integers by their width.
    const type = quoteString(`Nullable(${storeType(value.type)})`);
    const cell = (a: string): string => (defaults.length === 0 ? `toNullable(${a})` : `CAST(${a}, ${type})`);
    const call = (direction: string, offset: Expr): Expr =>
      windowCall(
        direction,
        value.type,
        (a, distance, ...others) => `${direction}(${[cell(a), distance, ...others.map(cell)].join(', ')})`,
        [value, offset, ...defaults],
        withoutFrame(over),
      );
    const offset = given === undefined ? literal(int4, '1') : convert(constantOf(given, int4), int4, site.at);
    const known = constantValue(offset);
    const opposite = name === 'lag' ? 'lead' : 'lag';
    if (known === null) return literal(value.type, null);
    if (typeof known === 'bigint') {
      const distance = literal(int4, String(known < 0n ? -known : known));
      return call(known < 0n ? opposite : name, distance);
    }
    const distance = (direction: string, sign: '' | '-'): Expr =>
      apply(direction, int8, (n) => `toInt64(greatest(ifNull(${sign}toInt64(${n}), 0), 0))`, offset);
    return apply(
      `${name} or ${opposite}`,
      value.type,
      (n, ahead, behind) => `multiIf(isNull(${n}), NULL, ${n} < 0, ${behind}, ${ahead})`,
      offset,
      call(name, distance('distance', '')),
      call(opposite, distance('distance back', '-')),
    );
  };

const edge =
  (name: string): WindowForm =>
  (args, over, site) => {
    checkCount(args, 1, 1, site);
    const values = args.map((arg) => settle(arg, site.at));
    const type = values[0]?.type ?? int8;
    return windowCall(name, type, (a) => `${name}_respect_nulls(${a})`, values, over);
  };

/** The row counted from 1 in the frame; NULL where there is none, and for a number that is NULL. */
const nth: WindowForm = (args, over, site) => {
  checkCount(args, 2, 2, site);
  const value = settle(argument(args, 0), site.at);
  if (value.type.name === 'array') throw unsupported('nth_value of arrays', site.at);
  const place = convert(constantOf(argument(args, 1), int4), int4, site.at);
  const known = constantValue(place);
  if (known === null) return literal(value.type, null);
  // A number that is none is an error where there are rows.
  const isRow = typeof known === 'bigint' && known > 0n;
  const row = (n: string): string =>
    isRow ? String(known) : `toInt64(ifNull(${n}, 1) + ${raiseIf(`${n} < 1`, 'outOfRange')})`;
  const call = windowCall(
    'nth_value',
    value.type,
    (a, n) => `nth_value(toNullable(${a}), ${row(n)})`,
    [value, place],
    over,
  );
  if (isRow) return call;
  return apply('nth_value or NULL', value.type, (n, a) => `if(isNull(${n}), NULL, ${a})`, place, call);
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
