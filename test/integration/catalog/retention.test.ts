import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { createDataset } from '../../../src/catalog/create-dataset.ts';
import type { Store } from '../../../src/clickhouse/store.ts';
import { DatasetChanges } from '../../../src/datasets/dataset-changes.ts';
import { DatasetRetention, parseRetention, showRetention } from '../../../src/datasets/dataset-retention.ts';
import { DatasetQuestions } from '../../../src/datasets/details.ts';
import { DatasetLimits } from '../../../src/datasets/limits-of-dataset.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

const tenant = 'default';
let test: TestStore;
let catalog: Catalog;
let retention: DatasetRetention;
beforeAll(async () => {
  test = await openTestStore();
  catalog = new Catalog(test.store, new MetadataLog(test.store, 'node-1'));
  await catalog.load();
  retention = new DatasetRetention({ catalog, store: test.store, changes: new DatasetChanges() });
});
afterAll(() => test?.close());

const table = '`t_default`.`aging.events`';
const ages = async (): Promise<number[]> =>
  (
    await test.rows<{ age: number }>(
      `SELECT toInt32(dateDiff('day', p_timestamp, now('UTC'))) AS age FROM ${table} ORDER BY age`,
    )
  ).map(({ age }) => age);
const insert = (...days: readonly number[]) =>
  test.store.command(
    `INSERT INTO ${table} (p_timestamp) SELECT now64(6, 'UTC') - toIntervalDay(arrayJoin([${days.join(', ')}]))`,
  );
/** When the store has worked out what a change means for the parts that there are. */
const applied = () =>
  vi.waitFor(
    async () =>
      expect(
        await test.rows("SELECT 1 FROM system.mutations WHERE database = 't_default' AND NOT is_done"),
      ).toEqual([]),
    { timeout: 30_000, interval: 50 },
  );
const merged = async () => {
  await applied();
  await test.store.command(`OPTIMIZE TABLE ${table} FINAL`);
};
const days = (count: number) => ({ description: 'tests', days: count });

it('whole days leave when they are too old, and the retention can be changed and read back at any time', async () => {
  await createDataset(catalog, tenant, 'aging', 'events');
  expect(retention.get(tenant, 'aging')).toBeUndefined();
  await insert(0, 5, 40, 400);
  await retention.set(tenant, 'aging', days(100));
  await merged();
  expect(await ages()).toEqual([0, 5, 40]);
  await retention.set(tenant, 'aging', days(30));
  await merged();
  expect(await ages()).toEqual([0, 5]);
  expect(retention.get(tenant, 'aging')).toEqual(days(30));

  const later = new Catalog(test.store, new MetadataLog(test.store, 'node-1'));
  await later.load();
  expect(later.datasets.get(tenant, 'aging')?.retention).toEqual(days(30));

  await retention.set(tenant, 'aging', undefined);
  await insert(400);
  await merged();
  expect(await ages()).toEqual([0, 5, 400]);
  expect(retention.get(tenant, 'aging')).toBeUndefined();
});

it('is what statistics take to have deleted the oldest', async () => {
  await createDataset(catalog, tenant, 'counted', 'events');
  await test.store.command(
    "INSERT INTO `t_default`.`counted.events` (p_timestamp) SELECT now64(6, 'UTC') - toIntervalDay(arrayJoin([0, 40, 41]))",
  );
  const days = [
    { day: 20_000, events: 2, bytes: 700 },
    { day: 20_041, events: 1, bytes: 50 },
  ];
  const questions = new DatasetQuestions({
    catalog,
    store: test.store,
    received: { days: async () => days },
    waiting: () => ({ events: 1, bytes: 10 }),
  });
  const deleted = async () => (await questions.statistics(tenant, 'counted', undefined)).deleted;
  expect(await deleted()).toEqual({ events: 0, bytes: 0 });
  await retention.set(tenant, 'counted', { description: '', days: 30 });
  await applied();
  await test.store.command('OPTIMIZE TABLE `t_default`.`counted.events` FINAL');
  expect(await questions.statistics(tenant, 'counted', undefined)).toMatchObject({
    received: { events: 4, bytes: 760 },
    stored: { rows: 1 },
    deleted: { events: 2, bytes: 700 },
  });
  expect((await questions.statistics(tenant, 'counted', '2024-10-04')).deleted).toBeUndefined();
});

