import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { StoreMonitor } from '../../../src/catalog/store-monitor.ts';
import { StoreError } from '../../../src/clickhouse/store-error.ts';
import { type Clock, systemClock, type Timers } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { segmentName } from '../../../src/wal/segment.ts';
import type { WalFile } from '../../../src/wal/wal-files.ts';
import { ClickHouseServer, openStoreOn } from '../../support/clickhouse/clickhouse-server.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath, withFault } from '../../support/wal/write-path.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

const ids = async (dataset: string) =>
  (
    await test.rows<{ id: number }>(
      `SELECT \`id:num\` AS id FROM t_default.\`${dataset}.events\` ORDER BY id`,
    )
  ).map(({ id }) => id);

/** The store, with a table that takes nothing, and what else of its datasets was inserted into. */
function withStuckTable(dataset: string, code: number) {
  const inserted: string[] = [];
  const store = withFault(test.store, async (batch, insert) => {
    if (batch.table === `${dataset}.events`) throw new StoreError('not now', code, undefined);
    if (batch.database !== 'millrace') inserted.push(batch.table);
    await insert();
  });
  return { store, inserted };
}

/** A disk on which a checkpoint takes until `release`. */
class SlowCheckpoints extends MemoryFiles {
  begun = false;
  release = () => {};
  readonly #released = new Promise<void>((done) => {
    this.release = done;
  });

  override async create(name: string): Promise<WalFile> {
    if (name.includes('.stored-')) {
      this.begun = true;
      await this.#released;
    }
    return super.create(name);
  }
}

describe('a table that cannot move', () => {
  it.each([
    [241, 'memory'],
    [252, 'parts'],
  ])(
    'holds up no other, though the store forgets tokens soon and the process is killed (%i)',
    async (code, name) => {
      const [stuck, free, late] = [`stuck-${name}`, `free-${name}`, `late-${name}`];
      const files = new MemoryFiles();
      const { store } = withStuckTable(stuck, code);
      const first = await startWritePath({ files, store });
      first.drain.start();
      await first.write(free, [{ id: 0 }]);
      first.wal.seal();
      await first.drain.drained(1);
      const table = `t_default.\`${free}.events\``;
      await test.store.command(`ALTER TABLE ${table} MODIFY SETTING non_replicated_deduplication_window = 2`);
      const numbers = Array.from({ length: 8 }, (_, index) => index + 1);
      for (const id of numbers) {
        await first.write(stuck, [{ id }]);
        await first.write(free, [{ id }]);
        if (id > 4) await first.write(late, [{ id }]);
        first.wal.seal();
        await vi.waitUntil(async () => (await ids(free)).includes(id), { timeout: 60_000 });
      }
      await vi.waitUntil(async () => (await ids(late).catch(() => [])).length === 4, { timeout: 60_000 });
      expect(await ids(free)).toEqual([0, ...numbers]);
      expect(first.wal.pendingSegments).toBe(numbers.length);
      // Rows that wait for a table take no memory; the newest segment may have no checkpoint yet.
      expect(first.backlog.retainedBytes).toBeLessThan(first.wal.bytes / 4);

      const { store: again, inserted } = withStuckTable(stuck, code);
      const second = await startWritePath({ files: files.afterPowerCut(), store: again });
      second.drain.start();
      await second.write(free, [{ id: 9 }]);
      await second.wal.close();
      await vi.waitUntil(async () => (await ids(free)).includes(9), { timeout: 60_000 });
      // The last one of the first run has no checkpoint, since no later insert needed one.
      expect(inserted.length).toBeLessThanOrEqual(3);
      await second.drain.stop(0);

      const left = files.afterPowerCut();
      const third = await startWritePath({ files: left, store: test.store });
      await third.finish();
      expect(await ids(stuck)).toEqual(numbers);
      expect(await ids(free)).toEqual([0, ...numbers, 9]);
      expect(await ids(late)).toEqual([5, 6, 7, 8]);
      expect(third.wal.pendingSegments).toBe(0);
      expect(left.names()).toHaveLength(1);
    },
  );

  it('takes its own segments in order when it moves again', async () => {
    let stuck = true;
    const seen: number[] = [];
    const store = withFault(test.store, async (batch, insert) => {
      if (batch.table === 'ordered.events') {
        if (stuck) throw new StoreError('too many parts', 252, undefined);
        seen.push(Number(/^node-1-(\d+)-/.exec(batch.token)?.[1]));
      }
      await insert();
    });
    const { write, wal, drain } = await startWritePath({ files: new MemoryFiles(), store });
    drain.start();
    for (const id of [1, 2, 3, 4]) {
      await write('ordered', [{ id }]);
      await write('beside', [{ id }]);
      wal.seal();
    }
    await vi.waitUntil(async () => (await ids('beside').catch(() => [])).length === 4, { timeout: 60_000 });
    stuck = false;
    await wal.close();
    await drain.stop(60_000);
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(await ids('ordered')).toEqual([1, 2, 3, 4]);
    expect(wal.pendingSegments).toBe(0);
  });

  it('leaves no checkpoint behind when it moves while one is being written', async () => {
    let moves = false;
    let moved = false;
    const store = withFault(test.store, async (batch, insert) => {
      const late = batch.table === 'late-mover.events';
      if (late && !moves) throw new StoreError('too many parts', 252, undefined);
      await insert();
      moved ||= late;
    });
    const files = new SlowCheckpoints();
    const { write, wal, drain } = await startWritePath({ files, store });
    drain.start();
    await write('late-mover', [{ id: 1 }]);
    await write('goes-on', [{ id: 1 }]);
    wal.seal();
    await write('goes-on', [{ id: 2 }]);
    wal.seal();
    await vi.waitUntil(() => files.begun, { timeout: 60_000 });
    moves = true;
    await vi.waitUntil(() => moved, { timeout: 60_000 });
    // The store has all of the segment, and nothing but the checkpoint keeps it.
    for (let turn = 0; turn < 50; turn += 1) await systemClock.turn();
    expect(files.names()).toContain(segmentName(1));
    files.release();
    await wal.close();
    await drain.stop(60_000);
    expect(files.names()).toHaveLength(1);
    expect(await ids('late-mover')).toEqual([1]);
    expect(await ids('goes-on')).toEqual([1, 2]);
  });
});

