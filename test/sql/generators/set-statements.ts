import * as fc from 'fast-check';
import { one, written } from '../written.ts';

/** Set operations of columns whose types must be made one, VALUES, CTEs and recursion. */
const number = one(
  '1',
  '2',
  '-1',
  '1.5',
  '2.0',
  '1::int2',
  '1::int8',
  '1::float8',
  '2.5::float8',
  '1.50::numeric(10,2)',
  'null',
  '3000000000',
  "'1'",
  'null::int',
  '100',
);
const textual = one("'a'", "'b'", "'a'::text", 'null', "''", "'A'", "'1'", 'null::text', "'x'::varchar");
const timely = one(
  "date '2024-01-01'",
  "timestamp '2024-01-01'",
  "timestamptz '2024-01-01 00:00+00'",
  "'2024-01-01'",
  'null',
  "timestamp '2024-01-01 10:00'",
  "date '2024-02-29'",
);
const boolean = one('true', 'false', 'null', "'t'", '1 = 1', 'null::bool');
const others = one(
  "interval '1 day'",
  "'{1,2}'::int[]",
  'array[1,2]',
  '\'{"a":1}\'::jsonb',
  "interval '24 hours'",
  'null',
  'array[1.5, 2]',
  'array[]::int[]',
);
const column = fc.constantFrom(number, number, textual, timely, boolean, others);
const word = one('union', 'union', 'union all', 'intersect', 'except', 'intersect all', 'except all');

/** Queries of the same columns, some of them literals of other types. */
const ofColumns = (columns: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> => {
  const row = fc.tuple(...columns).map((cells) => cells.join(', '));
  const valuesList = fc
    .array(
      row.map((cells) => `(${cells})`),
      { minLength: 1, maxLength: 4 },
    )
    .map((rows) => `values ${rows.join(', ')}`);
  return fc.oneof(
    row.map((cells) => `select ${cells}`),
    row.map((cells) => `select ${cells}`),
    valuesList,
    fc
      .tuple(row, one('eid < 3', 'false', 'true'))
      .map(([cells, where]) => `select ${cells} from emp where ${where}`),
  );
};
const columnsOf = fc.array(column, { minLength: 1, maxLength: 2 });

const combined = columnsOf.chain((columns) => {
  const query = ofColumns(columns);
  const list = columns.map((_, index) => index + 1).join(', ');
  const last = fc.oneof(
    one('', ''),
    one(` order by ${list}`, ` order by ${list} limit 2`, ` order by ${list} limit 1 offset 1`),
  );
  return fc.oneof(
    written`${query} ${word} ${query}${last}`,
    written`${query} ${word} ${query} ${word} ${query}${last}`,
    written`(${query} ${word} ${query}) ${word} ${query}${last}`,
    written`${query} ${word} (${query} ${word} ${query})${last}`,
    written`select * from (${query} ${word} ${query}) s`,
    written`select count(*) from (${query} ${word} ${query}) s`,
    written`with w as (${query}) select * from w ${word} select * from w`,
    written`with w as (${query} ${word} ${query}) select * from w a, w b`,
    written`with w as materialized (${query}), v as (select * from w ${word} ${query}) select * from v`,
    written`select distinct * from (${query} union all ${query}) s${last}`,
    written`select exists (${query} ${word} ${query}) as v`,
  );
});

const valued = columnsOf.chain((columns) => {
  const row = fc.tuple(...columns).map((cells) => `(${cells.join(', ')})`);
  const rows = fc.array(row, { minLength: 1, maxLength: 5 }).map((some) => some.join(', '));
  const list = columns.map((_, index) => index + 1).join(', ');
  return fc.oneof(
    written`values ${rows}`,
    written`values ${rows} order by ${one(list)}`,
    written`select * from (values ${rows}) t`,
    written`select column1, count(*) from (values ${rows}) t group by 1`,
    written`select distinct column1 from (values ${rows}) t order by 1`,
    written`select min(column1), max(column1) from (values ${rows}) t`,
    written`select * from (values ${rows}) t order by ${one(list.replaceAll(/(\d)/g, '$1 desc nulls last'))}`,
  );
});

const seriesTerm = one('n + 1', 'n * 2', 'n + 2');
const recursive = fc.oneof(
  written`with recursive t(n) as (${one('select 1', 'values (1), (5)', 'select 1 where false', 'select 1::int8', 'select eid::int from emp')} union all select ${seriesTerm} from t where n < ${one('5', '10', '1')}) select ${one('*', 'count(*)', 'sum(n), max(n)', 'distinct n % 3')} from t`,
  written`with recursive t(n, s) as (select 1, ${one("'a'::text", "'a'", "''::text")} union all select n + 1, s || ${one("'b'", 'n::text')} from t where n < 4) select * from t order by 1, 2`,
  written`with recursive t(n) as (select 1 union select (n + 1) % 4 from t) select * from t order by 1`,
  written`with recursive r(eid, name, depth) as (select eid, name, 0 from emp where boss is null union all select e.eid, e.name, r.depth + 1 from emp e ${one('join', 'join')} r on e.boss = r.eid) select ${one('*', 'depth, count(*)', 'max(depth)')} from r${one('')}`.map(
    (text) => text.replace('depth, count(*) from r', 'depth, count(*) from r group by 1'),
  ),
);
const generated = fc.oneof(
  written`select ${one('*', 'count(*)', 'sum(g)')} from generate_series(${one('1', '0', '5', '-2', '1::int8', '1.5', 'null')}, ${one('5', '1', '0', '3.5', 'null', '4::int8')}${one('', '', ', 2', ', -1', ', 0', ', 0.5', ', null')}) g`,
  written`select g, n from generate_series(${one('1', '3')}, ${one('3', '1')}) with ordinality t(g, n)`,
  written`select * from unnest(${one('array[1, null, 3]', "array['a', 'b']", "'{}'::int[]", 'null::int[]', 'array[1.5, 2]')}) ${one('x', 'with ordinality t(x, n)', 't(x)')}`,
  written`select * from generate_series(timestamp '${one('2024-01-01', '2024-01-31', '2024-02-28')}', timestamp '2024-03-02', interval '${one('1 day', '12 hours', '1 month', '1 week', '-1 day', '0', '10 days 5 hours')}') g`,
);

export const setStatement: fc.Arbitrary<string> = fc.oneof(
  combined,
  combined,
  combined,
  valued,
  valued,
  recursive,
  generated,
);
