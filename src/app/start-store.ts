import { join } from 'node:path';
import { Catalog } from '../catalog/catalog.ts';
import { DatasetOptionsFile } from '../catalog/dataset-options-file.ts';
import { ReceivedTable } from '../catalog/received-table.ts';
import { StoreMonitor } from '../catalog/store-monitor.ts';
import { TenantCleaner } from '../catalog/tenant-cleaner.ts';
import { Tenants } from '../catalog/tenants.ts';
import { openStore } from '../clickhouse/open-store.ts';
import { NodeRegistry } from '../cluster/nodes.ts';
import type { Config } from '../config/config.ts';
import { limits } from '../limits/limits.ts';
import { MetadataLog } from '../metadata/metadata-log.ts';
import { type LimitsInForce, serviceLimits } from '../model/tenant-limits.ts';
import type { AppContext } from './app-context.ts';

/** Opens the store and what is cached from it: catalog, tenants, metadata. */
export async function startStore({ config, directory, clock, metrics, log }: AppContext) {
  const { clickhouseUrl: clickHouse, queryTimeoutMs, multiTenant } = config;
  const local = join(directory.path, 'store');
  const spared = limits.storeSparedQueryConnections;
  const sparedQueryConnections = { forTenants: multiTenant ? spared : 0, forUsers: spared };
  const store = await openStore(
    {
      clickHouse,
      directory: local,
      queryTimeoutMs,
      queryMemoryBytes: config.queryMaxTotalMemoryBytes,
      sparedQueryConnections,
      backupDirectory: config.backupDir,
      engineEnvironment: config.engineEnvironment,
    },
    metrics,
    log,
  );
  const metadata = new MetadataLog(store, directory.node);
  const cleaner: TenantCleaner = new TenantCleaner({
    hasEnded: (tenant, dataset) => catalog.hasEnded(tenant, dataset),
    timers: clock,
    log,
  });
  const tenants = new Tenants(metadata, () => void cleaner.clean(), limitsOfAll(config));
  // Also used with the embedded engine: it can end just after it opened, before the catalog was read.
  const kept = await DatasetOptionsFile.open(join(directory.path, 'datasets'), log);
  const onEnd = () => void cleaner.clean();
  const catalog: Catalog = new Catalog(store, metadata, tenants, onEnd, kept);
  const monitor = new StoreMonitor({ store, catalog, clock, log, metrics });
  await monitor.start();
  const registry = new NodeRegistry(store, directory.node);
  const received = new ReceivedTable(store);
  return { store, received, metadata, registry, tenants, cleaner, catalog, monitor };
}

const limitsOfAll = (config: Config): LimitsInForce =>
  serviceLimits({
    maxDatasets: config.maxDatasets,
    maxColumns: config.maxColumns,
    maxEventBytes: config.maxEventBytes,
    tenantIngestBytesPerSecond: config.tenantIngestBytesPerSecond,
    datasetIngestBytesPerSecond: config.datasetIngestBytesPerSecond,
  });

export type StoreParts = Awaited<ReturnType<typeof startStore>>;
