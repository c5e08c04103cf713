import { describe, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { StatementTemplate } from '../../../src/sql/placeholders.ts';
import type { SqlCatalog } from '../../../src/sql/sql-catalog.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';
import { type Translation, translate } from '../../../src/sql/translate-query.ts';
import { readGolden } from '../../sql/golden.ts';
import { smallCatalog } from '../../support/sql/small-catalogs.ts';

const micros = (text: string): number => Date.parse(text) * 1000;

const times = {
  startMicros: micros('2024-03-01T00:00:00Z'),
  endMicros: micros('2024-03-02T00:00:00Z'),
  nowMicros: micros('2024-03-01T12:00:00Z'),
};

async function translated(query: string): Promise<Translation> {
  const translation = translate(await parseQuery(query), smallCatalog, { start: true, end: true });
  return { ...translation, sql: new StatementTemplate(translation.sql).fill(times, [], 0) };
}

const refusal = (query: string): Promise<AppError> =>
  translated(query).then(
    ({ sql }) => {
      throw new Error(`translated: ${sql}`);
    },
    (thrown: unknown) => {
      if (thrown instanceof AppError) return thrown;
      throw thrown;
    },
  );

describe('golden translations', () => {
  test.each(readGolden())('$query', async ({ query, expected }) => {
    expect((await translated(query)).sql).toBe(expected);
  });
});

describe('what a translation tells', () => {
  test('output columns with their types', async () => {
    const { columns } = await translated(
      'select level, ms, count(*), ok, 1.5, now() from app group by 1, 2, 4',
    );
    expect(columns.map(({ name, type }) => ({ name, type: type.label }))).toEqual([
      { name: 'level', type: 'text' },
      { name: 'ms', type: 'double precision' },
      { name: 'count', type: 'bigint' },
      { name: 'ok', type: 'boolean' },
      { name: '?column?', type: 'numeric' },
      { name: 'now', type: 'timestamp with time zone' },
    ]);
  });

  test.each([
    ['select count(*) from app', 1],
    ['select count(*), max(ms) from app having count(*) > 1', 1],
    ['select 1', 1],
    ['select level from app limit 10', 10],
    ['select count(*) from app limit 10', 1],
    ['select * from (select level from app limit 7) x where level is not null', 7],
    ['values (1), (2)', 2],
    ['select 1 union all select count(*) from app', 2],
    ['select level from app limit 3 offset 5', 3],
    ['select count(*) from app group by grouping sets ((), ())', 2],
    ['select level from app', undefined],
    ['select level, count(*) from app group by level', undefined],
    ['select a.level from (select level from app limit 7) a, app b', undefined],
    ['select generate_series(1, 5)', undefined],
    ['select level from app union all select 1::text', undefined],
  ])('how many rows there can be at most: %s', async (query, rows) => {
    expect((await translated(query)).maxRows).toBe(rows);
  });

  test('the datasets read, wherever they are named', async () => {
    expect((await translated('select 1')).datasets).toEqual([]);
    expect((await translated('select 1 from app a, app b')).datasets).toEqual(['app']);
    const nested =
      'with x as (select 1 from m) select (select count(*) from m.series) from app where exists (select 1 from x)';
    expect([...(await translated(nested)).datasets].sort()).toEqual(['app', 'm']);
  });

  test('the same text each time', async () => {
    const query = 'select a.level from app a where exists (select 1 from app b where b.ms = a.ms)';
    expect(await translated(query)).toEqual(await translated(query));
  });
});

describe('rows are counted without being read', () => {
  const everywhere = { start: false, end: false };
  const sqlOf = async (query: string, catalog = smallCatalog): Promise<string> =>
    translate(await parseQuery(query), catalog, everywhere).sql;

  test('where all of them are counted', async () => {
    expect(await sqlOf('select count(*) from app')).toBe(
      'SELECT toInt64(count()) AS `count` FROM `t_default`.`app.events` AS `t1`',
    );
  });

  test('but not where the reader may see some of them only', async () => {
    const narrowed: SqlCatalog = {
      ...smallCatalog,
      dataset: (name) => {
        const dataset = smallCatalog.dataset(name);
        return dataset && { ...dataset, rows: [{ field: 'level', value: 'info' }] };
      },
    };
    expect(await sqlOf('select count(*) from app', narrowed)).toContain("PREWHERE `level:str` = 'info'");
  });

  test.each([
    ['select count(*) from app where ok', 'WHERE `t1`.`c1`'],
    ['select count(level) from app', 'count(`t1`.`c1`)'],
    ['select count(*) from m', 'reinterpretAsUInt64(value)'],
  ])('%s reads what it needs', async (query, part) => {
    expect(await sqlOf(query)).toContain(part);
  });
});

describe('refusals say what, and what instead', () => {
  test.each([
    ['select lvel from app', 'sql_unknown_column', 'column "lvel" does not exist; did you mean "level"?'],
    ['select a.mss from app a', 'sql_unknown_column', 'column a.mss does not exist; did you mean "ms"?'],
    ['select 1 from ap', 'sql_unknown_relation', 'relation "ap" does not exist; did you mean "app"?'],
    ['select uper(level) from app', 'sql_unknown_function', 'did you mean "upper"?'],
    ['select x.level from app', 'sql_unknown_relation', '"x" is not in the FROM clause'],
    ['select level from app a, app b', 'sql_ambiguous', 'column reference "level" is ambiguous'],
    ['select level = 5 from app', 'sql_unknown_function', 'operator does not exist: text = integer'],
    ['select upper(ms) from app', 'sql_unknown_function', 'function upper(double precision) does not exist'],
    [
      'select ms from app where ms',
      'sql_type',
      'argument of WHERE must be type boolean, not type double precision',
    ],
    [
      'select level, ms from app group by level',
      'sql_grouping',
      'column "ms" must appear in the GROUP BY clause',
    ],
    [
      "select ms from app where ms > 'abc'",
      'sql_bad_value',
      'invalid input syntax for type double precision: "abc"',
    ],
    ['select level from app order by 3', 'sql_bad_reference', 'ORDER BY position 3 is not in select list'],
    [
      'select 1 from app a full join app b on a.ms > b.ms',
      'sql_unsupported',
      'FULL JOIN without an equality',
    ],
    [
      'select status::date from app where status::bool',
      'sql_type',
      'column "status" has no value of type boolean',
    ],
  ])('%s', async (query, code, message) => {
    const error = await refusal(query);
    expect(error.message).toContain(message);
    expect(error.code).toBe(code);
  });
});
