import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../src/clickhouse/store-error.ts';
import { waitForPending } from '../../../src/drain/read-your-writes.ts';
import { Signal } from '../../../src/lib/signal.ts';
import { ColumnStates } from '../../../src/query/column-states.ts';
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

describe('the drain', () => {
  it('moves a sealed segment into the store and removes it from the log', async () => {
    const files = new MemoryFiles();
    const { wal, drain, write } = await startWritePath({ files, store: test.store });
    drain.start();
    await write('moved', [{ id: 1 }, { id: 2 }]);
    await write('moved', [{ id: 3, extra: 'x' }]);
    await write('moved-too', [{ id: 9 }]);
    await wal.close();
    await drain.stop(10_000);
    expect(await ids('moved')).toEqual([1, 2, 3]);
    expect(await ids('moved-too')).toEqual([9]);
    expect(wal.pendingSegments).toBe(0);
    expect(
      (await startWritePath({ files: files.afterPowerCut(), store: test.store })).wal.pendingSegments,
    ).toBe(0);
  });

  it('stores once when the insert happened and its reply was lost', async () => {
    let failures = 3;
    const store = withFault(test.store, async (_, insert) => {
      await insert();
      failures -= 1;
      if (failures >= 0) throw new StoreError('connection reset', undefined, undefined);
    });
    const { wal, drain, write } = await startWritePath({ files: new MemoryFiles(), store });
    drain.start();
    await write('lost-reply', [{ id: 1 }, { id: 2 }]);
    await wal.close();
    await drain.stop(10_000);
    expect(failures).toBeLessThan(0);
    expect(await ids('lost-reply')).toEqual([1, 2]);
  });

  it('stores once when the process died between the insert and the removal of its segment', async () => {
    const files = new MemoryFiles();
    const died = withFault(test.store, async (_, insert) => {
      await insert();
      await new Promise(() => {});
    });
    const first = await startWritePath({ files, store: died });
    await first.write('died', [{ id: 1 }]);
    await first.write('died', [{ id: 2, other: true }]);
    first.wal.seal();
    first.drain.start();
    for (;;) if ((await ids('died').catch(() => [])).length === 2) break;

    const second = await startWritePath({ files: files.afterPowerCut(), store: test.store });
    expect(second.wal.pendingSegments).toBe(1);
    second.drain.start();
    await second.wal.close();
    await second.drain.stop(10_000);
    expect(await ids('died')).toEqual([1, 2]);
    expect(second.wal.pendingSegments).toBe(0);
  });

  it('keeps everything in the log while the store is down', async () => {
    const files = new MemoryFiles();
    const down = withFault(test.store, async () => {
      throw new StoreError('connect ECONNREFUSED', undefined, undefined);
    });
    const first = await startWritePath({ files, store: down });
    first.drain.start();
    for (let id = 0; id < 5; id += 1) {
      await first.write('outage', [{ id }]);
      first.wal.seal();
    }
    await first.wal.close();
    await first.drain.stop(100);
    expect(first.wal.pendingSegments).toBeGreaterThan(0);

    const second = await startWritePath({ files: files.afterPowerCut(), store: test.store });
    second.drain.start();
    await second.drain.stop(10_000);
    expect(await ids('outage')).toEqual([0, 1, 2, 3, 4]);
  });

  it('asks the catalog once for each batch where it goes, and to make its table ready', async () => {
    const { wal, drain, write, catalog } = await startWritePath({
      files: new MemoryFiles(),
      store: test.store,
    });
    const destination = vi.spyOn(catalog, 'destination');
    const ensure = vi.spyOn(catalog, 'ensure');
    drain.start();
    await write('asked-once', [{ id: 1 }]);
    await write('asked-once-too', [{ id: 2 }]);
    wal.seal();
    await write('asked-once', [{ id: 3 }]);
    await wal.close();
    await drain.stop(10_000);
    const datasets = ['asked-once', 'asked-once', 'asked-once-too'];
    expect(destination.mock.calls.map(([, id]) => id).sort()).toEqual(datasets);
    expect(ensure.mock.calls.map(([, id]) => id).sort()).toEqual(datasets);
    expect([await ids('asked-once'), await ids('asked-once-too')]).toEqual([[1, 3], [2]]);
  });

  it('lets a reader wait for what is on its way, and only then', async () => {
    const { wal, drain, write } = await startWritePath({ files: new MemoryFiles(), store: test.store });
    drain.start();
    expect(await waitForPending(wal, drain, 'default', ['fresh'])).toBe(false);
    await write('fresh', [{ id: 1 }]);
    const waited = waitForPending(wal, drain, 'default', ['fresh']);
    wal.seal();
    expect(await waited).toBe(true);
    expect(await ids('fresh')).toEqual([1]);
  });

  it('shows readers what was made for rows when the rows are stored, and not before', async () => {
    const atStore = new Signal();
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let inserts = 0;
    const store = withFault(test.store, async (_, insert) => {
      inserts += 1;
      // The dataset is new for the first one, and the field for the second one.
      atStore.notify();
      if (inserts === 2) await held;
      await insert();
    });
    const { wal, drain, catalog, write } = await startWritePath({ files: new MemoryFiles(), store });
    const states = new ColumnStates();
    const fields = () => {
      const info = catalog.get('default', 'shown');
      if (info === undefined) throw new Error('the dataset was acknowledged');
      return states.of(info, catalog.version('default')).names.filter((name) => !name.startsWith('p_'));
    };
    const firstAtStore = atStore.next();
    await write('shown', [{ id: 1 }]);
    wal.seal();
    drain.start();
    await firstAtStore;
    expect(catalog.isReady('default', 'shown', 'events')).toBe(true);
    expect(catalog.get('default', 'shown')?.arriving?.tables).toBe(true);
    await waitForPending(wal, drain, 'default', ['shown']);
    expect(catalog.get('default', 'shown')?.arriving).toBe(undefined);
    expect(fields()).toEqual(['id:num']);
    const secondAtStore = atStore.next();
    await write('shown', [{ id: 2, extra: 'x' }]);
    wal.seal();
    await secondAtStore;
    // The column is there, and its row is not.
    expect([...(catalog.get('default', 'shown')?.columns.keys() ?? [])]).toContain('extra:str');
    expect(fields()).toEqual(['id:num']);
    const waited = waitForPending(wal, drain, 'default', ['shown']);
    goOn();
    expect(await waited).toBe(true);
    expect(fields()).toEqual(['id:num', 'extra:str']);
    await wal.close();
    await drain.stop(10_000);
  });
});