describe('a drain that is stopped', () => {
  it('begins no insert any more, of those that wait for their turn', async () => {
    let begun = 0;
    let release = () => {};
    const released = new Promise<void>((done) => {
      release = done;
    });
    const store = withFault(test.store, async (_, insert) => {
      begun += 1;
      await released;
      await insert();
    });
    const { write, wal, drain } = await startWritePath({ files: new MemoryFiles(), store });
    const datasets = Array.from({ length: limits.maxParallelInserts + 3 }, (_, index) => `turn-${index}`);
    for (const dataset of datasets) await write(dataset, [{ id: 1 }]);
    await wal.close();
    drain.start();
    await vi.waitUntil(() => begun === limits.maxParallelInserts, { timeout: 60_000 });
    const stopped = drain.stop(0);
    release();
    await stopped;
    expect(begun).toBe(limits.maxParallelInserts);
    expect(wal.pendingSegments).toBe(1);
  });
});

describe('a store that comes back', () => {
  it('gets what waits for it at once, however long it was away', async () => {
    const server = await ClickHouseServer.start();
    onTestFinished(() => server.dispose());
    const store = openStoreOn(server);
    onTestFinished(() => store.close());
    const monitor = new StoreMonitor({
      store,
      catalog: new Catalog(store, new MetadataLog(store, 'node-1')),
      clock: systemClock,
      log: createLogger('silent'),
      metrics: createMetrics(),
    });
    onTestFinished(() => monitor.stop());
    await monitor.start();
    // Pauses of seconds end here only by a wake-up.
    const clock: Clock & Timers = {
      ...systemClock,
      after: (ms, action) => (ms < 2000 ? systemClock.after(ms, action) : () => {}),
    };
    const { write, wal, drain, metrics } = await startWritePath({
      files: new MemoryFiles(),
      store,
      storeReturned: monitor.returned,
      onNoAnswer: () => monitor.suspect(),
      clock,
    });
    drain.start();
    await server.kill();
    await write('flap', [{ id: 1 }]);
    wal.seal();
    // 0.1 s after the first failure, then 0.2, 0.4, 0.8 and 1.6.
    const failures = async () => (await metrics.insertFailures.get()).values[0]?.value ?? 0;
    await vi.waitUntil(async () => (await failures()) >= 6, { timeout: 60_000 });
    await server.start();
    await drain.drained(1);
    await drain.stop(1000);
  }, 60_000);
});
