import { sleep } from '../lib/backoff.ts';
import { limits } from '../limits/limits.ts';
import type { Wal } from '../wal/writer.ts';
import { leadsOf } from './batch.ts';
import type { Drain } from './drain.ts';

/**
 * For readers that miss something which was acknowledged a moment ago: waits until all that is in the log now of some
 * datasets is in the store, or until a bound. It never hurries a segment, so that readers cannot make inserts small; of
 * tables that wait for more, it hurries these alone.
 * @param ids of the datasets
 * @returns false at once if nothing is on its way
 */
export async function waitForPending(
  wal: Wal,
  drain: Drain,
  tenant: string,
  ids: readonly string[],
): Promise<boolean> {
  const newest = wal.newestPending;
  if (newest === undefined) return false;
  const leads = new Set(ids.flatMap((id) => leadsOf(tenant, id)));
  const timer = new AbortController();
  await Promise.race([drain.stored(newest, leads), sleep(limits.freshDatasetWaitMs, timer.signal)]);
  timer.abort();
  return true;
}
