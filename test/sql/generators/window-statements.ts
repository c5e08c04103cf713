import * as fc from 'fast-check';
import { one, written } from '../written.ts';

/** Windows: frames of every mode, peers, NULLs first and last, empty input, named windows, FILTER. */
const source = one(
  "(values (1, 1, 'x', 1.5::float8), (2, 1, 'y', null), (3, 2, null, 2.5), (4, null, 'x', 2.5), (5, 2, 'x', -1), (6, null, null, 0)) t(id, a, b, c)",
  "(values (1, 1, 'x', 1.5::float8)) t(id, a, b, c)",
  '(select id::int as id, id::int % 3 as a, level as b, ms as c from app where id < 15) t',
  "(select 1 as id, 1 as a, 'x' as b, 1::float8 as c where false) t",
  '(values (1, null::int, null::text, null::float8), (2, null, null, null)) t(id, a, b, c)',
);
const direction = one(
  '',
  ' desc',
  ' nulls first',
  ' desc nulls last',
  ' asc nulls last',
  ' desc nulls first',
);
const key = written`${one('a', 'b', 'c', 'id', 'a + id', 'a is null', 'coalesce(a, 0)', 'length(b)')}${direction}`;
const partition = one(
  '',
  '',
  'partition by a ',
  'partition by b ',
  'partition by a, b ',
  'partition by a is null ',
  'partition by id % 2 ',
);
const valued = one(
  'sum(c)',
  'sum(a)',
  'count(*)',
  'count(b)',
  'min(b)',
  'max(c)',
  'avg(a)',
  'avg(c)',
  'first_value(b)',
  'last_value(b)',
  'nth_value(a, 2)',
  'first_value(a)',
  'last_value(c)',
  'bool_or(a = 1)',
  'sum(c) filter (where a > 0)',
  'count(*) filter (where b is null)',
  'array_agg(id)',
  "string_agg(b, ',')",
  'stddev(a)',
  'max(id)',
  'sum(id)::text',
  'min(a) + 1',
  'nth_value(b, 7)',
  'every(a is not null)',
);
const ranked = one('rank()', 'dense_rank()', 'percent_rank()', 'cume_dist()', 'count(*)', 'sum(a)', 'max(b)');
const numbered = one(
  'row_number()',
  'ntile(2)',
  'ntile(3)',
  'lag(b)',
  'lead(b)',
  'lag(a, 2)',
  'lead(a, 1, -1)',
  'lag(c, 0)',
  'lag(id, -1)',
  "lead(b, 3, 'none')",
  'lag(a, a)',
  'first_value(id)',
  'last_value(id)',
  'ntile(0)',
  'nth_value(id, 0)',
  'lag(a, null)',
  'ntile(null)',
);
const bound = [
  'unbounded preceding',
  '2 preceding',
  '1 preceding',
  '0 preceding',
  'current row',
  '0 following',
  '1 following',
  '2 following',
  'unbounded following',
];
const frame = fc
  .tuple(
    fc.nat(8),
    fc.nat(8),
    one('rows', 'range', 'groups'),
    one('', '', '', ' exclude current row', ' exclude ties', ' exclude group', ' exclude no others'),
  )
  .map(([from, to, mode, exclude]) => ({
    mode,
    from: bound[Math.min(from, to)] ?? '',
    to: bound[Math.max(from, to)] ?? '',
    exclude,
  }))
  .filter(({ from, to }) => from !== 'unbounded following' && to !== 'unbounded preceding')
  .map(({ mode, from, to, exclude }) => ({
    text: `${mode} between ${from} and ${to}${exclude}`,
    isRange: mode === 'range' && /\d/.test(from + to),
  }));

const windowed = fc.oneof(
  written`${ranked} over (${partition}order by ${key})`,
  written`${ranked} over (${partition}order by ${key}, ${key})`,
  written`${numbered} over (${partition}order by ${key}, id)`,
  written`${numbered} over (order by id${direction})`,
  fc
    .tuple(valued, partition, key, frame)
    .map(([f, p, k, { text, isRange }]) =>
      isRange ? `${f} over (${p}order by id ${text})` : `${f} over (${p}order by ${k}, id ${text})`,
    ),
  fc
    .tuple(one('sum(a)', 'count(*)', 'min(c)', 'max(b)'), partition, one('a', 'c', 'a desc', 'c desc'), frame)
    .map(([f, p, k, { text }]) => `${f} over (${p}order by ${k} ${text.replace('rows', 'range')})`),
  written`${one('sum(a)', 'count(*)', 'max(b)', 'bool_and(a > 0)')} over (${partition.map((text) => text.trim())})`,
  written`${one('sum(a)', 'count(*)', 'rank()')} over w`,
  written`sum(count(*)) over (${partition})`.map((text) => text.replace('sum(count(*))', 'count(a)')),
);
const condition = one('', '', ' where a is not null', ' where id > 2', ' where false', ' where a = 1');

export const windowStatement: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(windowed, source, condition, partition, key)
    .map(
      ([f, from, where, p, k]) =>
        `select id, ${f} as v from ${from}${where}${f.endsWith('over w') ? ` window w as (${p}order by ${k})` : ''}`,
    ),
  fc
    .tuple(windowed, windowed, source, condition)
    .filter(([f, g]) => !/over w$/.test(f + g) && !f.endsWith('over w'))
    .map(([f, g, from, where]) => `select id, ${f} as v, ${g} as w from ${from}${where} order by id`),
  fc
    .tuple(windowed, source)
    .filter(([f]) => !f.endsWith('over w'))
    .map(([f, from]) => `select * from (select id, ${f} as v from ${from}) s where v is not null`),
  written`select a, count(*), ${one('sum(count(*))', 'rank()', 'max(sum(id))', 'count(*)', 'lag(count(*))')} over (order by ${one('a', 'a nulls first', 'a desc')}) as v from ${source} group by a`,
  written`select distinct ${one('sum(a)', 'count(*)', 'max(b)', 'rank()')} over (${partition}order by ${one('a', 'b')}) as v from ${source}`,
  written`select id, a - lag(a) over (order by id) as v, sum(a) over (order by id) * 1.0 / nullif(sum(a) over (), 0) as w from ${source}`,
  written`select id from ${source} order by ${one('rank()', 'sum(a)', 'count(*)')} over (${partition}order by ${one('a', 'b')}), id`,
);