it('holds for each table of a dataset that has days, and for one that is made anew', async () => {
  const withTtl = async () =>
    (
      await test.rows<{ name: string }>(
        "SELECT name FROM system.tables WHERE name LIKE 'points.%' AND engine_full LIKE '% TTL %toIntervalDay(8)%ttl_only_drop_parts = 1%' ORDER BY name",
      )
    ).map(({ name }) => name);
  await createDataset(catalog, tenant, 'points', 'metrics');
  await retention.set(tenant, 'points', days(7));
  const tables = ['exemplars', 'histograms', 'metadata', 'samples', 'series'].map((name) => `points.${name}`);
  expect(await withTtl()).toEqual(tables);
  await test.store.command('DROP TABLE `t_default`.`points.samples` SYNC');
  catalog.forget(tenant, 'points', 'metrics');
  await catalog.ensure(tenant, 'points', 'metrics', []);
  expect(await withTtl()).toEqual(tables);
});

it('ends with its dataset', async () => {
  await createDataset(catalog, tenant, 'brief', 'events');
  await retention.set(tenant, 'brief', days(1));
  await catalog.end(tenant, 'brief');
  await expect(retention.set(tenant, 'brief', days(1))).rejects.toMatchObject({ code: 'dataset_not_found' });
  await createDataset(catalog, tenant, 'brief', 'events');
  expect(retention.get(tenant, 'brief')).toBeUndefined();
});

it('is written as one task or none', () => {
  const task = { description: 'a month', action: 'delete', duration: '30d' };
  expect(parseRetention([task])).toEqual({ description: 'a month', days: 30 });
  expect(showRetention(parseRetention([task]))).toEqual([task]);
  expect(showRetention(parseRetention([]))).toEqual([]);
  const bad = [
    {},
    null,
    [null],
    [task, task],
    [{ ...task, action: 'keep' }],
    [{ ...task, description: 7 }],
    [{ ...task, days: 3 }],
    ...['0d', '30', '-1d', '1.5d', '36501d', 30, undefined].map((duration) => [{ ...task, duration }]),
  ];
  for (const value of bad) {
    expect(() => parseRetention(value), JSON.stringify(value)).toThrow(
      expect.objectContaining({ code: 'bad_retention' }),
    );
  }
});

it('many changes of one dataset at the same time cost two, and each holds when it is acknowledged', async () => {
  await createDataset(catalog, tenant, 'contended', 'events');
  const statements: string[] = [];
  const store: Store = {
    command: (statement) => {
      statements.push(statement);
      return test.store.command(statement);
    },
    select: (query, format, of) => test.store.select(query, format, of),
    insert: (batch, signal) => test.store.insert(batch, signal),
    close: () => test.store.close(),
  };
  const counted = new Catalog(store, new MetadataLog(store, 'node-2'));
  await counted.load();
  await counted.ensure(tenant, 'contended', 'events', []);
  const changes = new DatasetChanges();
  const retentions = new DatasetRetention({ catalog: counted, store, changes });
  const ownLimits = new DatasetLimits({ catalog: counted, changes });
  statements.length = 0;
  await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      await retentions.set(tenant, 'contended', days(index + 1));
      // The first one has a turn of its own; the others are replaced by the last.
      expect(retentions.get(tenant, 'contended')?.days).toBeOneOf(index === 0 ? [1, 40] : [40]);
    }),
  );
  const count = (part: string) => statements.filter((statement) => statement.includes(part)).length;
  expect([count('INSERT INTO `millrace`.`metadata`'), count('MODIFY TTL')]).toEqual([2, 2]);

  statements.length = 0;
  const shown = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      ownLimits.set(tenant, 'contended', index % 2 === 0 ? { maxColumns: 100 + index } : {}),
    ),
  );
  expect(count('INSERT INTO `millrace`.`metadata`')).toBe(2);
  for (const { inForce } of shown.slice(1)) expect(inForce.maxColumns).toBe(1000);
  const [definition] = await test.rows<{ ttl: number }>(
    "SELECT engine_full LIKE '%toIntervalDay(41)%' AS ttl FROM system.tables WHERE database = 't_default' AND name = 'contended.events'",
  );
  expect(definition).toEqual({ ttl: 1 });
});
