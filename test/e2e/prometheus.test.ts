import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onPath } from '../support/lib/child.ts';
import { compareSamples, pointsOfMatrix, pointsOfRows } from '../support/peers/metric-points.ts';
import { everythingIsSent, Prometheus } from '../support/peers/prometheus.ts';
import { type MachineLogEvent, readMachineLogs } from '../support/service/machine-logs.ts';
import { type Row, Service } from '../support/service/service.ts';

/** From the start of Prometheus to the comparison. It begins to scrape five seconds after its start. */
const scrapeMs = 15_000;

const host = '127.0.0.1';

/** Scrapes itself and the service every second, and writes every sample to the service. */
const scraping = (service: Service) => (port: number) => ({
  ...writing(service),
  scrape_configs: [
    { job_name: 'prometheus', static_configs: [{ targets: [`${host}:${port}`] }] },
    {
      job_name: 'millrace',
      basic_auth: Service.credentials,
      static_configs: [{ targets: [`${host}:${service.port}`] }],
    },
  ],
});

const writing = (service: Service) => ({
  global: { scrape_interval: '1s' },
  remote_write: [
    {
      url: `${service.url}/v1/prometheus/write`,
      basic_auth: Service.credentials,
      queue_config: { batch_send_deadline: '1s' },
    },
  ],
});

const installed = onPath('prometheus');
if (!installed) process.stdout.write('Skipped: the tests with a real Prometheus need it on the PATH.\n');

describe.skipIf(!installed)('a real Prometheus', () => {
  let service: Service;
  let prometheus: Prometheus;

  beforeAll(async () => {
    service = await Service.start();
    prometheus = await Prometheus.start({ config: scraping(service) });
    await sleep(scrapeMs);
  });

  afterAll(async () => {
    await prometheus?.dispose();
    await service?.dispose();
  });

  test('up is 1 for both jobs while they are scraped', async () => {
    // A scrape has no more than a second, which may be too short for it on a machine that is busy.
    const ofLastSeconds = () =>
      service.query(
        "SELECT job, min(value) AS up FROM prometheus WHERE metric_name = 'up' GROUP BY job ORDER BY job",
        { startTime: '4s' },
      );
    await expect.poll(ofLastSeconds, { interval: 500 }).toEqual([
      { job: 'millrace', up: 1 },
      { job: 'prometheus', up: 1 },
    ]);
  });

  describe('when scraping has stopped', () => {
    beforeAll(async () => {
      await prometheus.reload(writing(service));
      await everythingIsSent(prometheus);
      await service.drained();
    });

    test('the series are those of Prometheus, by number and by labels', async () => {
      const rows = await service.query(
        'SELECT count(*) AS series FROM (SELECT DISTINCT metric_name, labels FROM prometheus) AS known',
      );
      const known = await prometheus.series('{__name__=~".+"}');
      expect(Number(rows[0]?.['series'])).toBe(known.length);
      expect(known.length).toBe(await prometheus.metric('prometheus_tsdb_head_series'));
      expect(known.length).toBeGreaterThan(200);
    });

    test('every sample is there exactly once, bit for bit', async () => {
      const theirs = pointsOfMatrix(await prometheus.samples('{__name__=~".+"}[10m]'));
      const ours = pointsOfRows(
        await service.query(
          'SELECT metric_name, labels, timestamp, CAST(value AS text) AS value FROM prometheus LIMIT 1000000',
        ),
      );
      const { missing, doubled, different, extra } = compareSamples(theirs, ours);
      expect({ missing, doubled, different }).toEqual({ missing: [], doubled: [], different: [] });
      // Prometheus marks the end of each series with a NaN that its own queries leave out.
      expect(extra.filter((point) => !Number.isNaN(point.value))).toEqual([]);
      expect(theirs.length).toBeGreaterThan(1000);
    });

    test('SQL and PromQL agree on an aggregate', async () => {
      const [counted] = await service.query(
        "SELECT count(*) AS n, max(value) AS highest FROM prometheus WHERE metric_name = 'prometheus_tsdb_head_samples_appended_total'",
      );
      const [series] = await prometheus.samples('prometheus_tsdb_head_samples_appended_total[10m]');
      const values = (series?.values ?? []).map(([, value]) => Number(value));
      expect(Number(counted?.['highest'])).toBe(Math.max(...values));
    });
  });
});

describe('the logs of this machine', () => {
  let service: Service;
  let events: readonly MachineLogEvent[];

  beforeAll(async () => {
    events = readMachineLogs(10_000);
    process.stdout.write(`Found ${events.length} log lines of dpkg, apt and npm on this machine.\n`);
    service = await Service.start();
  });

  afterAll(async () => {
    await service?.dispose();
  });

  test('are acknowledged, and counted by level as they were read', async () => {
    expect(events.length).toBeGreaterThan(0);
    const batch = 500;
    for (let start = 0; start < events.length; start += batch) {
      const part = events.slice(start, start + batch);
      expect(await service.ingest('machine', part)).toBe(part.length);
    }
    await service.drained();
    const counted = new Map<string, number>();
    for (const { level } of events) counted.set(level, (counted.get(level) ?? 0) + 1);
    const rows = await service.query('SELECT level, count(*) AS n FROM machine GROUP BY level');
    expect(new Map(rows.map((row) => [row['level'], Number(row['n'])]))).toEqual(counted);
  });

  test('come back field by field', async () => {
    const rows = await service.query(
      'SELECT time, level, source, file, line, message, action, package, title FROM machine LIMIT 10000',
    );
    const withoutNulls = (row: Row): Row =>
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
    const byPlace = (a: Row, b: Row): number =>
      `${a['file']}:${a['line']}`.localeCompare(`${b['file']}:${b['line']}`);
    expect(rows.map(withoutNulls).toSorted(byPlace)).toEqual(
      [...events].map((event) => ({ ...event })).toSorted(byPlace),
    );
  });
});

describe('the comparison of samples sees', () => {
  const point = { series: 'a', timestampMs: 1, value: 5 };
  const none = { missing: [], doubled: [], different: [], extra: [] };

  test.each([
    ['nothing wrong', [point], [point], none],
    ['the same NaN as the same', [{ ...point, value: Number.NaN }], [{ ...point, value: Number.NaN }], none],
    ['a missing sample', [point], [], { ...none, missing: [point] }],
    ['a doubled one', [point], [point, point], { ...none, doubled: [point] }],
    [
      'another value',
      [point],
      [{ ...point, value: 6 }],
      { ...none, different: [{ expected: point, actual: { ...point, value: 6 } }] },
    ],
    ['one too many', [], [point], { ...none, extra: [point] }],
    [
      'a sample at another time as missing and extra',
      [point],
      [{ ...point, timestampMs: 2 }],
      { ...none, missing: [point], extra: [{ ...point, timestampMs: 2 }] },
    ],
  ])('%s', (_, expected, actual, result) => {
    expect(compareSamples(expected, actual)).toEqual(result);
  });
});
