import * as fc from 'fast-check';
import { one, written } from './written.ts';

/**
 * Random queries over a few rows full of ties and NULLs: windows with frames, grouping sets, set
 * operations, subqueries.
 */
/** 24 rows in which every column has ties and, but for `id`, NULLs. */
const rowsAs = (name: string): string =>
  `(select id::int as id, nullif(id::int % 5, 3) as a, nullif(id::int % 3, 1) as b, case when id::int % 4 > 0 then level end as s, (id::int % 7) / 2.0::float8 as f, case when id::int % 6 > 1 then date_trunc('day', p_timestamp) end as t, ok from app where id < 24) ${name}`;

const column = one('a', 'b', 's', 'f', 't', 'ok');
const number = one('a', 'b', 'f', 'id');
const sortable = one('a', 'b', 's', 'f', 't', 'id', 'a + b', 'coalesce(a, 9)', 'ok');
const direction = one('', ' desc', ' nulls first', ' desc nulls last', ' asc nulls last');
const key = written`${sortable}${direction}`;
const condition = fc.oneof(
  written`${number} ${one('<', '=', '<>', '>=')} ${one('0', '1', '2', '3')}`,
  written`${column} is ${one('null', 'not null')}`,
  one("s like '%n%'", "s in ('info', null)", 'ok', 'not ok', 'a = b', 'a is distinct from b'),
);

const valued = fc.oneof(
  written`${one('sum', 'avg', 'min', 'max', 'count')}(${number})`,
  written`${one('min', 'max', 'count')}(${one('s', 't', 'a', 'f')})`,
  one('count(*)', 'bool_and(ok)', 'bool_or(ok)'),
  written`${one('first_value', 'last_value')}(${column})`,
  written`nth_value(${column}, ${one('1', '2', '3')})`,
  written`sum(${number}) filter (where ${condition})`,
);
/**
 * Whose results depend on peers only through ranks: the order must be a whole one where rows are told apart.
 */
const ranked = fc.oneof(one('rank()', 'dense_rank()', 'percent_rank()', 'cume_dist()'));
const numbered = fc.oneof(
  one('row_number()', 'ntile(4)', 'ntile(50)'),
  written`${one('lag', 'lead')}(${column})`,
  written`${one('lag', 'lead')}(${column}, ${one('0', '1', '2', '30')})`,
  written`${one('lag', 'lead')}(id, ${one('1', '3')}, ${one('-1', 'id', '0')})`,
);
const start = one('unbounded preceding', '2 preceding', '1 preceding', 'current row', '1 following');
const end = one('1 preceding', 'current row', '1 following', '2 following', 'unbounded following');
const places = [
  'unbounded preceding',
  '2 preceding',
  '1 preceding',
  'current row',
  '1 following',
  '2 following',
  'unbounded following',
];
const frame = fc
  .tuple(one('rows', 'range', 'groups'), start, end)
  .filter(([, from, to]) => places.indexOf(from) <= places.indexOf(to))
  .map(([mode, from, to]) => ({
    mode,
    text: ` ${mode} between ${from} and ${to}`,
    offset: /\d/.test(from + to),
  }));
const partition = one('', 'partition by b ', 'partition by s ', 'partition by a, ok ', 'partition by t ');

const windowed = fc.oneof(
  fc.tuple(ranked, partition, key, key).map(([f, p, x, y]) => `${f} over (${p}order by ${x}, ${y})`),
  fc.tuple(numbered, partition, key).map(([f, p, x]) => `${f} over (${p}order by ${x}, id)`),
  fc
    .tuple(valued, partition, key, frame)
    .map(([f, p, x, { mode, text, offset }]) =>
      mode === 'rows' || /first|last|nth/.test(f)
        ? `${f} over (${p}order by ${offset && mode === 'range' ? 'id' : `${x}, id`}${text})`
        : `${f} over (${p}order by ${offset && mode === 'range' ? x.replace(/^(?:s|t|ok|a \+ b)(?= |$)/, 'f') : x}${text})`,
    ),
  fc
    .tuple(
      valued.filter((f) => !/first|last|nth/.test(f)),
      partition,
      key,
    )
    .map(([f, p, x]) => `${f} over (${p}order by ${x})`),
  fc
    .tuple(
      valued.filter((f) => !/first|last|nth/.test(f)),
      partition,
    )
    .map(([f, p]) => `${f} over (${p})`),
);

const windowQuery = fc
  .array(windowed, { minLength: 1, maxLength: 3 })
  .map(
    (items) =>
      `select id, ${items.map((item, index) => `${item} as w${index}`).join(', ')} from ${rowsAs('x')}`,
  );

