import { describe, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { FieldType } from '../../../src/model/column.ts';
import { type Bound, TranslationBudget } from '../../../src/sql/budget.ts';
import { parseWithin } from '../../../src/sql/syntax/parse.ts';
import { type Translation, translate } from '../../../src/sql/translate-query.ts';
import { catalogOfDatasets, eventsDataset } from '../../support/sql/small-catalogs.ts';

const columns = (count: number): Readonly<Record<string, readonly FieldType[]>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, ['num']]));

const catalog = catalogOfDatasets([
  eventsDataset('app', { level: ['str'], num: ['num'], ok: ['bool'] }),
  eventsDataset('wide', columns(900)),
  eventsDataset('physical', columns(3000)),
]);

async function translated(sql: string): Promise<{
  readonly translation?: Translation;
  readonly error?: AppError;
  readonly budget: TranslationBudget;
}> {
  const budget = new TranslationBudget();
  try {
    const tree = await parseWithin(budget, sql);
    return { translation: translate(tree, catalog, { start: true, end: true }, budget), budget };
  } catch (thrown) {
    if (thrown instanceof AppError) return { error: thrown, budget };
    throw thrown;
  }
}

const list = (count: number, item: (index: number) => string, between = ', '): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(between);
const nested = (count: number, wrap: (inner: string) => string, innermost: string): string =>
  Array.from({ length: count }).reduce<string>(wrap, innermost);

/** Each is refused when it reaches its bound, and has done no more than what is given until then. */
const refusals: ReadonlyArray<readonly [name: string, sql: string, message: RegExp, maxSteps: number]> = [
  ['1,000 stars', `select ${list(1000, () => '*')} from wide`, /output columns/, 30_000],
  ['10,000 stars', `select ${list(10_000, () => '*')} from wide`, /output columns/, 30_000],
  [
    'stars of CTEs',
    `with ${list(50, (i) => `c${i} as (select * from wide)`)} select 1`,
    /output columns/,
    90_000,
  ],
  ['5,000 relations', `select 1 from ${list(5000, (i) => `app a${i}`)}`, /relations in FROM/, 10_000],
  [
    'relations in subqueries',
    `select ${list(600, () => '(select count(*) from app)')}`,
    /relations in FROM/,
    20_000,
  ],
  [
    'relations of CTEs that are read twice',
    `with c0 as (select num from app), ${list(30, (i) => `c${i + 1} as (select a.num from c${i} a, c${i} b)`)} select 1`,
    /relations in FROM/,
    10_000,
  ],
  [
    'expressions of a CTE that is read often',
    `with c as (select ${list(2000, () => 'num + num')} from app) select 1 from ${list(200, (i) => `c c${i}`)}`,
    /in what it expands to/,
    90_000,
  ],
  ['group keys', `select count(*) from app group by ${list(36_000, () => 'num')}`, /keys in GROUP BY/, 0],
  ['sort keys', `select num from app order by ${list(36_000, () => 'num')}`, /keys in ORDER BY/, 100],
  [
    'keys of windows',
    `select ${list(1900, () => 'sum(num) over w')} from app window w as (order by num, ok, level)`,
    /keys in ORDER BY/,
    20_000,
  ],
  ['windows', `select ${list(5000, () => 'sum(num) over (order by num)')} from app`, /windows/, 0],
  ['CTEs', `with ${list(300, (i) => `c${i} as (select 1)`)} select 1`, /common table expressions/, 10_000],
  ['set operations', `select ${list(501, () => '(select 1 union select 2)')}`, /set operations/, 10_000],
  [
    'subqueries',
    `select ${list(10_001, () => '(select 1)')}`,
    /output columns|relations and subqueries/,
    100_000,
  ],
  ['syntax', `select array[${list(80_000, () => '-a', ',')}]`, /expressions, queries/, 0],
  [
    'nested BETWEEN',
    `select ${nested(60, (x) => `(${x} between false and true)`, 'ok')} from app`,
    /steps/,
    2_000_001,
  ],
  ['nested NULLIF', `select ${nested(100, (x) => `nullif(${x}, 1)`, 'num')} from app`, /steps/, 2_000_001],
  [
    'nested IN',
    `select ${nested(30, (x) => `(1 in (select case when ${x} then 1 end))`, 'ok')} from app`,
    /too large|from here/,
    100_000,
  ],
  ['subscripts', `select num${list(60_000, () => '[1]', '')} from app`, /subscripts/, 0],
  ['a JSON path', `select level::jsonb #> '{${list(50_000, () => 'a', ',')}}' from app`, /100 levels/, 100],
  ['JSON', `select level::jsonb @> '${nested(5000, (x) => `{"a":${x}}`, '1')}' from app`, /100 levels/, 1000],
  ['a literal', `select '${'x'.repeat(200_000)}'`, /characters/, 0],
  ['a format', `select to_date(level, '${'YYYY-'.repeat(20_000)}') from app`, /A format has/, 100],
  ['a LIKE pattern', `select level like '${'%a'.repeat(40_000)}' from app`, /pattern of LIKE/, 100],
  ['a regular expression', `select level ~ '${'a'.repeat(40_000)}' from app`, /regular expression has/, 100],
  [
    'a row beside many',
    `select (num + num, 1) in (${list(20_000, () => '(1,2)')}) from app`,
    /too large|expressions/,
    2_000_001,
  ],
  ['arrays side by side', `select * from unnest(${list(15_000, () => "'{1}'::int[]")}) u`, /expands to/, 100],
  [
    'repeated values',
    `select format('${'%1$s'.repeat(900)}', ${list(180, () => 'level', ' || ')}) from app`,
    /too large/,
    10_000,
  ],
  ['lpad', "select lpad(level, 1000000000, 'x') from app", /lpad to more than 100000/, 100],
];

