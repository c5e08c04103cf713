import fc from 'fast-check';

/** A query whose lists have as many items as it is asked for, and whose nestings as many levels. */
export interface QueryShape {
  /** What it is made of, for a failure's message. */
  readonly name: string;
  readonly sql: (n: number) => string;
}

/** What a list of n items is made of. */
type Item = (index: number) => string;

const list = (n: number, item: Item, between = ', '): string =>
  Array.from({ length: n }, (_, index) => item(index)).join(between);
const nested = (n: number, wrap: (inner: string) => string, innermost: string): string =>
  Array.from({ length: n }).reduce<string>((inner) => wrap(inner), innermost);

/** Expressions of numbers over the columns of `app`. */
const numbers: readonly string[] = [
  'ms',
  '1',
  '-ms',
  'ms + 1.5',
  'ms * 2 - ms / 3',
  'ms % 7',
  "'12'::int",
  'cast(ms as numeric(20,2))',
  'abs(ms)',
  'round(ms::numeric, 2)',
  'coalesce(ms, 0)',
  'nullif(ms, 3)',
  'greatest(ms, 1, 2)',
  'case when ok then ms else 0 end',
  'case ms when 1 then 2 when 2 then 3 end',
  'length(level)',
  'extract(hour from p_timestamp)',
  'array_length(array[1, 2], 1)',
  '(array[ms, 2])[1]',
  "position('a' in level)",
];
const texts: readonly string[] = [
  'level',
  "'x'",
  'status',
  'upper(level)',
  "level || '-' || status",
  'substring(level from 2 for 3)',
  "regexp_replace(level, 'a+', 'b')",
  "split_part(level, '-', 2)",
  "lpad(level, 20, '*')",
  "replace(level, 'a', 'b')",
  'concat(level, 1, ok)',
  "format('%s: %L', level, ms)",
  "to_char(p_timestamp, 'YYYY-MM-DD HH24:MI')",
  "to_char(ms, 'FM9990.00')",
  "array_to_string(string_to_array(level, ','), ';')",
  "trim(both 'x' from level)",
  "date_trunc('hour', p_timestamp)::text",
  "level::jsonb #>> '{a,b}'",
  'cast(ms::int as text)',
];
const conditions: readonly string[] = [
  'ok',
  'ms > 3',
  "level = 'a'",
  "status = 'x'",
  "level <> 'b'",
  'ms between 1 and 2',
  'ms not between symmetric 2 and 1',
  "level in ('a', 'b')",
  'ms not in (1, 2, 3)',
  "level like 'a%'",
  "level ilike '%b_'",
  "level ~ '^[a-c]+$'",
  "level !~* '(x|y){1,3}'",
  'level is null',
  'ok is not true',
  'ok is unknown',
  "level is distinct from 'x'",
  "ms = any ('{1,2}')",
  'ms <> all (array[1, 2])',
  "(ms, level) = (1, 'a')",
  "(ms, level) in ((1, 'a'), (2, 'b'))",
  'not ok',
  "p_timestamp > now() - interval '1 day 2 hours'",
  "p_timestamp >= timestamp '2024-03-01 10:00:00'",
  'level::jsonb @> \'{"a": [1]}\'',
];
const aggregates: readonly string[] = [
  'count(*)',
  'sum(ms)',
  'avg(ms) filter (where ok)',
  'count(distinct level)',
  'percentile_cont(0.5) within group (order by ms)',
  "string_agg(level, ',' order by ms desc)",
  'array_agg(ms order by ms)',
  'stddev(ms)',
];
const windows: readonly string[] = [
  'row_number() over w',
  'sum(ms) over (partition by level order by ms rows between 2 preceding and current row)',
  'rank() over (order by ms desc nulls last)',
  "count(*) over (order by p_timestamp range between interval '1 hour' preceding and current row)",
  'lag(ms, 1) over (partition by level order by p_timestamp)',
];
const subqueries: readonly string[] = [
  '(select max(ms) from app)',
  '(select count(*) from app b where b.level = a.level)',
  '(select sum(b.ms) from app b where b.ms > a.ms)',
  'exists (select 1 from app b where b.ms = a.ms)',
  'ms in (select ms from app)',
  'ms in (select b.ms from app b where b.level = a.level)',
];

const oneOf = (items: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...items);
const value = fc.oneof(oneOf(numbers), oneOf(texts), oneOf(conditions));

