import { describe, expect, it } from 'vitest';
import { untilDone } from '../../../src/lib/backoff.ts';
import { systemClock, type Timers } from '../../../src/lib/clock.ts';
import { Signal } from '../../../src/lib/signal.ts';

/** Waits that are over at once; the longest jitter, or none. */
const hasty = (random: number): Timers => ({
  ...systemClock,
  random: () => random,
  after: (_, action) => systemClock.after(0, action),
});

async function failTimes(count: number, random: number): Promise<number[]> {
  const waits: number[] = [];
  let left = count;
  const done = await untilDone(
    async () => {
      left -= 1;
      if (left >= 0) throw new Error('not yet');
    },
    {
      signal: new AbortController().signal,
      minMs: 100,
      maxMs: 1000,
      timers: hasty(random),
      retryNow: new Signal(),
      onFailure: (_, waitMs) => waits.push(waitMs),
    },
  );
  expect(done).toBe(true);
  return waits;
}

describe('trying until it is done', () => {
  it('waits longer each time up to a bound, and begins anew the next time', async () => {
    expect(await failTimes(6, 0)).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(await failTimes(2, 0)).toEqual([100, 200]);
  });

  it('waits up to a quarter less by chance', async () => {
    expect(await failTimes(2, 1)).toEqual([75, 150]);
  });

  it('stops in the middle of a wait', async () => {
    const stop = new AbortController();
    const failures: unknown[] = [];
    const work = untilDone(
      async () => {
        throw new Error('never');
      },
      {
        signal: stop.signal,
        minMs: 60_000,
        maxMs: 60_000,
        timers: systemClock,
        retryNow: new Signal(),
        onFailure: (error) => {
          failures.push(error);
          setImmediate(() => stop.abort());
        },
      },
    );
    expect(await work).toBe(false);
    expect(failures).toHaveLength(1);
  });

  it('goes on at a notification, with the shortest pause next', async () => {
    const retryNow = new Signal();
    const waits: number[] = [];
    const timers: Timers = {
      ...systemClock,
      random: () => 0,
      // Pauses that only a notification ends, from the fourth on.
      after: (_, action) => systemClock.after(waits.length < 4 ? 0 : 60_000, action),
    };
    let left = 6;
    const done = await untilDone(
      async () => {
        left -= 1;
        if (left > 0) throw new Error('not yet');
      },
      {
        signal: new AbortController().signal,
        minMs: 100,
        maxMs: 10_000,
        timers,
        retryNow,
        onFailure: (_, waitMs) => {
          waits.push(waitMs);
          if (waits.length >= 4) setImmediate(() => retryNow.notify());
        },
      },
    );
    expect(done).toBe(true);
    expect(waits).toEqual([100, 200, 400, 800, 100]);
  });
});
