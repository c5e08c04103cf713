/** What a backup relies on: who has the store alone finds no insert under way, and no segment halfway out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SharedLock } from '../../../src/lib/shared-lock.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath, withFault } from '../../support/wal/write-path.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

/** Something that is waited for until it is let go. */
function held() {
  let go = () => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  let reach = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const hold = async () => {
    reach();
    await gone;
  };
  return { hold, reached, go };
}

it('no insert begins while somebody has the store alone, and all follow', async () => {
  const storeWrites = new SharedLock();
  let inserts = 0;
  const store = withFault(test.store, async (_, insert) => {
    inserts += 1;
    await insert();
  });
  const { wal, drain, write } = await startWritePath({ files: new MemoryFiles(), store, storeWrites });
  drain.start();
  await storeWrites.alone(1000, async () => {
    await write('rests', [{ id: 1 }]);
    wal.seal();
    await drain.taken(wal.newestPending ?? 0);
    // All that could begin by itself has begun.
    await sleep(50);
    expect([inserts, wal.pendingSegments]).toEqual([0, 1]);
  });
  await wal.close();
  await drain.stop(10_000);
  expect(inserts).toBe(1);
});

it('who wants it alone waits for the insert that runs', async () => {
  const storeWrites = new SharedLock();
  const insert = held();
  const store = withFault(test.store, async (_, run) => {
    await insert.hold();
    await run();
  });
  const { wal, drain, write } = await startWritePath({ files: new MemoryFiles(), store, storeWrites });
  drain.start();
  await write('runs', [{ id: 1 }]);
  wal.seal();
  await insert.reached;
  await expect(storeWrites.alone(20, () => Promise.reject(new Error('too early')))).rejects.toThrow(
    '1 tasks still run',
  );
  const count = () => test.rows<{ n: number }>('SELECT toUInt32(count()) AS n FROM t_default.`runs.events`');
  const found = storeWrites.alone(10_000, count);
  insert.go();
  expect(await found).toEqual([{ n: 1 }]);
  await wal.close();
  await drain.stop(10_000);
});

it('who wants it alone waits for the segment that leaves the log', async () => {
  const storeWrites = new SharedLock();
  const removal = held();
  const { wal, drain, write } = await startWritePath({
    files: new MemoryFiles(),
    store: test.store,
    storeWrites,
    beforeRemove: removal.hold,
  });
  drain.start();
  await write('leaves', [{ id: 1 }]);
  wal.seal();
  await removal.reached;
  await expect(storeWrites.alone(20, () => Promise.reject(new Error('too early')))).rejects.toThrow(
    '1 tasks still run',
  );
  const found = storeWrites.alone(10_000, async () => wal.pendingSegments);
  removal.go();
  expect(await found).toBe(0);
  await wal.close();
  await drain.stop(10_000);
});
