import { afterAll, beforeAll, expect, it } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { createDataset } from '../../../src/catalog/create-dataset.ts';
import { TenantDatabases } from '../../../src/catalog/tenant-databases.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { eventBlocks } from '../../support/clickhouse/event-blocks.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath, testNode, withFault } from '../../support/wal/write-path.ts';

const tenant = 'default';
const time = { name: 'p_timestamp', type: "DateTime64(6, 'UTC')" } as const;

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test?.close());

const ids = async (dataset: string) =>
  (
    await test.rows<{ id: number }>(
      `SELECT \`id:num\` AS id FROM \`t_default\`.\`${dataset}.events\` ORDER BY id`,
    )
  ).map(({ id }) => id);

const tables = async (dataset: string): Promise<string[]> =>
  (
    await test.rows<{ name: string }>(
      `SELECT name FROM system.tables WHERE database = 't_default' AND startsWith(name, '${dataset}.') ORDER BY name`,
    )
  ).map(({ name }) => name);

const sweep = async (catalog: Catalog): Promise<void> => {
  const hasEnded = (of: string, dataset?: string) => catalog.hasEnded(of, dataset);
  await catalog.forgetEnded(hasEnded);
  await new TenantDatabases(test.store).forgetEnded(hasEnded);
};

const openCatalog = () => new Catalog(test.store, new MetadataLog(test.store, testNode));

it('a write of before the deletion goes nowhere, and one of after it makes a new dataset', async () => {
  const { catalog, wal, write, finish, deadLetters, metrics } = await startWritePath({
    files: new MemoryFiles(),
    store: test.store,
  });
  await write('app', [{ id: 1 }]);
  await write('beside', [{ id: 2 }]);
  await catalog.end(tenant, 'app');
  expect(catalog.get(tenant, 'app')).toBeUndefined();
  expect(catalog.list(tenant).map(({ name }) => name)).not.toContain('app');
  await write('app', [{ id: 3 }]);
  await sweep(catalog);
  await finish();
  expect(wal.pendingSegments).toBe(0);
  expect(await tables('app')).toEqual(['app.2.events']);
  expect(await ids('app.2')).toEqual([3]);
  expect(await ids('beside')).toEqual([2]);
  expect(catalog.get(tenant, 'app')).toMatchObject({ name: 'app', id: 'app.2', ready: true });
  expect(catalog.list(tenant).filter(({ name }) => name === 'app')).toHaveLength(1);
  expect(deadLetters.names()).toEqual([]);
  expect((await metrics.insertFailures.get()).values[0]?.value).toBe(0);
});

it('a dataset may be another kind after its deletion', async () => {
  const { catalog, write, append, finish } = await startWritePath({
    files: new MemoryFiles(),
    store: test.store,
  });
  await write('turned', [{ id: 1 }]);
  expect(() => catalog.checkKind(tenant, catalog.idOf(tenant, 'turned'), 'logs')).toThrow('holds events');
  await catalog.end(tenant, 'turned');
  await append('turned', 'metrics', []);
  expect(catalog.get(tenant, 'turned')?.kind).toBe('metrics');
  await finish();
});

it('a deletion holds after a crash', async () => {
  const files = new MemoryFiles();
  const { catalog, write } = await startWritePath({ files, store: test.store });
  await write('crashed', [{ id: 1 }]);
  await catalog.end(tenant, 'crashed');
  await write('crashed', [{ id: 2 }]);

  const next = await startWritePath({ files: files.afterPowerCut(), store: test.store });
  await next.finish();
  expect(next.wal.pendingSegments).toBe(0);
  expect(await tables('crashed')).toEqual(['crashed.2.events']);
  expect(await ids('crashed.2')).toEqual([2]);
});

it('after a crash, the heir of a deleted dataset takes what could not know of it, and nothing else', async () => {
  const files = new MemoryFiles();
  const { catalog, wal, write } = await startWritePath({ files, store: test.store });
  await write('mixed', [{ id: 1 }, { id: 2 }]);
  const record = { tenant, dataset: 'mixed', kind: 'events', presumed: true } as const;
  await wal.append({ ...record, blocks: eventBlocks([{ id: 3 }]) });
  await write('mixed', [{ id: 4 }]);
  await catalog.end(tenant, 'mixed');
  await write('mixed', [{ id: 5 }]);

  const next = await startWritePath({ files: files.afterPowerCut(), store: test.store });
  await next.finish();
  expect(next.wal.pendingSegments).toBe(0);
  expect(await tables('mixed')).toEqual(['mixed.2.events']);
  expect(await ids('mixed.2')).toEqual([3, 5]);
});

