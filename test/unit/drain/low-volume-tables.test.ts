import { expect, it } from 'vitest';
import { PendingSegment } from '../../../src/drain/drain-state.ts';
import { type LowVolumeOptions, LowVolumeTables } from '../../../src/drain/low-volume-tables.ts';
import { batchesOf } from '../../../src/drain/table-batch.ts';
import { limits } from '../../../src/limits/limits.ts';
import { emptyCheckpoint } from '../../../src/wal/checkpoints.ts';
import type { SealedSegment } from '../../../src/wal/segment.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';

const blockBytes = 100;

/** A segment with one block of each of these datasets. */
function segmentOf(number: number, datasets: readonly string[]): SealedSegment {
  const records = datasets.map((dataset) => ({
    header: {
      tenant: 'default',
      dataset,
      kind: 'events' as const,
      blocks: [{ table: 'events' as const, rows: 1, columns: [], byteLength: blockBytes }],
    },
    blocksPosition: 0,
    blocks: undefined,
  }));
  const byteLength = datasets.length * blockBytes;
  return {
    number,
    name: String(number),
    sinceMicros: 0,
    byteLength,
    records,
    checkpoint: emptyCheckpoint(),
    manifests: [],
  };
}

function start(options: Partial<LowVolumeOptions> = {}) {
  const clock = new ManualClock();
  const maxWaitMs = 15_000;
  const lowVolume = new LowVolumeTables(
    { maxUnbatchedTables: 0, insertsPerSecond: 1, maxWaitMs, maxBytes: 1e6, ...options },
    clock,
  );
  let number = 0;
  const take = (...datasets: string[]) => {
    number += 1;
    const pending = new PendingSegment(segmentOf(number, datasets), false);
    expect(lowVolume.take(pending, batchesOf(pending.segment), () => true)).toEqual([]);
    return pending;
  };
  /**
   * Ends the waits that are over. @returns the datasets, each with the numbers of the segments that it is in
   */
  const end = () =>
    (lowVolume.flush(lowVolume.due())?.batches ?? []).map(
      ({ dataset, parts }) => `${dataset} ${parts.map(({ segment }) => segment.number).join()}`,
    );
  return { clock, lowVolume, take, end };
}

it('each dataset waits from its own first row on, and takes along what has come since', () => {
  const { clock, lowVolume, take, end } = start({ insertsPerSecond: 2 });
  const first = take('a', 'b', 'c', 'd');
  clock.advance(1900);
  const second = take('b', 'e', 'f');
  // Six wait for three seconds, and two for one.
  expect(lowVolume.dueInMs).toBe(1100);
  clock.advance(1100);
  expect(lowVolume.dueInMs).toBe(0);
  expect(end()).toEqual(['a 1', 'b 1,2', 'c 1', 'd 1']);
  expect([first.isStored, second.isStored]).toEqual([true, false]);
  expect(lowVolume.dueInMs).toBe(-100);
  take('a');
  expect(lowVolume.dueInMs).toBe(400);
  clock.advance(400);
  expect(end()).toEqual(['e 2', 'f 2']);
  clock.advance(100);
  expect(end()).toEqual(['a 3']);
  expect(lowVolume.dueInMs).toBeUndefined();
});

it('waits are the longer, the more datasets wait', () => {
  const { clock, lowVolume, take } = start({ insertsPerSecond: 4 });
  take('a', 'b');
  expect(lowVolume.dueInMs).toBe(500);
  clock.advance(100);
  take('c', 'd');
  expect(lowVolume.dueInMs).toBe(900);
  clock.advance(1200);
  expect(lowVolume.dueInMs).toBe(-300);
});

it('some go ahead of time where many wait, at the rate at which none waits for too long', () => {
  const { clock, lowVolume, take, end } = start({ insertsPerSecond: 1, maxWaitMs: 4000 });
  take('a', 'b', 'c', 'd');
  expect(lowVolume.dueInMs).toBe(4000);
  clock.advance(500);
  take('e', 'f', 'g', 'h');
  expect(lowVolume.dueInMs).toBe(limits.earlyFlushIntervalMs - 500);
  clock.advance(500);
  // Four in three seconds, and eight in three and a half.
  expect(end()).toEqual(['a 1', 'b 1']);
  expect(lowVolume.dueInMs).toBe(limits.earlyFlushIntervalMs);
  clock.advance(1000);
  expect(end()).toEqual(['c 1', 'd 1']);
  // So few wait no longer than their own time.
  expect(lowVolume.dueInMs).toBe(2500);
});

it('a bounded number ends at once, those that have waited for longest first', () => {
  const { clock, take, end } = start({ maxBatchedDatasets: 2, maxWaitMs: 1000 });
  take('a', 'b', 'c');
  clock.advance(1);
  take('d', 'a');
  clock.advance(2000);
  expect(end()).toEqual(['a 1,2', 'b 1']);
  take('a');
  expect(end()).toEqual(['c 1', 'd 2']);
  expect(end()).toEqual([]);
});

it('no wait lasts longer than the log has room for what waits', () => {
  const { lowVolume, take, end } = start({ maxBytes: 3 * blockBytes, maxBatchedDatasets: 1 });
  take('a', 'b');
  expect(lowVolume.dueInMs).toBe(2000);
  take('b');
  expect(lowVolume.dueInMs).toBe(0);
  expect(end()).toEqual(['a 1']);
  expect(lowVolume.dueInMs).toBe(1000);
  expect(end()).toEqual([]);
});
