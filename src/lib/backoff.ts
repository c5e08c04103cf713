import { systemClock, type Timers } from './clock.ts';
import type { Wakeup } from './wakeup.ts';

/**
 * The pause after a failed attempt: doubles from `minMs` to `maxMs`, less a random part of up to a quarter.
 */
export function backoffMs(
  attempt: number,
  minMs: number,
  maxMs: number,
  timers: Timers = systemClock,
): number {
  const full = Math.min(maxMs, minMs * 2 ** Math.min(attempt, 30));
  return full * (1 - timers.random() / 4);
}

export interface Retrying {
  /** Aborting it ends the attempts. */
  readonly signal: AbortSignal;
  readonly minMs: number;
  readonly maxMs: number;
  readonly timers: Timers;
  /** Ends a pause and restarts the pauses at the shortest: the cause of the failures may be gone. */
  readonly wakeup: Wakeup;
  /** Called after each failure with the pause that follows. */
  onFailure(error: unknown, waitMs: number): void;
}

/**
 * Repeats the work until it succeeds, with growing pauses.
 * @returns false if it was aborted before
 */
export async function untilDone(work: () => Promise<void>, options: Retrying): Promise<boolean> {
  const { signal, minMs, maxMs, timers, wakeup } = options;
  for (let failures = 0; !signal.aborted; ) {
    try {
      await work();
      return true;
    } catch (error) {
      const waitMs = backoffMs(failures, minMs, maxMs, timers);
      options.onFailure(error, waitMs);
      failures = (await sleepUnlessWoken(waitMs, wakeup, signal, timers)) ? failures + 1 : 0;
    }
  }
  return false;
}

/**
 * Like `sleep`, but ends early when woken.
 * @returns false if it was woken
 */
export async function sleepUnlessWoken(
  ms: number,
  wakeup: Wakeup,
  signal: AbortSignal,
  timers: Timers = systemClock,
): Promise<boolean> {
  const early = new AbortController();
  let woken = false;
  const end = () => early.abort();
  const endWakes = wakeup.onWake(() => {
    woken = true;
    end();
  });
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  await sleep(ms, early.signal, timers);
  signal.removeEventListener('abort', end);
  endWakes();
  return !woken;
}

/** Waits. Ends early, without an error, when the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal, timers: Timers = systemClock): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) {
      done();
      return;
    }
    const cancel = timers.after(ms, finish);
    function finish() {
      cancel();
      signal.removeEventListener('abort', finish);
      done();
    }
    signal.addEventListener('abort', finish, { once: true });
  });
}