/** One clause, or one construct, of which there are n. */
const shape = (name: string, sql: (n: number) => string): QueryShape => ({ name, sql });

const lists: readonly fc.Arbitrary<QueryShape>[] = [
  value.map((each) => shape(`items ${each}`, (n) => `select ${list(n, () => each)} from app`)),
  value.map((each) =>
    shape(`aliases ${each}`, (n) => `select ${list(n, (i) => `${each} as a${i}`)} from app`),
  ),
  fc.constant(
    shape('aliases alike', (n) => `select ${list(n, (i) => `1 as t${'_'.repeat(i % 6)}1`)} from app`),
  ),
  fc.constant(shape('stars', (n) => `select ${list(n, () => '*')} from app`)),
  fc.constant(
    shape(
      'stars of relations',
      (n) => `select ${list(n, (i) => `a${i}.*`)} from ${list(n, (i) => `app a${i}`)}`,
    ),
  ),
  oneOf(conditions).map((each) =>
    shape(`and ${each}`, (n) => `select 1 from app where ${list(n, () => each, ' and ')}`),
  ),
  oneOf(conditions).map((each) =>
    shape(`or ${each}`, (n) => `select 1 from app where ${list(n, () => each, ' or ')}`),
  ),
  oneOf(numbers).map((each) =>
    shape(`group by ${each}`, (n) => `select count(*) from app group by ${list(n, (i) => `${each} + ${i}`)}`),
  ),
  oneOf(numbers).map((each) =>
    shape(
      `items and keys ${each}`,
      (n) =>
        `select ${list(n, (i) => `${each} + ${i} as k${i}`)}, count(*) from app group by ${list(n, (i) => `k${i}`)} order by ${list(n, (i) => String(i + 1))}`,
    ),
  ),
  oneOf(texts).map((each) =>
    shape(
      `order by ${each}`,
      (n) => `select level from app order by ${list(n, () => `${each} desc nulls last`)}`,
    ),
  ),
  oneOf(texts).map((each) =>
    shape(
      `distinct on ${each}`,
      (n) =>
        `select distinct on (${list(n, (i) => `${each} || '${i}'`)}) level from app order by ${list(n, (i) => `${each} || '${i}'`)}`,
    ),
  ),
  fc.constant(
    shape(
      'distinct',
      (n) =>
        `select distinct ${list(n, (i) => `ms + ${i} as x${i}`)} from app order by ${list(n, (i) => `x${i}`)}`,
    ),
  ),
  oneOf(aggregates).map((each) =>
    shape(
      `aggregates ${each}`,
      (n) => `select ${list(n, () => each)} from app having ${list(n, () => 'count(*) > 1', ' and ')}`,
    ),
  ),
  oneOf(windows).map((each) =>
    shape(`windows ${each}`, (n) => `select ${list(n, () => each)} from app window w as (order by ms)`),
  ),
  fc.constant(
    shape(
      'window clause',
      (n) =>
        `select ${list(n, (i) => `sum(ms) over w${i}`)} from app window ${list(n, (i) => `w${i} as (partition by level order by ms)`)}`,
    ),
  ),
  oneOf(subqueries).map((each) =>
    shape(`subqueries ${each}`, (n) => `select ${list(n, () => each)} from app a`),
  ),
  oneOf(conditions).map((each) =>
    shape(
      `conditions that correlate, ${each}`,
      (n) =>
        `select (select sum(b.ms) from app b where ${list(n, (i) => `b.ms > a.ms + ${i}`, ' and ')}) from app a where ${each}`,
    ),
  ),
  fc.constant(shape('relations', (n) => `select count(*) from ${list(n, (i) => `app a${i}`)}`)),
  fc.constant(
    shape(
      'relations and names',
      (n) =>
        `select ${list(n, (i) => `a${i}.ms`)} from ${list(n, (i) => `app a${i}`)} where ${list(n, (i) => `a${i}.level = 'x'`, ' and ')}`,
    ),
  ),
  fc.constant(
    shape(
      'metrics and labels',
      (n) =>
        `select count(*) from ${list(n, (i) => `m a${i}`)} where ${list(n, (i) => `a${i}.job = 'x'`, ' and ')}`,
    ),
  ),
  fc.constant(
    shape(
      'joins on',
      (n) => `select count(*) from app a ${list(n, (i) => `left join app b${i} on b${i}.ms = a.ms`, ' ')}`,
    ),
  ),
  fc.constant(
    shape(
      'joins using',
      (n) => `select count(*) from app a ${list(n, (i) => `join app b${i} using (ms)`, ' ')}`,
    ),
  ),
  fc.constant(
    shape(
      'natural joins',
      (n) => `select count(*) from app a ${list(n, (i) => `natural join app b${i}`, ' ')}`,
    ),
  ),
  fc.constant(
    shape(
      'columns of using',
      (n) =>
        `select * from (select ${list(n, (i) => `ms + ${i} as c${i}`)} from app) x join (select ${list(n, (i) => `ms + ${i} as c${i}`)} from app) y using (${list(n, (i) => `c${i}`)})`,
    ),
  ),
  fc.constant(
    shape(
      'derived tables',
      (n) => `select count(*) from ${list(n, (i) => `(select level, ms from app) as d${i}(a, b)`)}`,
    ),
  ),
  fc.constant(
    shape(
      'lateral',
      (n) => `select count(*) from app a, ${list(n, (i) => `lateral (select a.ms + ${i} as x) l${i}`)}`,
    ),
  ),
  fc.constant(
    shape(
      'functions in from',
      (n) =>
        `select count(*) from ${list(n, (i) => `generate_series(1, ${i + 2}) with ordinality as g${i}(a, b)`)}`,
    ),
  ),
  fc.constant(
    shape(
      'unnest',
      (n) => `select count(*) from app a, ${list(n, (i) => `unnest(array[a.ms, ${i}]) as u${i}`)}`,
    ),
  ),
  fc.constant(
    shape(
      'information_schema',
      // Not a product of them, which is evaluated when it is translated, and refused.
      (n) =>
        Array.from({ length: n }, () => 'select table_name from information_schema.columns').join(
          ' union all ',
        ),
    ),
  ),
  fc.constant(
    shape(
      'ctes',
      (n) =>
        `with ${list(n, (i) => `c${i} as (select level, ms from app)`)} select count(*) from ${list(n, (i) => `c${i}`)}`,
    ),
  ),
  fc.constant(
    shape(
      'ctes of ctes',
      (n) =>
        `with c0 as (select 1 as x), ${list(n, (i) => `c${i + 1} as (select a.x + 1 as x from c${i} a)`)} select * from c${n}`,
    ),
  ),
  fc.constant(
    shape(
      'one cte',
      (n) =>
        `with c as (select * from app) select ${list(n, (i) => `c${i}.ms`)} from ${list(n, (i) => `c c${i}`)}`,
    ),
  ),
  fc.constant(
    shape(
      'recursive',
      (n) =>
        `with recursive r as (select ${list(n, () => '1::bigint')} union all select ${list(n, () => '1::bigint')} from r) select count(*) from r`,
    ),
  ),
  oneOf(['union all', 'union', 'except', 'intersect']).map((each) =>
    shape(each, (n) => `${list(n, (i) => `select ${i}, 'a'`, ` ${each} `)} order by 1 limit 5`),
  ),
  oneOf(numbers.slice(1, 2)).map(() =>
    shape('values', (n) => `values ${list(n, (i) => `(${i}, 'a', null)`)}`),
  ),
  fc.constant(
    shape(
      'columns of values',
      (n) =>
        `select * from (values (${list(n, String)}), (${list(n, String)})) v order by ${list(n, (i) => `column${i + 1}`)}`,
    ),
  ),
  value.map((each) =>
    shape(
      `in list beside ${each}`,
      (n) => `select 1 from app where ms in (${list(n, String)}) or (${each}) is null`,
    ),
  ),
  oneOf(texts).map((each) =>
    shape(`in list of ${each}`, (n) => `select 1 from app where 'a' in (${list(n, () => each)})`),
  ),
  fc.constant(
    shape('rows in list', (n) => `select 1 from app where (ms, level) in (${list(n, (i) => `(${i}, 'a')`)})`),
  ),
  fc.constant(
    shape(
      'columns of a row',
      (n) => `select 1 from app where (${list(n, () => 'ms')}) = (${list(n, String)})`,
    ),
  ),
  oneOf(conditions).map((each) =>
    shape(`case ${each}`, (n) => `select case ${list(n, (i) => `when ${each} then ${i}`, ' ')} end from app`),
  ),
  fc.constant(
    shape('case of', (n) => `select case ms ${list(n, (i) => `when ${i} then ${i}`, ' ')} end from app`),
  ),
  oneOf(['coalesce', 'greatest', 'concat', 'num_nulls']).map((each) =>
    shape(each, (n) => `select ${each}(${list(n, () => 'ms')}) from app`),
  ),
  fc.constant(
    shape('array', (n) => `select array[${list(n, String)}], ms = any (array[${list(n, String)}]) from app`),
  ),
  fc.constant(shape('text of an array', (n) => `select ms = any ('{${list(n, String)}}') from app`)),
  fc.constant(shape('path', (n) => `select level::jsonb #> '{${list(n, () => 'a')}}' from app`)),
  fc.constant(shape('json', (n) => `select level::jsonb @> '{${list(n, (i) => `"k${i}": ${i}`)}}' from app`)),
  fc.constant(
    shape('json build', (n) => `select jsonb_build_object(${list(n, (i) => `'k${i}', ms`)}) from app`),
  ),
  fc.constant(shape('regex', (n) => `select level ~ '${list(n, () => '[^a-f]{1,3}(x|y)?', '')}' from app`)),
  fc.constant(
    shape(
      'alternatives',
      (n) =>
        `select regexp_replace(level, '${list(n, (i) => `w${String(i).padStart(4, '0')}`, '|')}', '') from app`,
    ),
  ),
  fc.constant(shape('like', (n) => `select level like '${list(n, () => '%a\\_', '')}' from app`)),
  fc.constant(
    shape(
      'format',
      (n) => `select format('${list(n, () => '%s-', '')}', ${list(n, () => 'level')}) from app`,
    ),
  ),
  fc.constant(shape('to_char', (n) => `select to_char(p_timestamp, '${list(n, () => 'DD-', '')}') from app`)),
  fc.constant(
    shape('interval', (n) => `select p_timestamp + interval '1 day${' '.repeat(n)}2 hours' from app`),
  ),
  fc.constant(
    shape(
      'rollup',
      (n) =>
        `select count(*) from app group by rollup ((${list(n, (i) => `ms + ${i}`)}), level), cube (ok, status)`,
    ),
  ),
  fc.constant(
    shape(
      'grouping sets',
      (n) =>
        `select count(*), grouping(level) from app group by grouping sets (${list(Math.ceil(n / 2), () => '(level), (ok)')})`,
    ),
  ),
];

