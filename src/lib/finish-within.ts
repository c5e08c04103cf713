import { sleep } from './backoff.ts';
import type { Timers } from './clock.ts';

/**
 * Waits for work to end, but not longer than this. The work itself goes on.
 * @returns what the work gives, or undefined if the time has passed before
 * @throws what the work throws within the time
 */
export async function finishWithin<T>(work: Promise<T>, ms: number, timers: Timers): Promise<T | undefined> {
  const enough = new AbortController();
  const late = sleep(ms, enough.signal, timers).then(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    enough.abort();
  }
}
