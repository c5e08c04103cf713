import { sleep } from '../lib/backoff.ts';
import { limits } from '../limits.ts';
import type { Wal } from '../wal/writer.ts';
import type { Drain } from './drain.ts';

/**
 * For readers that miss something which was acknowledged a moment ago: waits until all that is in the log now
 * is in the store, or until a bound. It never hurries a segment, so that readers cannot make inserts small.
 * @returns false at once if nothing is on its way
 */
export async function waitForPending(wal: Wal, drain: Drain): Promise<boolean> {
  const newest = wal.newestPending;
  if (newest === undefined) return false;
  const timer = new AbortController();
  await Promise.race([drain.drained(newest), sleep(limits.freshDatasetWaitMs, timer.signal)]);
  timer.abort();
  return true;
}
