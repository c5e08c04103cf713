import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AppError } from '../../../src/errors.ts';
import { catalogOf, fixtures } from '../../sql/fixtures.ts';
import { type Ask, asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

/** What a query of the catalog can make the evaluator do is counted before it is done. */

let store: TestStore;
let ask: Ask;
let waits = 0;

beforeAll(async () => {
  store = await openTestStore();
  const waitForPending = (): Promise<boolean> => {
    waits += 1;
    return Promise.resolve(true);
  };
  ask = asker(queryService(store.store, catalogOf(fixtures), { waitForPending }));
});
afterAll(() => store?.close());

const refusal = async (sql: string): Promise<AppError> =>
  await ask(sql).then(
    () => {
      throw new Error('not refused');
    },
    (error: AppError) => error,
  );

/** As long as a value may be, nearly. */
const longText = "with t(s) as (select repeat('x', 1000000))";

describe('refused before it takes long', () => {
  const hostile: Readonly<Record<string, string>> = {
    'a cross join': 'select count(*) from pg_attribute a, pg_attribute b, pg_attribute c',
    'a join by inequality':
      'select count(*) from pg_attribute a join pg_attribute b on a.attname <> b.attname',
    'a correlated subquery':
      'select (select count(*) from pg_attribute b where b.attname <> a.attname) from pg_attribute a, pg_class c',
    'many rows of a function': 'select count(*) from generate_series(1, 1000000000000) g, pg_namespace n',
    'functions of many rows, nested':
      'select g from generate_series(1, 100000) g, generate_series(1, 100000) h, pg_namespace',
    'a query without end':
      'with recursive t(n) as (select 1 union all select n from t) select count(*) from t, pg_namespace',
    'a text that doubles':
      "with recursive t(s, n) as (select 'x', 1 union all select s || s, n + 1 from t where n < 60) select count(*), current_schema() from t",
    'an array that doubles':
      'with recursive t(a, n) as (select array[1], 1 union all select a || a, n + 1 from t where n < 60) select count(*), current_schema() from t',
    repeat: "select repeat('x', 2000000000), current_schema()",
    lpad: "select lpad('x', 2000000000) from pg_namespace",
    'format with a width': "select format('%900000000s', 'x') from pg_namespace",
    'replace with something longer':
      "select replace(repeat('x', 100000), 'x', repeat('y', 100000)) from pg_namespace",
    'regexp_replace with something longer':
      "select regexp_replace(repeat('x', 100000), 'x', repeat('y', 100000), 'g') from pg_namespace",
    'a long pattern on a long text':
      "select count(*) from pg_attribute where repeat('a', 100000) ~ repeat('a?', 10000)",
    string_agg: "select string_agg(repeat(attname, 1000), ',') from pg_attribute",
    'a text whose quotes double':
      "with recursive t(s, n) as (select '''', 1 union all select quote_literal(s), n + 1 from t where n < 60) select count(*) from t",
    'array_cat of an array with itself':
      'with recursive t(a, n) as (select array[1], 1 union all select array_cat(a, a), n + 1 from t where n < 60) select count(*), current_schema() from t',
    'an array of a long text, doubled':
      "with recursive t(a, n) as (select array[repeat('x', 100000)], 1 union all select a || a, n + 1 from t where n < 25) select max(length(array_to_string(a, ','))), current_schema() from t",
    'an array of long texts': `${longText} select array_agg(s) from t, pg_attribute`,
    'an array of a subquery with long texts': `${longText} select array(select s from t, pg_attribute)`,
    'an array of columns with long texts': `${longText} select array[s, s], current_schema() from t`,
    'array_append of long texts': `${longText} select array_append(array[s], s), current_schema() from t`,
    'a row of long texts that is compared': `${longText} select distinct s, s, current_schema() from t`,
    'groups by long texts': `${longText} select count(*), current_schema() from t group by s, s || 'x'`,
    'string_agg of a long text': `${longText} select length(string_agg(s, ',')) from t, pg_attribute`,
    'concat of long texts': `${longText} select length(concat(s, s)), current_schema() from t`,
    'format of long texts': `${longText} select length(format('%s%s', s, s)), current_schema() from t`,
    'json of long texts': `${longText} select length(json_build_object('a', s, 'b', s)::text), current_schema() from t`,
    'upper of a long text, for each row': `${longText} select max(strpos(upper(s), 'x')) from t, pg_attribute, pg_type`,
    'regexp_replace with groups that are longer': String.raw`${longText} select length(regexp_replace(s, '.+', '\&\&', 'g')), current_schema() from t`,
    'an array as a text':
      "select length(array_agg((g + 1000000000)::text || ',')::text), current_schema() from generate_series(1, 80000) g",
    'arrays compared': `select array_agg(a.attname) && array_agg(b.attname || 'x') from pg_attribute a, (select * from pg_attribute limit 100) b`,
    'a list for each row': `select count(*) from pg_attribute a, pg_namespace n where a.attname in (${Array.from({ length: 20_000 }, (_, i) => `'x${i}'`).join(', ')})`,
    'many conditions for each row': `select count(*) from pg_attribute where ${Array.from({ length: 5000 }, (_, i) => `attnum + ${i} > 0`).join(' and ')}`,
    'effects for each row': "select set_config('a.b', attname, false) from pg_attribute",
  };

  test.each(Object.entries(hostile))('%s', async (_, sql) => {
    const { code } = await refusal(sql);
    expect(['sql_too_large', 'sql_unsupported']).toContain(code);
    if (!sql.includes('set_config')) expect(code).toBe('sql_too_large');
  });
});

describe('a column that does not exist', () => {
  test('is answered at once, with what may be meant', async () => {
    waits = 0;
    const error = await refusal('select c.relnamespce from pg_class c');
    expect(error.code).toBe('sql_unknown_column');
    expect(error.details).toMatchObject({
      hint: 'Perhaps you meant to reference the column "relnamespace".',
      line: 1,
    });
    for (const sql of ['select nope from information_schema.tables', 'select x.a from pg_class c'])
      await refusal(sql);
    expect(waits).toBe(0);
  });

  test('of a dataset may be on its way', async () => {
    waits = 0;
    await refusal('select nope from app');
    expect(waits).toBe(1);
  });
});
