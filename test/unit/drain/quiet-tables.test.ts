import { expect, it } from 'vitest';
import { batchesOf } from '../../../src/drain/batch.ts';
import { QuietTables, type QuietTablesOptions } from '../../../src/drain/quiet-tables.ts';
import { Load } from '../../../src/drain/shipment.ts';
import { limits } from '../../../src/limits/limits.ts';
import { emptyCheckpoint } from '../../../src/wal/checkpoints.ts';
import type { SealedSegment } from '../../../src/wal/segment.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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

function start(options: Partial<QuietTablesOptions> = {}) {
  const clock = new ManualClock();
  const maxWaitMs = 15_000;
  const quiet = new QuietTables(
    { promptTables: 0, insertsPerSecond: 1, maxWaitMs, maxBytes: 1e6, ...options },
    clock,
  );
  let number = 0;
  const take = (...datasets: string[]) => {
    number += 1;
    const load = new Load(segmentOf(number, datasets), false);
    expect(quiet.take(load, batchesOf(load.segment), () => true)).toEqual([]);
    return load;
  };
  /** Ends the waits that are over. @returns the datasets, each with the numbers of the segments that it is in */
  const end = () =>
    (quiet.release(quiet.due())?.batches ?? []).map(
      ({ dataset, parts }) => `${dataset} ${parts.map(({ segment }) => segment.number).join()}`,
    );
  return { clock, quiet, take, end };
}

it('each dataset waits from its own first row on, and takes along what has come since', () => {
  const { clock, quiet, take, end } = start({ insertsPerSecond: 2 });
  const first = take('a', 'b', 'c', 'd');
  clock.advance(1900);
  const second = take('b', 'e', 'f');
  // Six wait for three seconds, and two for one.
  expect(quiet.dueInMs).toBe(1100);
  clock.advance(1100);
  expect(quiet.dueInMs).toBe(0);
  expect(end()).toEqual(['a 1', 'b 1,2', 'c 1', 'd 1']);
  expect([first.isDone, second.isDone]).toEqual([true, false]);
  expect(quiet.dueInMs).toBe(-100);
  take('a');
  expect(quiet.dueInMs).toBe(400);
  clock.advance(400);
  expect(end()).toEqual(['e 2', 'f 2']);
  clock.advance(100);
  expect(end()).toEqual(['a 3']);
  expect(quiet.dueInMs).toBeUndefined();
});

it('waits are the longer, the more datasets wait', () => {
  const { clock, quiet, take } = start({ insertsPerSecond: 4 });
  take('a', 'b');
  expect(quiet.dueInMs).toBe(500);
  clock.advance(100);
  take('c', 'd');
  expect(quiet.dueInMs).toBe(900);
  clock.advance(1200);
  expect(quiet.dueInMs).toBe(-300);
});

it('some go ahead of time where many wait, at the rate at which none waits for too long', () => {
  const { clock, quiet, take, end } = start({ insertsPerSecond: 1, maxWaitMs: 4000 });
  take('a', 'b', 'c', 'd');
  expect(quiet.dueInMs).toBe(4000);
  clock.advance(500);
  take('e', 'f', 'g', 'h');
  expect(quiet.dueInMs).toBe(limits.quietPaceMs - 500);
  clock.advance(500);
  // Four in three seconds, and eight in three and a half.
  expect(end()).toEqual(['a 1', 'b 1']);
  expect(quiet.dueInMs).toBe(limits.quietPaceMs);
  clock.advance(1000);
  expect(end()).toEqual(['c 1', 'd 1']);
  // So few wait no longer than their own time.
  expect(quiet.dueInMs).toBe(2500);
});

it('a bounded number ends at once, those that have waited for longest first', () => {
  const { clock, take, end } = start({ maxBundledDatasets: 2, maxWaitMs: 1000 });
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
  const { quiet, take, end } = start({ maxBytes: 3 * blockBytes, maxBundledDatasets: 1 });
  take('a', 'b');
  expect(quiet.dueInMs).toBe(2000);
  take('b');
  expect(quiet.dueInMs).toBe(0);
  expect(end()).toEqual(['a 1']);
  expect(quiet.dueInMs).toBe(1000);
  expect(end()).toEqual([]);
});
