import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { openEmbeddedStore } from '../../../src/clickhouse/embedded/embedded-store.ts';
import type { ResultStore, Store } from '../../../src/clickhouse/store.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { insertEvent } from '../../support/clickhouse/event-blocks.ts';
import { testStore } from '../../support/clickhouse/test-store.ts';
import { enginePid } from '../../support/lib/child.ts';
import { packageRoot } from '../../support/lib/package-root.ts';

const MiB = 1024 * 1024;
const directory = mkdtempSync(join(tmpdir(), 'millrace-resources-'));
const metrics = createMetrics();
let store: Store & ResultStore;
beforeAll(async () => {
  const engineScript = pathToFileURL(join(packageRoot(), 'dist/workers/engine.js'));
  store = await openEmbeddedStore(directory, metrics, createLogger('silent'), { engineScript });
});
afterAll(async () => {
  await store?.close();
  rmSync(directory, { recursive: true, force: true });
});

const rows = <T>(query: string) =>
  testStore(store, async () => {}).rows<T>(query, {
    settings: { max_memory_usage: 96 * MiB, max_threads: 2 },
  });

/** How often the engine has done so. */
async function countOf(event: string): Promise<number> {
  const [row] = await rows<{ value: number }>(`SELECT value FROM system.events WHERE name = '${event}'`);
  return row?.value ?? 0;
}

test('a GROUP BY that is larger than its memory goes on in files', async () => {
  const count = 3_000_000;
  const key = "toString(number * 7919) || 'a text that takes some room'";
  expect(
    await rows(
      `SELECT count() AS keys, sum(n) AS sum FROM (SELECT ${key} AS k, count() AS n FROM numbers(${count}) GROUP BY k)`,
    ),
  ).toEqual([{ keys: count, sum: count }]);
  expect(await countOf('ExternalAggregationWritePart')).toBeGreaterThan(0);
});

test('the memory of the engine is a metric of its own', async () => {
  const text = await metrics.registry.getSingleMetricAsString('millrace_engine_resident_memory_bytes');
  const [, value] = /^millrace_engine_resident_memory_bytes (\d+)$/m.exec(text) ?? [];
  expect(enginePid(directory)).toBeGreaterThan(0);
  if (process.platform === 'linux') expect(Number(value)).toBeGreaterThan(50 * MiB);
  else expect(value).toBe('0');
});

test('a statement or an insert that hangs ends with the engine, and the insert is stored once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-stuck-'));
  const counters = createMetrics();
  const engineScript = pathToFileURL(join(packageRoot(), 'dist/workers/engine.js'));
  const stuck = await openEmbeddedStore(folder, counters, createLogger('silent'), {
    engineScript,
    stuckStatementMs: 2000,
  });
  onTestFinished(async () => {
    await stuck.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const again = (work: () => Promise<void>) => vi.waitFor(work, { timeout: 30_000, interval: 100 });
  const unknown = { name: 'StoreError', retryable: true, clickHouseCode: undefined };
  const insert = (id: number) => insertEvent(stuck, 'app', { id }, `t-${id}`);
  const hang = "match(leftPad(toString(number), 1000, 'a'), '(a{1,100}){1,10}b')";
  for (const statement of datasetStatements('default', 'app', 'events')) await stuck.command(statement);
  await stuck.command('ALTER TABLE t_default.`app.events` ADD COLUMN `id:num` Nullable(Float64)');
  await insert(1);

  await expect(
    stuck.command(`CREATE TABLE t_default.x ENGINE = Null AS SELECT ${hang} FROM numbers(1000000)`),
  ).rejects.toMatchObject(unknown);

  await again(() =>
    stuck.command(
      `ALTER TABLE t_default.\`app.events\` ADD COLUMN slow UInt8 MATERIALIZED arrayCount(number -> ${hang}, range(toUInt64(1000000 + ifNull(\`id:num\`, 0))))`,
    ),
  );
  await expect(insert(2)).rejects.toMatchObject(unknown);
  await again(() => stuck.command('ALTER TABLE t_default.`app.events` DROP COLUMN slow'));
  await insert(2);
  await insert(2);
  const stored = await testStore(stuck, async () => {}).rows(
    'SELECT `id:num` AS id FROM t_default.`app.events` ORDER BY id',
  );
  expect(stored).toEqual([{ id: 1 }, { id: 2 }]);
  const { values } = await counters.engineRestarts.get();
  expect(values.map(({ labels, value }) => [labels.reason, value])).toEqual([['stuck_statement', 2]]);
});
