import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InsertBatch } from '../../../src/clickhouse/store.ts';
import type { LowVolumeOptions } from '../../../src/drain/low-volume-tables.ts';
import { waitForPending } from '../../../src/drain/read-your-writes.ts';
import { limits } from '../../../src/limits/limits.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath, withFault } from '../../support/wal/write-path.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

const patient: LowVolumeOptions = {
  maxUnbatchedTables: 1,
  minUnbatchedBytes: 2000,
  insertsPerSecond: 0.001,
  maxWaitMs: 600_000,
  maxBytes: limits.walMaxRetainedBytes,
};
const text = 'x'.repeat(3000);

/** A life in which datasets of a segment wait if there are two of them. */
async function start(files = new MemoryFiles(), lowVolume = patient) {
  const inserts: InsertBatch[] = [];
  const store = withFault(test.store, async (batch, insert) => {
    await insert();
    inserts.push(batch);
  });
  const life = await startWritePath({ files, store, lowVolume });
  life.drain.start();
  const names = () => inserts.map(({ table }) => table.replace('.events', ''));
  return { ...life, files, inserts, names };
}

const ids = async (dataset: string) =>
  (
    await test.rows<{ id: number }>(
      `SELECT \`id:num\` AS id FROM t_default.\`${dataset}.events\` ORDER BY id`,
    )
  ).map(({ id }) => id);

describe('low-volume datasets among many', () => {
  it('take several segments in one insert each, while one with more goes on with each', async () => {
    const { write, wal, drain, inserts, names, finish } = await start();
    for (let id = 1; id <= 4; id++) {
      await write('q-busy', [{ id, text }]);
      await write('q-one', [{ id }]);
      if (id > 2) await write('q-two', [{ id }]);
      wal.seal();
      await drain.stored(id, new Set(['t_default.q-busy.events']));
    }
    expect(names()).toEqual(['q-busy', 'q-busy', 'q-busy', 'q-busy']);
    await finish();
    expect(names().slice(4).sort()).toEqual(['q-one', 'q-two']);
    expect(
      inserts
        .slice(4)
        .map(({ token }) => token)
        .sort(),
    ).toEqual(['node-1-1..4-t_default.q-one.events', 'node-1-3..4-t_default.q-two.events']);
    expect(await Promise.all(['q-busy', 'q-one', 'q-two'].map(ids))).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
      [3, 4],
    ]);
    expect(wal.pendingSegments).toBe(0);
  });

  it('wait for a bounded time, which is shorter where they are few', async () => {
    const { write, wal, drain } = await start(new MemoryFiles(), { ...patient, insertsPerSecond: 20 });
    await write('q-three', [{ id: 1 }]);
    await write('q-four', [{ id: 1 }]);
    wal.seal();
    await drain.drained(1);
    expect([await ids('q-three'), await ids('q-four')]).toEqual([[1], [1]]);
  });

  it('come at once when a reader misses them, and the others do not', async () => {
    const { write, wal, drain, names, finish } = await start();
    for (const id of [1, 2]) {
      await write('q-read', [{ id }]);
      await write('q-other', [{ id }]);
      wal.seal();
    }
    await waitForPending(wal, drain, 'default', ['q-read']);
    expect(names()).toEqual(['q-read']);
    expect(await ids('q-read')).toEqual([1, 2]);
    await write('q-read', [{ id: 3 }]);
    await write('q-other', [{ id: 3 }]);
    await finish();
    expect([await ids('q-read'), await ids('q-other')]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  it('are stored once when the process is killed after some inserts of a batched job were sent', async () => {
    const files = new MemoryFiles();
    let begun = 0;
    let sent = 0;
    const store = withFault(test.store, async (_, insert) => {
      begun += 1;
      if (begun > 2) return new Promise(() => {});
      await insert();
      sent += 1;
    });
    const names = ['q-k1', 'q-k2', 'q-k3', 'q-k4'];
    const first = await startWritePath({ files, store, lowVolume: patient });
    first.drain.start();
    for (const id of [1, 2, 3]) {
      for (const name of names) await first.write(name, [{ id }]);
      first.wal.seal();
    }
    void first.drain.stored(3, new Set(names.map((name) => `t_default.${name}.events`)));
    await expect.poll(() => sent).toBe(2);

    const second = await start(files.afterPowerCut());
    for (const name of names) await second.write(name, [{ id: 4 }]);
    await second.finish();
    expect(await Promise.all(names.map(ids))).toEqual(names.map(() => [1, 2, 3, 4]));
    expect(await second.files.list()).toHaveLength(1);
  });

  it('keep their segment until all its batched jobs are stored, where the store had one of them before the kill', async () => {
    const files = new MemoryFiles();
    let sent = '';
    const store = withFault(test.store, async ({ table }, insert) => {
      sent = table;
      if (table === 'q-m2.events') return new Promise(() => {});
      await insert();
    });
    const first = await startWritePath({ files, store, lowVolume: patient });
    first.drain.start();
    const end = (segment: number, name: string) =>
      first.drain.stored(segment, new Set([`t_default.${name}.events`]));
    for (const names of [
      ['q-m1', 'q-m2'],
      ['q-m1', 'q-m3'],
    ]) {
      for (const name of names) await first.write(name, [{ id: 1 }]);
      first.wal.seal();
    }
    // The second insert of q-m1 begins when the first is in a checkpoint.
    await end(1, 'q-m1');
    await end(2, 'q-m1');
    void end(1, 'q-m2');
    await expect.poll(() => sent).toBe('q-m2.events');

    const left = files.afterPowerCut();
    const kept = new Map<string, boolean>();
    const watched = withFault(test.store, async ({ table }, insert) => {
      kept.set(table, (await left.list()).includes('00000000000000000001.wal'));
      await insert();
    });
    const second = await startWritePath({ files: left, store: watched, lowVolume: patient });
    second.drain.start();
    await second.finish();
    expect(kept.get('q-m2.events')).toBe(true);
    expect(await Promise.all(['q-m1', 'q-m2', 'q-m3'].map(ids))).toEqual([[1, 1], [1], [1]]);
  });
});
