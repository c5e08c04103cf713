import { afterAll, beforeAll, expect, it } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { createDataset } from '../../../src/catalog/create-dataset.ts';
import { Tenants } from '../../../src/catalog/tenants.ts';
import { DatasetChanges } from '../../../src/datasets/dataset-changes.ts';
import { DatasetLimits } from '../../../src/datasets/limits-of-dataset.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { defaultLimits } from '../../../src/model/tenant-limits.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

const tenant = 'default';
const number = (field: string) => ({ name: `${field}:num`, type: 'Nullable(Float64)' });

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test?.close());

/** A process on the store: one that is started later has read all that was written before. */
async function openNode(name: string) {
  const metadata = new MetadataLog(test.store, name);
  const tenants = new Tenants(metadata);
  const catalog = new Catalog(test.store, metadata, tenants);
  await catalog.load();
  const refresh = async () => {
    await tenants.refresh();
    await catalog.refresh();
  };
  return { tenants, catalog, refresh, limits: new DatasetLimits({ catalog, changes: new DatasetChanges() }) };
}

it('hold on every node and after a restart, beside the retention, until they or the dataset end', async () => {
  const [one, two] = [await openNode('one'), await openNode('two')];
  await createDataset(one.catalog, tenant, 'bounded', 'events', { timeField: 'at' });
  await createDataset(one.catalog, tenant, 'free', 'events');
  await two.refresh();
  await one.limits.set(tenant, 'bounded', { maxColumns: 10, maxEventBytes: 2048 });
  const retention = { description: '', days: 3 };
  // The other node has not read the limits yet.
  await two.catalog.datasets.setRetention(tenant, 'bounded', retention);
  await one.refresh();
  for (const { catalog } of [one, two, await openNode('later')]) {
    expect(catalog.limitsOf(tenant, 'bounded')).toMatchObject({ maxColumns: 10, maxEventBytes: 2048 });
    expect(catalog.limitsOf(tenant, 'free')).toBe(defaultLimits);
    expect(catalog.datasets.get(tenant, 'bounded')).toMatchObject({
      createdAt: expect.stringMatching(/^20/),
      options: { timeField: 'at' },
      retention,
    });
  }

  // A PUT replaces the last one, whatever was narrower before.
  await two.limits.set(tenant, 'bounded', { maxColumns: 20 });
  await one.refresh();
  expect(one.limits.get(tenant, 'bounded')).toMatchObject({
    inForce: { maxColumns: 20, maxEventBytes: defaultLimits.maxEventBytes },
    names: ['maxColumns', 'maxEventBytes', 'datasetIngestBytesPerSecond'],
  });
  await one.limits.set(tenant, 'bounded', {});
  expect(one.catalog.limitsOf(tenant, 'bounded')).toBe(defaultLimits);
  expect(one.catalog.datasets.get(tenant, 'bounded')?.retention).toEqual(retention);

  await one.limits.set(tenant, 'bounded', { maxColumns: 20 });
  await two.refresh();
  await two.catalog.end(tenant, 'bounded');
  await expect(one.limits.set(tenant, 'bounded', { maxColumns: 30 })).rejects.toMatchObject({
    code: 'dataset_not_found',
  });
  await createDataset(two.catalog, tenant, 'bounded', 'metrics');
  await one.refresh();
  for (const { catalog } of [one, two]) expect(catalog.limitsOf(tenant, 'bounded')).toBe(defaultLimits);
  expect(one.limits.get(tenant, 'bounded').names).toEqual(['datasetIngestBytesPerSecond']);
});

it('follow what the tenant has, and are no wider', async () => {
  const { tenants, catalog, limits } = await openNode('one');
  await tenants.create('acme', '2026-01-01T00:00:00.000Z');
  for (const of of ['acme', tenant]) await createDataset(catalog, of, 'app', 'events');
  const columns = (of = 'acme') => catalog.limitsOf(of, 'app').maxColumns;
  await limits.set('acme', 'app', { maxColumns: 20 });
  expect([columns(), columns(tenant)]).toEqual([20, 1000]);
  await tenants.setLimits('acme', { maxColumns: 15 });
  expect([columns(), columns(tenant)]).toEqual([15, 1000]);
  await expect(limits.set('acme', 'app', { maxColumns: 20 })).rejects.toMatchObject({ code: 'bad_limits' });
  await tenants.setLimits('acme', { maxColumns: 5000 });
  expect(columns()).toBe(20);
  await limits.set('acme', 'app', { maxColumns: 3000 });
  expect(columns()).toBe(3000);
});

it('are those that columns are taken by', async () => {
  const { catalog, limits } = await openNode('one');
  await createDataset(catalog, tenant, 'wide', 'events');
  const many = Array.from({ length: 12 }, (_, index) => number(`f${index}`));
  expect(catalog.excess(tenant, 'wide', many).size).toBe(0);
  await limits.set(tenant, 'wide', { maxColumns: 10 });
  // One is the time.
  expect(catalog.excess(tenant, 'wide', many)).toEqual(new Set(['f9:num', 'f10:num', 'f11:num']));
});

it('can be given to a dataset that is only in the log yet', async () => {
  const { catalog, limits } = await openNode('one');
  catalog.claim(tenant, 'fresh', 'logs', []).confirm();
  await limits.set(tenant, 'fresh', { datasetIngestBytesPerSecond: 4096 });
  expect((await openNode('later')).catalog.limitsOf(tenant, 'fresh').datasetIngestBytesPerSecond).toBe(4096);
});
