import { limits } from '../../src/limits.ts';
import type { TenantLimits } from '../../src/model/tenant-limits.ts';

/** What every tenant may have where nothing else is said. */
export const limitsOf = (): TenantLimits => ({
  maxDatasets: limits.maxDatasetsPerTenant,
  maxColumns: limits.maxColumnsPerDataset,
  maxEventBytes: limits.maxEventBytes,
  tenantIngestBytesPerSecond: Number.POSITIVE_INFINITY,
  datasetIngestBytesPerSecond: Number.POSITIVE_INFINITY,
});