/** Each level repeats what is in it as often as it does; what grows faster is refused. */
const nestings: readonly fc.Arbitrary<QueryShape>[] = [
  oneOf([
    '(X + 1)',
    'abs(X)',
    '(- X)',
    'coalesce(X, 1)',
    '(X)::float8',
    'case when ok then X else 1 end',
    'greatest(X, ms)',
    '(select max(ms) from app where ms > X)',
  ]).map((each) =>
    shape(
      `nested ${each}`,
      (n) => `select ${nested(n, (inner) => each.replace('X', () => inner), 'ms')} from app`,
    ),
  ),
  oneOf(['(not X)', '(X and ok)', '(ok or X)']).map((each) =>
    shape(
      `nested ${each}`,
      (n) => `select 1 from app where ${nested(n, (inner) => each.replace('X', () => inner), 'ok')}`,
    ),
  ),
  oneOf([
    'select level, ms from (X) x',
    'select level, ms from (X) x where ms > 1',
    'with c as (X) select level, ms from c',
  ]).map((each) =>
    shape(`nested ${each}`, (n) =>
      nested(n, (inner) => each.replace('X', () => inner), 'select level, ms from app'),
    ),
  ),
];

/** Grammar of one random list or nesting. */
export const anyShape: fc.Arbitrary<QueryShape> = fc.oneof(
  { weight: lists.length, arbitrary: fc.oneof(...lists) },
  { weight: nestings.length, arbitrary: fc.oneof(...nestings) },
);

/** Two of them side by side in one query. */
export const twoShapes: fc.Arbitrary<QueryShape> = fc
  .tuple(fc.oneof(...lists), anyShape)
  .map(([left, right]) =>
    shape(
      `${left.name} beside ${right.name}`,
      (n) => `select (${countOf(left.sql(n))}), (${countOf(right.sql(n))})`,
    ),
  );

const countOf = (sql: string): string => `select count(*) from (${sql}) q`;

/** Every list and nesting once, with the first of what it may be made of. */
export const eachShape = (seed: number): readonly QueryShape[] =>
  [...lists, ...nestings].flatMap((arbitrary) => fc.sample(arbitrary, { numRuns: 1, seed }));
