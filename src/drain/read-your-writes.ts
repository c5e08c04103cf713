import { sleep } from '../lib/backoff.ts';
import { limits } from '../limits/limits.ts';
import type { Wal } from '../wal/wal.ts';
import type { Drain } from './drain.ts';
import { firstTablesOf } from './table-batch.ts';

/**
 * Read your writes, for readers that miss something which was acknowledged a moment ago: waits until all that
 * the log holds now of some datasets is in the store, or until a bound. It seals no segment early, so that
 * readers cannot make inserts small. Of the low-volume tables that wait for more rows, it flushes those of
 * these datasets alone.
 * @param ids of the datasets
 * @returns false at once if the log holds nothing that the store lacks
 */
export async function waitForPending(
  wal: Wal,
  drain: Drain,
  tenant: string,
  ids: readonly string[],
): Promise<boolean> {
  const newest = wal.newestPending;
  if (newest === undefined) return false;
  const firstTables = new Set(ids.flatMap((id) => firstTablesOf(tenant, id)));
  const timer = new AbortController();
  await Promise.race([drain.stored(newest, firstTables), sleep(limits.freshDatasetWaitMs, timer.signal)]);
  timer.abort();
  return true;
}