it('a dataset that only the log knows is deleted in one step', async () => {
  const { catalog, write, finish } = await startWritePath({ files: new MemoryFiles(), store: test.store });
  await write('unstored', [{ id: 1 }]);
  const entries = () => test.rows("SELECT value FROM millrace.metadata WHERE key = 'unstored'");
  await catalog.end(tenant, 'unstored');
  expect(await entries()).toEqual([{ value: '{"ended":1}' }]);
  await expect(catalog.end(tenant, 'unstored')).rejects.toMatchObject({ code: 'dataset_not_found' });
  await finish();
  expect(await tables('unstored')).toEqual([]);
});

it('a deletion under an insert fails nothing, and leaves no table behind', async () => {
  let catalog: Catalog | undefined;
  const store = withFault(test.store, async (batch, insert) => {
    if (batch.table === 'busy.events' && catalog !== undefined) {
      await catalog.end(tenant, 'busy');
      await sweep(catalog);
    }
    await insert();
  });
  const life = await startWritePath({ files: new MemoryFiles(), store });
  catalog = life.catalog;
  await life.write('busy', [{ id: 1 }]);
  await life.write('calm', [{ id: 2 }]);
  await life.finish();
  expect(life.wal.pendingSegments).toBe(0);
  expect(await tables('busy')).toEqual([]);
  expect(await ids('calm')).toEqual([2]);
  expect(life.deadLetters.names()).toEqual([]);
  expect((await life.metrics.insertFailures.get()).values[0]?.value).toBe(0);
});

it('a write under way goes with the dataset that it began with', async () => {
  const { catalog, wal, finish, write } = await startWritePath({
    files: new MemoryFiles(),
    store: test.store,
  });
  await write('raced', [{ id: 1 }]);
  const id = catalog.idOf(tenant, 'raced');
  await catalog.end(tenant, 'raced');
  catalog.claim(tenant, id, 'events', [time]).confirm();
  expect(catalog.destination(tenant, id, 'events', false)).toBeUndefined();
  expect(catalog.get(tenant, 'raced')).toBeUndefined();
  await finish();
  expect(wal.pendingSegments).toBe(0);
  expect(await tables('raced')).toEqual([]);
});

it('a write that could not know of an earlier deletion goes to the dataset of that name', async () => {
  const before = openCatalog();
  await before.load();
  for (const name of ['reborn', 'gone']) {
    await createDataset(before, tenant, name, 'events');
    await before.end(tenant, name);
  }
  await createDataset(before, tenant, 'reborn', 'events');

  const early = openCatalog();
  for (const name of ['reborn', 'gone', 'later']) {
    const id = early.idOf(tenant, name);
    expect(id).toBe(name);
    early.claim(tenant, id, 'events', [time]).confirm();
  }
  await early.load();
  expect(early.destination(tenant, 'reborn', 'events', true)).toBe('reborn.2');
  expect(early.destination(tenant, 'gone', 'events', true)).toBe('gone.2');
  expect(early.get(tenant, 'gone')).toMatchObject({ id: 'gone.2' });
  expect(early.destination(tenant, 'later', 'events', true)).toBe('later');
  // A write whose dataset was known for certain does not move to a successor, and neither does one that was
  // deleted later.
  expect(early.destination(tenant, 'reborn', 'events', false)).toBe(undefined);
  await early.end(tenant, 'later');
  expect(early.destination(tenant, 'later', 'events', true)).toBeUndefined();
});

it('nodes agree on what was deleted and made', async () => {
  const one = openCatalog();
  const two = openCatalog();
  await one.load();
  await two.load();
  await createDataset(one, tenant, 'shared', 'events');
  await expect(createDataset(two, tenant, 'shared', 'events')).rejects.toMatchObject({
    code: 'dataset_exists',
  });
  await two.refresh();
  expect(two.get(tenant, 'shared')).toMatchObject({ id: 'shared', ready: true });
  await two.end(tenant, 'shared');
  await expect(two.end(tenant, 'shared')).rejects.toMatchObject({ code: 'dataset_not_found' });
  await one.refresh();
  expect(one.get(tenant, 'shared')).toBeUndefined();
  expect([one, two].map((each) => each.idOf(tenant, 'shared'))).toEqual(['shared.2', 'shared.2']);
});
