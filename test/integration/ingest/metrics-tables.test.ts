import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';
import { translate } from '../../../src/sql/translate-query.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { catalogOfDatasets, metricsDataset } from '../../support/sql/small-catalogs.ts';

/** 100 metrics of 1,000 series each, with 20 samples a series. */
const metrics = 100;
const seriesPerMetric = 1000;
const samplesPerSeries = 20;
const samples = metrics * seriesPerMetric * samplesPerSeries;
/** Rows that one granule of the index stands for. */
const granuleRows = 8192;

let opened: TestStore;

beforeAll(async () => {
  opened = await openTestStore();
  const run = (statement: string) => opened.store.command(statement);
  for (const statement of datasetStatements(defaultTenant, 'm', 'metrics')) await run(statement);
  const metric = `concat('metric_', toString(intDiv(number, ${seriesPerMetric})))`;
  const series = `SELECT number, xxHash64(number) AS id, ${metric} AS name FROM numbers(${metrics * seriesPerMetric})`;
  await run(`INSERT INTO t_default.\`m.series\` (date, series_id, metric_id, metric_name, labels)
    SELECT '2025-11-20', id, xxHash32(name), name, map('instance', toString(number), 'job', toString(number % 10))
    FROM (${series})`);
  for (const table of ['samples', 'exemplars']) {
    await run(`INSERT INTO t_default.\`m.${table}\` (metric_id, series_id, timestamp, value)
      SELECT xxHash32(name), id, addSeconds(toDateTime64('2025-11-20 12:00:00', 3, 'UTC'), t * 15), t
      FROM (${series}) AS s CROSS JOIN (SELECT number AS t FROM numbers(${samplesPerSeries})) AS times`);
    await run(`OPTIMIZE TABLE t_default.\`m.${table}\` FINAL`);
  }
}, 120_000);
afterAll(() => opened?.close());

/** The rows of a query, and how many rows of tables the engine read for it. */
async function measured(sql: string): Promise<{ data: Record<string, unknown>[]; rowsRead: number }> {
  const catalog = catalogOfDatasets([metricsDataset('m')]);
  const translation = translate(await parseQuery(sql), catalog, { start: false, end: false });
  const bytes = await opened.store.select(translation.sql, 'JSON');
  const { data, statistics } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
    data: Record<string, unknown>[];
    statistics: { rows_read: number };
  };
  return { data, rowsRead: statistics.rows_read };
}

describe('of 100,000 series', () => {
  test('all are read when nothing is said about them', async () => {
    const { data, rowsRead } = await measured('SELECT count(*) AS n FROM m');
    expect(Number(data[0]?.['n'])).toBe(samples);
    expect(rowsRead).toBeGreaterThanOrEqual(samples);
  });

  const oneMetric = seriesPerMetric * samplesPerSeries;
  test.each([
    ['one metric', "SELECT count(*) AS n FROM m WHERE metric_name = 'metric_7'", oneMetric],
    [
      'a label of one metric',
      "SELECT count(*) AS n FROM m WHERE metric_name = 'metric_7' AND job = '3'",
      oneMetric / 10,
    ],
    [
      'one series',
      "SELECT count(*) AS n FROM m WHERE metric_name = 'metric_7' AND instance = '7003'",
      samplesPerSeries,
    ],
    ['its exemplars', "SELECT count(*) AS n FROM m.exemplars WHERE metric_name = 'metric_7'", oneMetric],
    [
      'one metric by a label',
      "SELECT sum(n) AS n FROM (SELECT instance, count(*) AS n FROM m WHERE metric_name = 'metric_7' GROUP BY instance) AS g",
      oneMetric,
    ],
  ])('reading %s does not read the others', async (_, sql, count) => {
    const { data, rowsRead } = await measured(sql);
    expect(Number(data[0]?.['n'])).toBe(count);
    // The samples themselves, twice the series of the metric (to choose and to join), and the ends of
    // granules.
    expect(rowsRead).toBeLessThan(oneMetric + 2 * seriesPerMetric + 6 * granuleRows);
  });
});

test('tables that were made before samples had start timestamps get them, and keep what they hold', async () => {
  const run = (statement: string) => opened.store.command(statement);
  await run(`CREATE TABLE t_default.\`old.samples\`
    (metric_id UInt32, series_id UInt64, timestamp DateTime64(3, 'UTC'), value Float64)
    ENGINE = MergeTree ORDER BY (metric_id, series_id, timestamp)`);
  await run("INSERT INTO t_default.`old.samples` VALUES (1, 2, '2025-11-20 12:00:00', 3)");
  for (const round of [1, 2]) {
    for (const statement of datasetStatements(defaultTenant, 'old', 'metrics')) await run(statement);
    const rows = await opened.rows(
      'SELECT value, toUnixTimestamp64Milli(start_timestamp) AS start FROM t_default.`old.samples`',
    );
    expect(rows, `round ${round}`).toEqual([{ value: 3, start: 0 }]);
  }
});
