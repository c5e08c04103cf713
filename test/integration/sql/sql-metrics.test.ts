import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { AppError } from '../../../src/errors.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import { semanticSettings } from '../../../src/sql/print/semantic-settings.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';
import { translate } from '../../../src/sql/translate-query.ts';
import { catalogOf, fixtures, loadEvents } from '../../sql/fixtures.ts';
import { type Ask, asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { catalogOfDatasets, metricsDataset } from '../../support/sql/small-catalogs.ts';

const metrics: DatasetInfo = {
  tenant: defaultTenant,
  name: 'm',
  id: 'm',
  kind: 'metrics',
  columns: new Map(),
  ready: true,
};

let store: TestStore;
let ask: Ask;

/** 5 metrics with 4 series each: 2 jobs, and every second series without the label "zone". */
const seriesRows = (day: string) => `
  SELECT '${day}', number, xxHash32(concat('metric_', toString(intDiv(number, 4)))),
    concat('metric_', toString(intDiv(number, 4))),
    if(number % 2 = 0, map('job', 'a', 'i', toString(number)), map('job', 'b', 'i', toString(number), 'zone', 'z'))
  FROM numbers(20)`;

beforeAll(async () => {
  store = await openTestStore();
  const run = (statement: string) => store.store.command(statement);
  for (const statement of datasetStatements(defaultTenant, 'm', 'metrics')) await run(statement);
  for (const fixture of fixtures) await loadEvents(store.store, fixture);
  // The same series on two days, and once more: the engine merges repeats when it likes.
  for (const day of ['2024-03-01', '2024-03-02', '2024-03-02']) {
    await run(
      `INSERT INTO t_default.\`m.series\` (date, series_id, metric_id, metric_name, labels) ${seriesRows(day)}`,
    );
  }
  await run(`INSERT INTO t_default.\`m.samples\` (metric_id, series_id, timestamp, value)
    SELECT xxHash32(concat('metric_', toString(intDiv(s, 4)))) AS metric, s,
      addSeconds(toDateTime64('2024-03-01 12:00:00.000', 3, 'UTC'), t * 10), s * 1000 + t
    FROM (SELECT number % 20 AS s, intDiv(number, 20) AS t FROM numbers(20 * 5000)) ORDER BY metric, s, t`);
  // A stale marker: its series ended.
  await run(`INSERT INTO t_default.\`m.samples\` (metric_id, series_id, timestamp, value)
    SELECT xxHash32('metric_0'), 0, toDateTime64('2024-03-02 11:00:00.000', 3, 'UTC'), reinterpretAsFloat64(9218868437227405314)`);
  ask = asker(queryService(store.store, catalogOf(fixtures, [metrics])));
});
afterAll(() => store?.close());

const rows = async (sql: string, options = {}) => (await ask(sql, options)).rows;

describe('metrics as a relation', () => {
  test('every sample once, however often its series is stored, and no stale markers', async () => {
    expect(await rows('select count(*), count(metric_name), sum(value) from m')).toEqual([
      [100_000, 100_000, 100_000 * 9500 + (20 * 5000 * 4999) / 2],
    ]);
  });

  test('labels are columns, by name and by subscript; one that a series lacks is NULL', async () => {
    const query = `select job, zone, labels['zone'], labels->>'i', count(*) from m
      where metric_name = 'metric_0' group by 1, 2, 3, 4 order by 4`;
    expect(await rows(query)).toEqual([
      ['a', null, null, '0', 5000],
      ['b', 'z', 'z', '1', 5000],
      ['a', null, null, '2', 5000],
      ['b', 'z', 'z', '3', 5000],
    ]);
  });

  test('a star shows the name, the time, the value and all labels', async () => {
    const { names, rows: all } = await ask("select * from m where i = '5' order by timestamp limit 1");
    expect(names).toEqual(['metric_name', 'timestamp', 'value', 'start_timestamp', 'labels']);
    expect(all).toEqual([
      ['metric_1', '2024-03-01T12:00:00.000Z', 5000, null, { job: 'b', i: '5', zone: 'z' }],
    ]);
  });

  test.each([
    ["metric_name = 'metric_2'", 20_000],
    ["metric_name in ('metric_2', 'metric_3')", 40_000],
    ["job = 'a' and metric_name like 'metric\\_%'", 50_000],
    ['zone is null', 50_000],
    ["zone = 'z' and not job = 'a'", 50_000],
    ["job = 'a' or value between 1000 and 1004", 50_005],
    ["metric_name = 'metric_2' and value > 8000 and timestamp < '2024-03-01 13:00:00'", 4 * 360 - 1],
    ["metric_name = 'nothing'", 0],
    ["nolabel = 'x'", 0],
  ])('WHERE %s', async (condition, count) => {
    expect(await rows(`select count(*) from m where ${condition}`)).toEqual([[count]]);
  });

  test('a condition on the side that an outer join fills with NULLs filters after the join', async () => {
    const query = `select d.did, count(m.value) from dept d left join m on m.i = d.did::int::text
      where m.metric_name is null group by 1 order by 1`;
    expect(await rows(query)).toEqual([
      [20, 0],
      [30, 0],
    ]);
  });

  test('two metrics joined', async () => {
    const query = `select a.i, sum(a.value - b.value) from m a join m b on a.timestamp = b.timestamp and a.job = b.job
      where a.metric_name = 'metric_1' and b.i = '0' and a.timestamp < '2024-03-01 12:00:30' group by a.i order by 1`;
    expect(await rows(query)).toEqual([
      ['4', 12_000],
      ['6', 18_000],
    ]);
  });

  test('a rate by windows', async () => {
    const query = `select distinct d from (select value - lag(value) over (partition by i order by timestamp) as d
      from m where metric_name = 'metric_4') x order by d`;
    expect(await rows(query)).toEqual([[1], [null]]);
  });

  test('an unqualified label of two datasets is ambiguous', async () => {
    await expect(rows('select job from m a join m b on a.i = b.i')).rejects.toMatchObject({
      code: 'sql_ambiguous',
    });
  });
});

describe('the series of a metrics dataset', () => {
  test('each once', async () => {
    expect(await rows('select count(*) from m.series')).toEqual([[20]]);
    expect(await rows('select job, count(*) from m.series group by job order by job')).toEqual([
      ['a', 10],
      ['b', 10],
    ]);
    expect(await rows("select series.metric_name, labels from m.series where i = '3'")).toEqual([
      ['metric_0', { job: 'b', i: '3', zone: 'z' }],
    ]);
  });

  test('of the days that a time range touches', async () => {
    const count = (startTime: string, endTime: string) =>
      rows('select count(*) from m.series', { startTime, endTime });
    expect(await count('2024-03-01 23:00:00', '2024-03-01 23:30:00')).toEqual([[20]]);
    expect(await count('2024-03-03 00:00:00', '2024-03-04 00:00:00')).toEqual([[0]]);
    expect(await count('2024-02-01 00:00:00', '2024-03-01 00:00:00')).toEqual([[0]]);
  });
});

describe('what is read', () => {
  async function plan(sql: string): Promise<string> {
    const catalog = catalogOfDatasets([metricsDataset('m')]);
    const range = { start: false, end: false };
    const { sql: statement } = translate(await parseQuery(sql), catalog, range);
    const lines = await store.rows<{ explain: string }>(`EXPLAIN indexes = 1 ${statement}`, {
      settings: semanticSettings,
    });
    return lines.map(({ explain }) => explain).join('\n');
  }
  /** Granules left after the last index, the primary key, and all there are. */
  function granules(text: string): { readonly read: number; readonly all: number } {
    const [, read, all] = [...text.matchAll(/Granules: (\d+)\/(\d+)/g)].at(-1) ?? [];
    return { read: Number(read), all: Number(all) };
  }

  test('an aggregate of values alone joins nothing', async () => {
    const text = await plan("select avg(value) from m where timestamp > '2024-03-01'");
    expect(text).not.toMatch(/Join|series/);
  });

  test('one metric is read without the others, and without a join', async () => {
    const text = await plan("select avg(value) from m where metric_name = 'metric_2'");
    expect(text).not.toMatch(/Join/);
    const { read, all } = granules(text);
    expect(all).toBeGreaterThan(10);
    // A fifth of the samples, and the granules at its edges.
    expect(read).toBeLessThanOrEqual(Math.ceil(all / 5) + 3);
  });

  test('one series is read without the others of its metric', async () => {
    const { read, all } = granules(
      await plan("select value from m where metric_name = 'metric_2' and i = '9'"),
    );
    expect(all).toBeGreaterThan(10);
    expect(read).toBeLessThanOrEqual(Math.ceil(all / 20) + 3);
  });
});

test('a metrics dataset has no sub-relation but series', async () => {
  const error = await ask('select 1 from m.samples').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({ code: 'sql_unknown_relation' });
});