describe('what expands too far is refused where it does', () => {
  test.each(refusals)('%s', async (_, sql, message, maxSteps) => {
    expect(sql.length).toBeLessThan(limits.maxQueryTextBytes);
    const { error, budget } = await translated(sql);
    expect(error?.message).toMatch(message);
    expect(['sql_too_large', 'sql_unsupported']).toContain(error?.code);
    expect(error?.definition.status).toBe(400);
    expect(budget.spent('steps')).toBeLessThanOrEqual(maxSteps);
    expect(budget.spent('resolvedNodes')).toBeLessThanOrEqual(limits.maxSqlResolvedNodes + 20_000);
  });

  test('with the bound and the place', async () => {
    const { error } = await translated(`select\n ${list(30, () => '*')} from wide`);
    expect(error?.message).toMatch(
      /^The query has more than 20000 output columns, which is as many as are allowed/,
    );
    expect(error?.details).toHaveProperty('offset');
  });
});

/** Texts that took a scanner more time than they are long. */
test.each([
  ['brackets and a back reference', `select 'x' ~ '${'[^a]'.repeat(40)}\\1'`, 'sql_unsupported'],
  ['blanks in an array', `select '{${' '.repeat(120_000)}x'::int[]`, 'sql_bad_value'],
  ['blanks in a path', `select level::jsonb #> '{${' '.repeat(120_000)}x' from app`, 'sql_bad_value'],
  ['blanks in an interval', `select interval 'x${' '.repeat(120_000)}y'`, 'sql_bad_value'],
  ['digits in an interval', `select interval '${'1'.repeat(120_000)}x'`, 'sql_bad_value'],
  ['more digits of days than a number has', `select interval '${'1'.repeat(120_000)} days'`, 'sql_bad_value'],
  ['digits of no number', `select '${'1'.repeat(120_000)}x'::numeric`, 'sql_bad_value'],
  ['digits of an integer', `select '${'1'.repeat(120_000)}'::int`, 'sql_out_of_range'],
  ['digits', `select ${'1'.repeat(120_000)}`, 'sql_out_of_range'],
  ['blanks in a timestamp', `select timestamp '2024-01-01 ${' '.repeat(120_000)}x'`, 'sql_bad_value'],
  ['counts of a regular expression', "select regexp_matches('x', 'a{2,1}')", 'sql_bad_regex'],
  ['no look-behind', "select regexp_matches('x', '(?<a')", 'sql_bad_regex'],
  ['an open group', "select regexp_matches('x', '(bar')", 'sql_bad_regex'],
])('%s: read once, and refused', async (_, sql, code) => {
  const { error, budget } = await translated(sql);
  expect(error?.code).toBe(code);
  expect(error?.definition.status).toBe(400);
  expect(budget.spent('steps')).toBeLessThan(100);
});

/** Usual and wide queries, with what they may cost. */
const translations: ReadonlyArray<readonly [name: string, sql: string, maxSteps: number]> = [
  ['a star over 3,000 columns', 'select * from physical', 40_000],
  ['of a subquery of one', 'select * from (select * from physical) x', 80_000],
  [
    '20,000 literals in a list',
    `select 1 from app where level in (${list(20_000, (i) => `'v${i}'`)})`,
    100_000,
  ],
  ['50,000 numbers in a list', `select 1 where 1 in (${list(50_000, () => '1')})`, 250_000],
  ['500 relations', `select count(*) from ${list(500, (i) => `wide a${i}`)}`, 20_000],
  [
    '60 aliases that look generated',
    `select ${list(60, (i) => `1 as t${'_'.repeat(i)}1`)} from ${list(400, (i) => `app a${i}`)}`,
    20_000,
  ],
  [
    '4,000 columns in another order',
    `select ${list(4000, () => 'num')} from app order by ${list(4000, () => 'num')}`,
    60_000,
  ],
  ['a join by 900 columns', `select 1 from wide a join wide b using (${list(900, (i) => `c${i}`)})`, 20_000],
  ['names that clash', `select ${list(3000, () => '1 as a')}, ${list(3000, (i) => `1 as a_${i}`)}`, 50_000],
];

test.each(translations)('%s: translated within its steps', async (_, sql, maxSteps) => {
  const { error, translation, budget } = await translated(sql);
  expect(error).toBeUndefined();
  expect(translation?.sql.length).toBeLessThanOrEqual(limits.maxStoreSqlBytes);
  expect(budget.spent('steps')).toBeLessThanOrEqual(maxSteps);
});

test('the same counts each time', async () => {
  const bounds: readonly Bound[] = ['steps', 'syntaxNodes', 'resolvedNodes', 'outputColumns', 'aliases'];
  const counts = async () => {
    const { budget } = await translated(
      'with c as (select * from wide) select * from c a join c b using (c1)',
    );
    return bounds.map((bound) => budget.spent(bound));
  };
  expect(await counts()).toEqual(await counts());
});

describe('generated names', () => {
  test.each([
    ['t1', 't_1'],
    ['tw1', 't_1'],
    ['x', 't1'],
    ['t', 't1'],
  ])('beside an output column %s, the relation is %s', async (name, relation) => {
    const { translation } = await translated(`select num as ${name} from app`);
    expect(translation?.sql).toContain(`\`${relation}\`.`);
    expect(translation?.sql).not.toMatch(/\0w?\d/);
  });

  test('also where the names come from a star', async () => {
    const { translation } = await translated(
      'with w as (select num as t1, ok as t_2 from app) select * from w',
    );
    expect(translation?.sql).toContain('WITH `t__w1` AS');
    expect(translation?.columns.map(({ name }) => name)).toEqual(['t1', 't_2']);
  });
});
