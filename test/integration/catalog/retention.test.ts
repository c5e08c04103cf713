import { afterAll, beforeAll, expect, it } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { createDataset } from '../../../src/catalog/create-dataset.ts';
import { DatasetRetention, parseRetention, showRetention } from '../../../src/datasets/dataset-retention.ts';
import { DatasetQuestions } from '../../../src/datasets/details.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/embedded.ts';

const tenant = 'default';
let test: TestStore;
let catalog: Catalog;
let retention: DatasetRetention;
beforeAll(async () => {
  test = await openTestStore();
  catalog = new Catalog(test.store, new MetadataLog(test.store, 'node-1'));
  await catalog.load();
  retention = new DatasetRetention({ catalog, store: test.store });
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
const merged = () => test.store.command(`OPTIMIZE TABLE ${table} FINAL`);
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
