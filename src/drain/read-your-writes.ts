import { systemClock } from '../lib/clock.ts';
import { finishWithin } from '../lib/finish-within.ts';
import { limits } from '../limits/limits.ts';
import type { Wal } from '../wal/wal.ts';
import type { Drain } from './drain.ts';
import { firstTablesOf } from './table-batch.ts';

/**
 * Read your writes, for readers that miss something that was acknowledged a moment ago. Waits until the store
 * has all rows of some datasets that are in the log now, up to a time limit. It seals no segment early, so
 * readers cannot make inserts small. Of the low-volume tables that wait for more rows, it flushes only those
 * of these datasets.
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
  await finishWithin(drain.stored(newest, firstTables), limits.freshDatasetWaitMs, systemClock);
  return true;
}
