import type { Catalog } from '../catalog/catalog.ts';
import type { Store } from '../clickhouse/store.ts';
import type { LatestReads } from '../drain/latest-reads.ts';
import type { ArrivalQuery } from '../query/request.ts';
import { LiveTails } from '../tail/live-tails.ts';
import type { AppContext } from './app-context.ts';

interface Parts {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly query: ArrivalQuery;
  readonly latest: LatestReads;
}

/** Starts the live tails: they wait for clients. */
export const startTail = (
  { clock, metrics, log }: AppContext,
  { store, catalog, query, latest }: Parts,
): LiveTails =>
  new LiveTails({
    store,
    catalog,
    query,
    waitForLatest: (tenant, names, withinMs, signal) => {
      const ids = names.map((name) => catalog.idOf(tenant, name));
      return latest.wait(tenant, ids, withinMs, signal);
    },
    timers: clock,
    metrics,
    log,
  });
