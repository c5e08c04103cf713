import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDataset } from '../../../src/catalog/create-dataset.ts';
import type { Store } from '../../../src/clickhouse/store.ts';
import { StoreError } from '../../../src/clickhouse/store-error.ts';
import { limits } from '../../../src/limits/limits.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath } from '../../support/wal/write-path.ts';
import { deferred, waitFor } from '../http/http-harness.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test?.close());

const tenant = 'default';
const columnsOf = async (dataset: string): Promise<readonly string[]> => {
  const rows = await test.rows<{ name: string }>(
    `SELECT name FROM system.columns WHERE database = 't_default' AND table = '${dataset}.events' ORDER BY position`,
  );
  return rows.map(({ name }) => name);
};
const countOf = async (dataset: string): Promise<number> =>
  (await test.rows<{ n: number }>(`SELECT toUInt32(count()) AS n FROM t_default.\`${dataset}.events\``))[0]
    ?.n ?? 0;

/** The real store, whose statements may be held up or refused before they reach it. */
const guarded = (before: (statement: string) => Promise<void>): Store => ({
  command: async (statement) => {
    await before(statement);
    await test.store.command(statement);
  },
  select: (query, format) => test.store.select(query, format),
  insert: async (batch) => {
    await before(`INSERT INTO ${batch.table}`);
    await test.store.insert(batch);
  },
  close: async () => {},
});

it('new columns of one dataset hold up neither writes nor inserts of others', async () => {
  const gate = deferred();
  const asked = deferred();
  const store = guarded(async (statement) => {
    if (!statement.startsWith('ALTER TABLE') || !statement.includes('slow.events')) return;
    asked.resolve();
    await gate.promise;
  });
  const { catalog, drain, wal, write } = await startWritePath({ files: new MemoryFiles(), store });
  for (const name of ['slow', 'quick']) await createDataset(catalog, tenant, name, 'events');
  drain.start();
  await write('slow', [{ fresh: 1 }]);
  await write('quick', [{ fresh: 1 }]);
  wal.seal();
  await asked.promise;
  await waitFor(async () => (await countOf('quick')) === 1);
  // The log takes all writes, also for the dataset that waits.
  await write('quick', [{ other: 1 }]);
  await write('slow', [{ other: 1 }]);
  expect(await columnsOf('slow')).toEqual(['p_timestamp']);
  gate.resolve();
  await wal.close();
  await drain.stop(60_000);
  expect(await columnsOf('slow')).toEqual(['p_timestamp', 'fresh:num', 'other:num']);
  expect([await countOf('slow'), await countOf('quick')]).toEqual([2, 2]);
});

it('a searched field gets its index with its column, whenever that comes', async () => {
  const { catalog, drain, wal, write } = await startWritePath({
    files: new MemoryFiles(),
    store: test.store,
  });
  const searchFields = ['first', 'second', 'never'];
  await createDataset(catalog, tenant, 'searched', 'events', { searchFields, partitionField: 'first' });
  drain.start();
  await write('searched', [{ first: 'a text', other: 'another' }]);
  wal.seal();
  await waitFor(async () => (await countOf('searched')) === 1);
  await write('searched', [{ second: 'a text' }, { second: 1 }]);
  await wal.close();
  await drain.stop(60_000);
  expect(await countOf('searched')).toBe(3);
  const indexes = await test.rows<{ name: string }>(
    "SELECT name FROM system.data_skipping_indices WHERE database = 't_default' AND table = 'searched.events' ORDER BY name",
  );
  expect(indexes.map(({ name }) => name)).toEqual(['first:str search', 'second:str search']);
});

it('datasets that are new hold up no inserts and no new columns of others, however many they are', async () => {
  const gate = deferred();
  const store = guarded(async (statement) => {
    if (statement.startsWith('CREATE TABLE') && statement.includes('`new-')) await gate.promise;
  });
  const { catalog, drain, wal, write } = await startWritePath({ files: new MemoryFiles(), store });
  await createDataset(catalog, tenant, 'known', 'events');
  drain.start();
  const names = Array.from({ length: limits.maxParallelCreations + 2 }, (_, index) => `new-${index}`);
  for (const name of [...names, 'known']) await write(name, [{ id: 1 }]);
  wal.seal();
  await waitFor(async () => (await countOf('known')) === 1);
  expect(names.filter((name) => catalog.isReady(tenant, name, 'events'))).toEqual([]);
  gate.resolve();
  await wal.close();
  await drain.stop(60_000);
  expect(await Promise.all(names.map(countOf))).toEqual(names.map(() => 1));
});

it('columns wait with their segment while the store is away, also through a power cut', async () => {
  let isAway = false;
  const store = guarded(async () => {
    if (isAway) throw new StoreError('the store is away', undefined, undefined);
  });
  const files = new MemoryFiles();
  const first = await startWritePath({ files, store });
  await createDataset(first.catalog, tenant, 'patient', 'events');
  isAway = true;
  first.drain.start();
  await first.write('patient', [{ early: 1, mixed: 1 }]);
  first.wal.seal();
  await waitFor(async () => ((await first.metrics.insertFailures.get()).values[0]?.value ?? 0) > 0);
  await first.write('patient', [{ late: 'x', mixed: true }]);
  expect([...(first.catalog.get(tenant, 'patient')?.columns.keys() ?? [])]).toEqual(['p_timestamp']);
  expect(await columnsOf('patient')).toEqual(['p_timestamp']);
  await first.drain.stop(0);

  isAway = false;
  const second = await startWritePath({ files: files.afterPowerCut(), store });
  await second.write('patient', [{ early: 2 }]);
  await second.finish();
  expect(await columnsOf('patient')).toEqual([
    'p_timestamp',
    'early:num',
    'mixed:num',
    'late:str',
    'mixed:bool',
  ]);
  expect(second.catalog.get(tenant, 'patient')?.columns.size).toBe(5);
  const rows = await test.rows(
    'SELECT `early:num` AS early, `late:str` AS late FROM t_default.`patient.events` ORDER BY early, late',
  );
  expect(rows).toEqual([
    { early: 1, late: null },
    { early: 2, late: null },
    { early: null, late: 'x' },
  ]);
});

it('queries for a value of the field that leads the order key read what may have it, and little else', async () => {
  const { catalog, write, finish } = await startWritePath({ files: new MemoryFiles(), store: test.store });
  await createDataset(catalog, tenant, 'ordered', 'events', { partitionField: 'shop' });
  const events = Array.from({ length: 50_000 }, (_, index) => ({ shop: `s${index % 100}`, n: index }));
  await write('ordered', events);
  await finish();
  const plan = await test.rows<{ explain: string }>(
    "EXPLAIN indexes = 1 SELECT count() FROM (SELECT `shop:str` AS c1 FROM t_default.`ordered.events`) WHERE c1 = 's7'",
  );
  const granules = plan.flatMap(
    ({ explain }) => /Granules: (\d+)\/(\d+)/.exec(explain)?.slice(1).map(Number) ?? [],
  );
  const [read = 0, all = 0] = granules.slice(-2);
  expect(all).toBeGreaterThan(5);
  expect(read).toBeLessThan(3);
});
