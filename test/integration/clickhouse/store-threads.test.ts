import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { openTestStore } from '../../support/clickhouse/test-store.ts';
import { enginePid } from '../../support/lib/child.ts';
import { sayIfSkipped } from '../../support/lib/skipped.ts';

const problem = process.platform === 'linux' ? undefined : 'threads are counted in /proc';
sayIfSkipped('the threads of the embedded engine', problem);

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const threads = (): number =>
  Number(/^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${enginePid(store.directory)}/status`, 'utf8'))?.[1]);

test.skipIf(problem !== undefined)(
  'removing many merged parts at once takes no more threads',
  async () => {
    const table = 't_default.`parts.events`';
    for (const statement of datasetStatements('default', 'parts', 'events'))
      await store.store.command(statement);
    await store.store.command(
      `ALTER TABLE ${table} MODIFY SETTING cleanup_delay_period = 1, max_cleanup_delay_period = 1, cleanup_delay_period_random_add = 0`,
    );
    const days = 'SELECT toDateTime64(number * 86400, 6) AS p_timestamp FROM numbers(200)';
    for (let part = 0; part < 2; part += 1) {
      await store.store.command(
        `INSERT INTO ${table} (p_timestamp) ${days} SETTINGS max_partitions_per_insert_block = 0`,
      );
    }
    const merged = async () =>
      (
        await store.rows<{ active: number; parts: string }>(
          "SELECT active, count() AS parts FROM system.parts WHERE table = 'parts.events' GROUP BY active ORDER BY active",
        )
      ).map(({ active, parts }) => [active, Number(parts)]);
    await store.store.command(`OPTIMIZE TABLE ${table} FINAL`);
    const before = threads();
    let most = before;
    await vi.waitUntil(
      async () => {
        most = Math.max(most, threads());
        return (await merged()).length === 1;
      },
      { timeout: 60_000, interval: 100 },
    );
    expect(await merged()).toEqual([[1, 200]]);
    expect(most).toBeLessThan(before + 20);
  },
  120_000,
);
