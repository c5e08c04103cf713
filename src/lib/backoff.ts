import { systemClock, type Timers } from './clock.ts';
import type { Signal } from './signal.ts';

/**
 * The pause after a failed attempt: doubles from `minMs` to `maxMs`, less a random part of up to a quarter.
 */
export function backoffMs(
  attempt: number,
  minMs: number,
  maxMs: number,
  timers: Pick<Timers, 'random'> = systemClock,
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
  /** Ends a pause, and the next pause is the shortest again: what was in the way may be gone. */
  readonly retryNow: Signal;
  /** Told of each failure, and how long the pause after it is. */
  onFailure(error: unknown, waitMs: number): void;
}

/**
 * Repeats the work until it succeeds, with growing pauses.
 * @returns false if it was aborted before
 */
export async function untilDone(work: () => Promise<void>, options: Retrying): Promise<boolean> {
  const { signal, minMs, maxMs, timers, retryNow } = options;
  for (let failures = 0; !signal.aborted; ) {
    try {
      await work();
      return true;
    } catch (error) {
      const waitMs = backoffMs(failures, minMs, maxMs, timers);
      options.onFailure(error, waitMs);
      failures = (await sleepUnlessNotified(waitMs, retryNow, signal, timers)) ? failures + 1 : 0;
    }
  }
  return false;
}

/** As `sleep`, and ends early with a notification. @returns false if it did */
export async function sleepUnlessNotified(
  ms: number,
  retryNow: Signal,
  signal: AbortSignal,
  timers: Timers = systemClock,
): Promise<boolean> {
  const early = new AbortController();
  let notified = false;
  const end = () => early.abort();
  const stopListening = retryNow.onNotify(() => {
    notified = true;
    end();
  });
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  await sleep(ms, early.signal, timers);
  signal.removeEventListener('abort', end);
  stopListening();
  return !notified;
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
