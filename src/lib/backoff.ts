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
