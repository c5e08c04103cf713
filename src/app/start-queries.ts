import { availableParallelism } from 'node:os';
import { decide, readableRows } from '../auth/policy.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ResultStore, Store } from '../clickhouse/store.ts';
import type { Drain } from '../drain/drain.ts';
import { LatestReads } from '../drain/latest-reads.ts';
import { waitForPending } from '../drain/read-your-writes.ts';
import { limits } from '../limits/limits.ts';
import { defaultSettings } from '../pgwire/session-settings.ts';
import { DatasetSizes } from '../query/dataset-sizes.ts';
import { QueryService } from '../query/query-service.ts';
import { TranslationPool } from '../query/translation-pool.ts';
import type { Wal } from '../wal/wal.ts';
import type { AppContext } from './app-context.ts';

interface Parts {
  readonly store: Store & ResultStore;
  readonly catalog: Catalog;
  readonly wal: Wal;
  readonly drain: Drain;
}

/** Starts the query path: translation threads and the query service. */
export function startQueries({ config, clock, log }: AppContext, version: string, parts: Parts) {
  const { store, catalog, wal, drain } = parts;
  const cores = availableParallelism();
  const { minTranslationThreads, maxTranslationThreads } = limits;
  const threads = Math.max(minTranslationThreads, Math.min(maxTranslationThreads, Math.floor(cores / 2)));
  const translations = new TranslationPool({
    worker: new URL('../../workers/translate.js', import.meta.url),
    version,
    threads: config.multiTenant ? threads + 1 : threads,
    shared: config.multiTenant,
    maxCpuMs: config.sqlTranslationCpuMs,
    clock,
    log,
  });
  const latest = new LatestReads({ wal, drain, timers: clock });
  const sizes = new DatasetSizes({ store, clock, log });
  const idsOf = (tenant: string, names: readonly string[]) => names.map((name) => catalog.idOf(tenant, name));
  const query = new QueryService({
    store,
    catalog,
    translations,
    settings: defaultSettings(),
    clock,
    log,
    bounds: {
      timeoutMs: config.queryTimeoutMs,
      maxMemoryBytes: config.queryMaxMemoryBytes,
      maxThreads: Math.min(cores, limits.queryMaxThreads),
      maxResultRows: limits.queryMaxResultRows,
      maxResultBytes: limits.queryMaxResultBytes,
    },
    exportBounds: {
      timeoutMs: config.exportTimeoutMs,
      maxPerTenant: config.multiTenant ? limits.maxExportsPerTenant : limits.maxExports,
    },
    readableRows,
    storedSizes: (tenant) => sizes.of(tenant),
    mayExport: (principal, dataset) => decide(principal, 'query.export', dataset),
    waitForPending: (tenant, names) => waitForPending(wal, drain, tenant, idsOf(tenant, names)),
    waitForLatest: (tenant, names, withinMs, signal) =>
      latest.wait(tenant, idsOf(tenant, names), withinMs, signal),
  });
  return { translations, query, latest };
}
