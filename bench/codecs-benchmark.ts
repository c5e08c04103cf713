/**
 * Measures storage layouts for samples: order keys and codecs, on the real engine with 20,000 series of 1,000
 * scrapes. The tables are filled as the service fills them: inserts of 25 scrapes in order of arrival, one
 * thread, the settings of `insert-settings.ts`. Then each table is merged into one part and queried.
 *
 * The values resemble those of node_exporter: of 20 series, 8 are constant, 8 are integer counters, 3 are
 * integer gauges, and one is a gauge with fractions.
 */
import { join } from 'node:path';
import { createChdbConnection } from 'chdb/connection';
import { insertSettings } from '../src/clickhouse/insert-settings.ts';
import { renderSettings } from '../src/clickhouse/statement-settings.ts';
import { quoteString } from '../src/lib/quote.ts';
import { removeFolder, temporaryFolder } from '../test/support/lib/child.ts';
import { markdownTable } from './markdown-table.ts';
import { percentile } from './sender.ts';

const seriesCount = 20_000;
const metricCount = 200;
const scrapesPerInsert = 25;
const queryRuns = 5;

interface Layout {
  readonly name: string;
  readonly orderBy: string;
  readonly metricId: string;
  readonly seriesId: string;
  readonly timestamp: string;
  readonly value: string;
}

const byMetric = 'metric_id, series_id, timestamp';
const zstd = 'ZSTD(1)';
/** The current layout (`schema/clickhouse/metrics.sql`), and variants that differ in one thing. */
const today: Layout = {
  name: 'as it is',
  orderBy: byMetric,
  metricId: zstd,
  seriesId: zstd,
  timestamp: `DoubleDelta, ${zstd}`,
  value: zstd,
};
const layouts: readonly Layout[] = [
  today,
  {
    ...today,
    name: 'LZ4 behind all',
    metricId: 'LZ4',
    seriesId: 'LZ4',
    timestamp: 'DoubleDelta, LZ4',
    value: 'LZ4',
  },
  { ...today, name: 'ids LZ4', metricId: 'LZ4', seriesId: 'LZ4' },
  { ...today, name: 'time: Delta', timestamp: `Delta, ${zstd}` },
  { ...today, name: 'time: ZSTD alone', timestamp: zstd },
  { ...today, name: 'value: Gorilla', value: `Gorilla, ${zstd}` },
  { ...today, name: 'value: Gorilla alone', value: 'Gorilla' },
  { ...today, name: 'value: FPC', value: `FPC, ${zstd}` },
  { ...today, name: 'value: Delta', value: `Delta, ${zstd}` },
  {
    ...today,
    name: 'ZSTD(3) behind all',
    metricId: 'ZSTD(3)',
    seriesId: 'ZSTD(3)',
    timestamp: 'DoubleDelta, ZSTD(3)',
    value: 'ZSTD(3)',
  },
  { ...today, name: 'by series', orderBy: 'series_id, timestamp' },
  { ...today, name: 'by metric and time', orderBy: 'metric_id, timestamp, series_id' },
];

const columns = 'metric_id, series_id, timestamp, value';
const structure = "metric_id UInt32, series_id UInt64, timestamp DateTime64(3, 'UTC'), value Float64";

/** Rows of the scrapes `[from, from + scrapesPerInsert)`, in order of arrival. */
const arrivals = (from: number): string => `
  SELECT
    toUInt32(sipHash64(series % ${metricCount})) AS metric_id,
    sipHash64(series, 'id') AS series_id,
    fromUnixTimestamp64Milli(toInt64(1700006400000 + scrape * 15000 + sipHash64(series % 100) % 15000), 'UTC') AS timestamp,
    multiIf(
      series % 20 < 8, toFloat64(sipHash64(series, 'still') % 100000),
      series % 20 < 16, toFloat64(sipHash64(series, 'start') % 1000000 + scrape * 25 + noise % 25),
      series % 20 < 19, toFloat64(1000 + noise % 200),
      noise % 1000000 / 7) AS value
  FROM (
    SELECT number % ${seriesCount} AS series, ${from} + intDiv(number, ${seriesCount}) AS scrape, sipHash64(series, scrape) AS noise
    FROM numbers(${scrapesPerInsert * seriesCount}))`;

const queries = {
  'one series ms': `SELECT max(value) FROM t WHERE metric_id = toUInt32(sipHash64(7)) AND series_id = sipHash64(207, 'id')`,
  'one metric ms': `SELECT toStartOfHour(timestamp) AS hour, avg(value) FROM t WHERE metric_id = toUInt32(sipHash64(7)) GROUP BY hour`,
  'an hour of all ms': `SELECT sum(value) FROM t WHERE timestamp >= toDateTime64(1700010000, 3, 'UTC') AND timestamp < toDateTime64(1700013600, 3, 'UTC')`,
} as const;