const aggregate = fc.oneof(
  written`${one('sum', 'avg', 'min', 'max', 'count', 'stddev', 'var_pop')}(${number})`,
  written`count(distinct ${column})`,
  written`sum(distinct ${number})`,
  written`${one('min', 'max')}(${one('s', 't')})`,
  written`array_agg(${column} order by ${key}, id)`,
  written`array_agg(distinct ${column})`,
  written`string_agg(s, '-' order by ${key}, id)`,
  written`array_agg(${column} order by ${key}, id) filter (where ${condition})`,
  written`count(*) filter (where ${condition})`,
  written`percentile_cont(${one('0', '0.25', '0.5', '1')}) within group (order by ${number}${one('', ' desc')})`,
  written`percentile_disc(${one('0', '0.25', '0.5', '1')}) within group (order by ${one('a', 's', 'f', 't', 'id')})`,
  written`mode() within group (order by ${column})`,
  one('count(*)', 'bool_and(ok)', 'every(a > 0)', 'bit_or(a)', 'regr_count(f, a)'),
);
const groups = one(
  'a',
  'a, b',
  'rollup(a, b)',
  'cube(a, s)',
  'grouping sets ((a), (b), ())',
  'grouping sets ((a, b), (a), (s), ())',
  'rollup(t), b',
  'cube(ok, b), a',
  'grouping sets ((a), (a))',
  'grouping sets (rollup(a, b), (s))',
  '()',
);
const groupKeys = (text: string): readonly string[] => [...new Set(text.match(/\b(?:a|b|s|t|ok)\b/g))];
const having = one('', '', ' having count(*) > 2', ' having sum(a) is not null', ' having min(s) is null');
const groupedQuery = fc
  .tuple(groups, fc.array(aggregate, { minLength: 1, maxLength: 3 }), having, condition, fc.boolean())
  .map(([by, items, when, where, withGrouping]) => {
    const keys = groupKeys(by);
    const marks = withGrouping && keys.length > 0 ? [`grouping(${keys.join(', ')})`] : [];
    const all = [...keys, ...marks, ...items];
    return `select ${all.map((item, index) => `${item} as c${index}`).join(', ')} from ${rowsAs('x')} where ${where} or id > 15 group by ${by}${when}`;
  });

const part = (items: string) =>
  written`select ${fc.constant(items)} from ${fc.constant(rowsAs('x'))} where ${condition}`;
const operation = one('union', 'union all', 'intersect', 'intersect all', 'except', 'except all');
const setQuery = one('a', 'a, b', 's', 'a, s, ok', 't', 'f, b').chain((items) => {
  const each = part(items);
  return fc.oneof(
    written`${each} ${operation} ${each}`,
    written`(${each} ${operation} ${each}) ${operation} ${each}`,
    written`${each} ${operation} (${each} ${operation} ${each})`,
    written`select count(*), count(q) from (${each} ${operation} ${each}) q(q)`.map((query) =>
      items.includes(',') ? query.replace(', count(q)', '').replace('q(q)', 'q') : query,
    ),
  );
});

const scalar = one(
  'count(*)',
  'sum(y.a)',
  'max(y.s)',
  'min(y.t)',
  'count(y.b)',
  'avg(y.f)',
  'count(distinct y.s)',
  'bool_or(y.ok)',
);
const link = one(
  'y.a = x.a',
  'y.b = x.b',
  'y.a = x.b',
  'y.s = x.s',
  'y.a = x.a and y.b = x.b',
  'y.f = x.a',
  'y.t = x.t',
);
const own = condition.map((text) => text.replace(/\b(a|b|s|f|t|ok|id)\b/g, 'y.$1'));
const y = fc.constant(rowsAs('y'));
const correlated = fc.oneof(
  written`select x.id, (select ${scalar} from ${y} where ${link} and ${own}) as v from ${fc.constant(rowsAs('x'))}`,
  written`select x.id from ${fc.constant(rowsAs('x'))} where ${one('exists', 'not exists')} (select 1 from ${y} where ${link} and ${own})`,
  written`select x.id from ${fc.constant(rowsAs('x'))} where x.${one('a', 'b', 'f')} ${one('in', 'not in')} (select y.${one('a', 'b')} from ${y} where ${own})`,
  written`select x.id from ${fc.constant(rowsAs('x'))} where x.a ${one('in', 'not in')} (select y.b from ${y} where ${link} and ${own})`,
  written`select x.id, x.a ${one('in', 'not in')} (select y.b from ${y} where ${own}) as v from ${fc.constant(rowsAs('x'))}`,
  written`select x.id, exists (select 1 from ${y} where ${link} and ${own}) as v from ${fc.constant(rowsAs('x'))}`,
  written`select x.id, v.* from ${fc.constant(rowsAs('x'))}${one(', lateral', ' left join lateral')} (select ${scalar} as n from ${y} where ${link} and ${own}) v${fc.constant(' on true')}`.map(
    (query) => (query.includes(', lateral') ? query.replace(/ on true$/, '') : query),
  ),
  written`select x.a, sum(x.b) as n from ${fc.constant(rowsAs('x'))} group by x.a having sum(x.b) > (select ${one('min(y.a)', 'avg(y.b)', 'count(*) / 9')} from ${y} where y.b = x.a)`,
);

/** Windows, grouping sets, set operations and subqueries, over ties and NULLs. */
export const anyTiedQuery = fc.oneof(
  windowQuery,
  windowQuery,
  groupedQuery,
  groupedQuery,
  setQuery,
  correlated,
);
