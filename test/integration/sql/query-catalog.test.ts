import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { AppError } from '../../../src/errors.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import type { ReadableRows } from '../../../src/model/identity.ts';
import { catalogOf, fixtures, loadEvents } from '../../sql/fixtures.ts';
import { type Ask, administrator, asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

const metrics: DatasetInfo = {
  tenant: defaultTenant,
  name: 'm',
  id: 'm',
  kind: 'metrics',
  columns: new Map(),
  ready: true,
};
const catalog = catalogOf(fixtures, [metrics]);

let store: TestStore;
let ask: Ask;
beforeAll(async () => {
  store = await openTestStore();
  for (const fixture of fixtures) await loadEvents(store.store, fixture);
  ask = asker(queryService(store.store, catalog));
});
afterAll(() => store?.close());

const as = (readable: (dataset: string) => ReadableRows) =>
  queryService(store.store, catalog, { readableRows: (_, dataset) => readable(dataset) });
const refusal = async (promise: Promise<unknown>): Promise<AppError> => {
  const thrown = await promise.then(
    () => new Error('not refused'),
    (error: unknown) => error,
  );
  if (thrown instanceof AppError) return thrown;
  throw thrown;
};

describe('information_schema', () => {
  test('tables: datasets, and what belongs to them', async () => {
    const { names, rows } = await ask(
      'select * from information_schema.tables order by table_schema, table_name',
    );
    expect(names.slice(0, 5)).toEqual([
      'table_catalog',
      'table_schema',
      'table_name',
      'table_type',
      'self_referencing_column_name',
    ]);
    expect(names).toHaveLength(12);
    const views = ['exemplars', 'histograms', 'metadata', 'series'].map((part) => [
      'millrace',
      'm',
      part,
      'VIEW',
    ]);
    const tables = ['app', 'dept', 'emp', 'empty', 'm'].map((name) => [
      'millrace',
      'public',
      name,
      'BASE TABLE',
    ]);
    expect(rows.map((row) => row.slice(0, 4))).toEqual([...views, ...tables]);
  });

  test('columns: names, positions and types', async () => {
    const { rows } = await ask(
      `select column_name, ordinal_position, data_type, is_nullable, column_default
       from information_schema.columns where table_name = 'empty' order by ordinal_position`,
    );
    expect(rows).toEqual([
      ['p_timestamp', 1, 'timestamp with time zone', 'NO', null],
      ['x', 2, 'double precision', 'YES', null],
      ['s', 3, 'text', 'YES', null],
      ['b', 4, 'boolean', 'YES', null],
    ]);
    const samples = await ask(
      "select column_name from information_schema.columns where table_schema = 'public' and table_name = 'm'",
    );
    expect(samples.rows.flat()).toEqual(
      expect.arrayContaining(['metric_name', 'timestamp', 'value', 'labels']),
    );
  });

  test('are relations like others: joined, grouped, filtered, in subqueries and CTEs', async () => {
    const { rows } = await ask(
      `with c as (select table_schema, table_name, count(*) as n from information_schema.columns group by 1, 2)
       select t.table_name, c.n, (select max(id) from app)
       from information_schema.tables t join c on c.table_name = t.table_name and c.table_schema = t.table_schema
       where t.table_type = 'BASE TABLE' and t.table_name in (select 'dept' union select 'empty') order by 1`,
    );
    expect(rows.map(([name]) => name)).toEqual(['dept', 'empty']);
    expect(rows[1]).toEqual(['empty', 4, 59]);
  });

  test('show nothing that may not be read', async () => {
    const limited = asker(as((dataset) => (dataset === 'app' ? 'all' : 'none')));
    expect((await limited('select table_name from information_schema.tables')).rows).toEqual([['app']]);
    expect((await limited('select distinct table_name from information_schema.columns')).rows).toEqual([
      ['app'],
    ]);
    const nothing = asker(as(() => 'none'));
    expect((await nothing('select count(*) from information_schema.tables')).rows).toEqual([[0]]);
    expect((await nothing('select * from information_schema.columns')).rows).toEqual([]);
  });

  test('nothing else of that schema, and nothing of the engine', async () => {
    for (const name of ['databases', '"TABLES"', 'tables.x']) {
      expect((await refusal(ask(`select * from information_schema.${name}`))).code).toMatch(/^sql_/);
    }
    const { rows } = await ask(
      "select table_name from information_schema.tables where table_schema = 'system'",
    );
    expect(rows).toEqual([]);
  });

  test('a tenant with 50,000 columns: all of them, and more than fits is refused', async () => {
    const wide = Array.from({ length: 50 }, (_, dataset): DatasetInfo => {
      const names = Array.from({ length: 1000 }, (_, index) => `a_field_of_some_length_${index}:num`);
      const columns = new Map(names.map((name) => [name, { name, type: 'Nullable(Float64)' }]));
      return { ...metrics, name: `wide_${dataset}`, kind: 'events', columns };
    });
    const withWide = asker(queryService(store.store, catalogOf([], wide)));
    const { rows } = await withWide(
      `select count(*), count(distinct table_name), sum(ordinal_position) filter (where table_name = 'wide_7')
       from information_schema.columns where table_schema = 'public'`,
    );
    expect(rows).toEqual([[50_050, 50, 501_501]]);
    const twice = 'select count(*) from information_schema.columns a, information_schema.columns b';
    expect((await refusal(withWide(twice))).code).toBe('sql_too_large');
    // Queries of usual length go on behind it on the same connections.
    expect((await withWide('select 1 as x')).rows).toEqual([[1]]);
  });

  test("names with quotes are names, not the store's SQL", async () => {
    const odd: DatasetInfo = {
      ...metrics,
      name: 'odd',
      kind: 'events',
      columns: new Map([["it's \\ `odd`:str", { name: "it's \\ `odd`:str", type: 'Nullable(String)' }]]),
    };
    const withOdd = asker(queryService(store.store, catalogOf(fixtures, [odd])));
    const { rows } = await withOdd(
      "select column_name from information_schema.columns where table_name = 'odd'",
    );
    expect(rows).toEqual([['p_timestamp'], ["it's \\ `odd`"]]);
  });
});

test('version() is that of this program', async () => {
  expect(await ask('select version()')).toEqual({ names: ['version'], rows: [['Millrace 1.2.3']] });
});

describe('explain', () => {
  const question = { principal: administrator, tenant: defaultTenant, signal: new AbortController().signal };

  test("tells the store's SQL, the columns and the datasets, and runs nothing", async () => {
    const service = queryService(store.store, catalog);
    const sql = 'select count(*) as n, max(a.level) as l from app a join emp e on e.eid = a.id';
    const explained = await service.explain({ ...question, sql, startTime: '2024-01-01 00:00:00' });
    expect(explained).toMatchObject({
      fields: [
        { name: 'n', type: 'bigint' },
        { name: 'l', type: 'text' },
      ],
      datasets: ['app', 'emp'],
    });
    expect(explained.sql).toContain("fromUnixTimestamp64Micro(1704067200000000, 'UTC')");
    expect(await store.rows(explained.sql)).toHaveLength(1);
  });

  test('needs what the query needs', async () => {
    const limited = as((dataset) => (dataset === 'app' ? 'all' : 'none'));
    expect((await refusal(limited.explain({ ...question, sql: 'select 1 from emp' }))).code).toBe(
      'forbidden',
    );
    const named = as(() => 'all').explain({ ...question, sql: 'select 1 from app', streamName: 'emp' });
    expect((await refusal(named)).code).toBe('bad_request');
  });
});

describe('counts', () => {
  const counts = (range: object, service = queryService(store.store, catalog), stream = 'app') =>
    service.counts({
      principal: administrator,
      tenant: defaultTenant,
      stream,
      startTime: '2024-03-01 00:00:00',
      endTime: '2024-03-04 00:00:00',
      signal: new AbortController().signal,
      ...range,
    });
  const total = (bins: readonly { count: number }[]) => bins.reduce((sum, { count }) => sum + count, 0);

  test('cover the range without gaps, and find each row once', async () => {
    for (const numBins of [1, 2, 7, 1000]) {
      const bins = await counts({ numBins });
      expect(bins).toHaveLength(numBins);
      expect(bins[0]?.startTime).toBe('2024-03-01T00:00:00.000000Z');
      expect(bins.at(-1)?.endTime).toBe('2024-03-04T00:00:00.000000Z');
      for (const [index, bin] of bins.slice(1).entries()) expect(bin.startTime).toBe(bins[index]?.endTime);
      expect(total(bins)).toBe(60);
      const [first] = bins;
      const { rows } = await ask(
        `select count(*) from app where p_timestamp >= '${first?.startTime}' and p_timestamp < '${first?.endTime}'`,
      );
      expect(first?.count).toBe(rows[0]?.[0]);
    }
  });

  test('have bins of a minute, an hour or a day where nobody says how many', async () => {
    expect(await counts({ endTime: '2024-03-01 01:00:00' })).toHaveLength(60);
    expect(await counts({})).toHaveLength(72);
    expect(await counts({ startTime: '2024-01-01 00:00:00' })).toHaveLength(63);
  });

  test('count only the rows that may be read', async () => {
    const narrowed = as(() => [{ field: 'level', value: 'warn' }]);
    const { rows } = await ask("select count(*) from app where level = 'warn'");
    expect(total(await counts({ numBins: 3 }, narrowed))).toBe(rows[0]?.[0]);
    expect(
      (
        await refusal(
          counts(
            {},
            as(() => 'none'),
          ),
        )
      ).code,
    ).toBe('forbidden');
  });

  test('refuse what they cannot count', async () => {
    for (const numBins of [0, -1, 1.5, 10_001, Number.NaN]) {
      expect((await refusal(counts({ numBins }))).code).toBe('bad_request');
    }
    expect((await refusal(counts({ endTime: '2024-03-01 00:00:00' }))).code).toBe('bad_time_range');
    expect((await refusal(counts({}, undefined, 'no"such'))).code).toBe('bad_dataset_name');
    expect((await refusal(counts({}, undefined, 'nosuch'))).code).toBe('dataset_not_found');
  });
});
