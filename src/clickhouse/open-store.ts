import type { ClickHouseAddress } from '../lib/clickhouse-url.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SparedConnections } from './connection-pool.ts';
import type { ResultStore, Store } from './store.ts';

export interface StoreOptions {
  /** Undefined: the embedded engine. */
  readonly clickHouse: ClickHouseAddress | undefined;
  /** The data directory of the embedded engine. */
  readonly directory: string;
  readonly queryTimeoutMs: number;
  /** Memory of all queries together. */
  readonly queryMemoryBytes: number;
  readonly sparedQueryConnections?: SparedConnections | undefined;
  /** Where BACKUP of the embedded engine may write, and RESTORE read; nowhere unless given. */
  readonly backupDirectory?: string | undefined;
  /** The complete environment of the embedded engine's process. */
  readonly engineEnvironment: Readonly<Record<string, string>>;
}

/** Opens the configured store. Only the code of this one is loaded: the client of the other takes 30 ms. */
export async function openStore(
  options: StoreOptions,
  metrics: Metrics,
  log: Logger,
): Promise<Store & ResultStore> {
  const { clickHouse, directory, queryTimeoutMs, queryMemoryBytes, sparedQueryConnections } = options;
  if (clickHouse !== undefined) {
    const { openRemoteStore } = await import('./remote/remote-store.ts');
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
    backupDirectory: options.backupDirectory,
    environment: options.engineEnvironment,
  });
}
