import type { ClickHouseAddress } from '../lib/clickhouse-url.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SparedConnections } from './connection-pool.ts';
import { openRemoteStore } from './remote/remote-store.ts';
import type { ResultStore, Store } from './store.ts';

export interface StoreOptions {
  /** Undefined: the engine that belongs to this service. */
  readonly clickHouse: ClickHouseAddress | undefined;
  /** Where the embedded engine keeps its data. */
  readonly directory: string;
  readonly queryTimeoutMs: number;
  /** What all queries together may use. */
  readonly queryMemoryBytes: number;
  readonly sparedQueryConnections?: SparedConnections | undefined;
  /** Of the embedded engine's process, all of it. */
  readonly engineEnvironment: Readonly<Record<string, string>>;
}

/** Opens the store that the configuration asks for. The embedded engine is loaded only if it is that. */
export async function openStore(
  options: StoreOptions,
  metrics: Metrics,
  log: Logger,
): Promise<Store & ResultStore> {
  const { clickHouse, directory, queryTimeoutMs, queryMemoryBytes, sparedQueryConnections } = options;
  if (clickHouse !== undefined) {
    return openRemoteStore({
      address: clickHouse,
      queryTimeoutMs,
      queryMemoryBytes,
      sparedQueryConnections,
      metrics,
      log,
    });
  }
  const { openEmbeddedStore } = await import('./embedded/embedded-store.ts');
  return await openEmbeddedStore(directory, metrics, log, {
    sparedQueryConnections,
    queryMemoryBytes,
    environment: options.engineEnvironment,
  });
}
