import { systemClock, type Timers } from './clock.ts';

/** Waiting times between tries: doubling from `minMs` to `maxMs`, each with up to a quarter less by chance. */
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
  /** Aborting it gives up. */
  readonly signal: AbortSignal;
  readonly minMs: number;
  readonly maxMs: number;
  readonly timers: Timers;
  /** Told of each failure, and how long the pause after it is. */
  onFailure(error: unknown, waitMs: number): void;
}

/** Tries until it succeeds, with growing pauses. @returns false if it was given up before */
export async function untilDone(work: () => Promise<void>, options: Retrying): Promise<boolean> {
  const { signal, minMs, maxMs, timers } = options;
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      await work();
      return true;
    } catch (error) {
      const waitMs = backoffMs(attempt, minMs, maxMs, timers);
      options.onFailure(error, waitMs);
      await sleep(waitMs, signal, timers);
    }
  }
  return false;
}

/** Waits; ends early, without an error, when the signal is aborted. */
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
