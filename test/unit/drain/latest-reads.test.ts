import { expect, it } from 'vitest';
import { LatestReads } from '../../../src/drain/latest-reads.ts';
import { Cancellation } from '../../../src/lib/cancellation.ts';
import { limits } from '../../../src/limits/limits.ts';

/** A log with one segment whose low-volume tables wait, and timers that run when they are told to. */
function setUp(waiting: ReadonlySet<string>) {
  const timers: { readonly ms: number; readonly run: () => void; isOver: boolean }[] = [];
  const flushes: string[][] = [];
  const drain = {
    added: () => Promise.resolve(),
    waiting: (tables: Iterable<string>) => [...tables].filter((table) => waiting.has(table)),
    flush: (tables: Iterable<string>) => void flushes.push([...tables]),
    inserted: () => Promise.resolve(),
  };
  const wal = { newestPending: 1 };
  const after = (ms: number, run: () => void) => {
    const timer = { ms, run, isOver: false };
    timers.push(timer);
    return () => {
      timer.isOver = true;
    };
  };
  const reads = new LatestReads({ wal, drain, timers: { after } });
  const fire = async (ms: number) => {
    await new Promise(setImmediate);
    for (const timer of timers.filter((each) => each.ms === ms && !each.isOver)) {
      timer.isOver = true;
      timer.run();
    }
    await new Promise(setImmediate);
  };
  return { reads, flushes, fire };
}

const nameOf = (id: string) => `t_default.${id}.events`;
const isOpen = new Cancellation();

it('flushes for all who wait for a dataset once', async () => {
  const { reads, flushes, fire } = setUp(new Set([nameOf('a')]));
  const waits = Array.from({ length: 50 }, () => reads.wait('default', ['a'], 1000, isOpen));
  await fire(limits.latestFlushIntervalMs);
  expect(await Promise.all(waits)).toEqual(waits.map(() => true));
  expect(flushes).toEqual([[nameOf('a')]]);
});

it('flushes no more datasets a second than low-volume tables may be, those that were asked for first', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `d${index}`);
  const { reads, flushes, fire } = setUp(new Set(names.map(nameOf)));
  const waits = names.map((name) => reads.wait('default', [name], 1000, isOpen));
  const perSecond = 1000 / limits.latestFlushIntervalMs;
  for (let interval = 0; interval < perSecond; interval += 1) await fire(limits.latestFlushIntervalMs);
  expect(flushes.flat()).toEqual(names.slice(0, limits.batchedInsertsPerSecond).map(nameOf));
  for (let interval = 0; interval < perSecond; interval += 1) await fire(limits.latestFlushIntervalMs);
  expect(flushes.flat()).toEqual(names.map(nameOf));
  expect(await Promise.all(waits)).toEqual(names.map(() => true));
});

it('ends when its time is over, and when the client leaves', async () => {
  const { reads, fire } = setUp(new Set([nameOf('a')]));
  const late = reads.wait('default', ['a'], 7, isOpen);
  await fire(7);
  expect(await late).toBe(false);
  const leaving = new Cancellation();
  const left = reads.wait('default', ['a'], 1000, leaving);
  leaving.cancel(new Error('left'));
  await expect(left).rejects.toThrow('left');
});