export interface CodecOptions {
  /** Scrapes of each series; a multiple of 25. */
  readonly scrapes: number;
  /** Parts of layout names to measure; empty for all. */
  readonly words: readonly string[];
}

/**
 * Measures the layouts one after another, half a minute for each 1,000 scrapes. The rows are in files
 * of 28 bytes per row.
 * @returns a Markdown table
 * @throws Error if no layout has such a name
 */
export async function measureCodecs({ scrapes, words }: CodecOptions): Promise<string> {
  const chosen = layouts.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  if (chosen.length === 0) {
    throw new Error(`${words.join(' ')}: use words of ${layouts.map(({ name }) => name).join(', ')}`);
  }
  const folder = temporaryFolder('codecs');
  const connection = createChdbConnection({ path: join(folder, 'engine') });
  const run = async (sql: string, format = 'TSV'): Promise<string> =>
    (await connection.chdb.queryAsync(sql, { format })).text();
  try {
    const files: string[] = [];
    for (let from = 0; from < scrapes; from += scrapesPerInsert) {
      const file = join(folder, `${from}.native`);
      await run(`${arrivals(from)} INTO OUTFILE ${quoteString(file)} FORMAT Native`);
      files.push(file);
    }
    const rows: string[][] = [];
    for (const layout of chosen) {
      const row = await measureLayout(run, layout, files, scrapes * seriesCount);
      console.log(row.join('  '));
      rows.push(row);
    }
    return markdownTable(
      [
        'layout',
        'ids B',
        'time B',
        'value B',
        'B / sample',
        'insert CPU s / 1 M',
        'merge CPU s / 1 M',
        ...Object.keys(queries),
      ],
      rows,
    );
  } finally {
    await connection.close();
    removeFolder(folder);
  }
}

type Run = (sql: string) => Promise<string>;

async function measureLayout(
  run: Run,
  layout: Layout,
  files: readonly string[],
  samples: number,
): Promise<string[]> {
  await run(`CREATE TABLE t (
      metric_id UInt32 CODEC(${layout.metricId}), series_id UInt64 CODEC(${layout.seriesId}),
      timestamp DateTime64(3, 'UTC') CODEC(${layout.timestamp}), value Float64 CODEC(${layout.value})
    ) ENGINE = MergeTree PARTITION BY toDate(timestamp) ORDER BY (${layout.orderBy})`);
  await run('SYSTEM STOP MERGES t');
  const before = process.cpuUsage();
  for (const file of files) {
    const source = `file(${quoteString(file)}, 'Native', ${quoteString(structure)})`;
    await run(
      `INSERT INTO t (${columns}) SELECT ${columns} FROM ${source} SETTINGS ${renderSettings(insertSettings)}`,
    );
  }
  const insert = process.cpuUsage(before);
  await run('SYSTEM START MERGES t');
  const beforeMerge = process.cpuUsage();
  await run('OPTIMIZE TABLE t FINAL');
  const merge = process.cpuUsage(beforeMerge);
  const [ids, time, value] = await bytesOf(run, [['metric_id', 'series_id'], ['timestamp'], ['value']]);
  const bytes = [ids, time, value].map((count) => (count ?? 0) / samples);
  const times: number[] = [];
  for (const query of Object.values(queries)) times.push(await medianMs(() => run(query)));
  await run('DROP TABLE t SYNC');
  return [
    layout.name,
    ...[...bytes, bytes.reduce((sum, one) => sum + one, 0)].map((count) => count.toFixed(2)),
    ...[insert, merge].map(({ user, system }) => ((user + system) / samples).toFixed(3)),
    ...times.map((ms) => ms.toFixed(1)),
  ];
}

/** Bytes on disk of each group of columns. */
async function bytesOf(run: Run, groups: ReadonlyArray<readonly string[]>): Promise<number[]> {
  const sums = groups.map(
    (names) => `sumIf(column_data_compressed_bytes, column IN (${names.map(quoteString).join(', ')}))`,
  );
  const reply = await run(
    `SELECT ${sums.join(', ')} FROM system.parts_columns WHERE active AND database = currentDatabase() AND table = 't'`,
  );
  return reply.trim().split('\t').map(Number);
}

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times = new Float64Array(queryRuns);
  for (let index = 0; index < queryRuns; index++) {
    const start = performance.now();
    await work();
    times[index] = performance.now() - start;
  }
  return percentile(times.sort(), 0.5);
}
