import { byteCount, integer } from '../lib/option-values.ts';
import { limits } from '../limits/limits.ts';
import { needOption, type Option, type OptionTexts } from './option.ts';

/**
 * Quotas of each tenant and dataset, so that none takes resources from the others. A tenant can
 * have limits of its own.
 */
export interface QuotaConfig {
  readonly maxDatasets: number;
  readonly maxColumns: number;
  /** Bytes of bodies as sent, per second; infinity for no limit. */
  readonly tenantIngestBytesPerSecond: number;
  /** The same for each dataset. */
  readonly datasetIngestBytesPerSecond: number;
  readonly maxEventBytes: number;
  readonly lowVolumeFlushIntervalMs: number;
}

const rate = (text: string): number | undefined =>
  text === 'unlimited' ? Number.POSITIVE_INFINITY : byteCount(...limits.settableIngestRate)(text);
const rateSyntax =
  'unlimited, or a number of bytes per second of at least 1KiB, with an optional KiB, MiB or GiB';

/** Options of the quotas. */
export const quotaOptions = {
  maxDatasets: {
    env: 'MILLRACE_MAX_DATASETS',
    meaning: 'how many datasets a tenant may have',
    fallback: String(limits.maxDatasetsPerTenant),
    parse: integer(...limits.settableDatasets),
    allowed: 'a number from 1 to 100000',
  },
  maxColumns: {
    env: 'MILLRACE_MAX_COLUMNS',
    meaning: 'how many columns a dataset of events may have; further fields share one column',
    fallback: String(limits.maxColumnsPerDataset),
    parse: integer(...limits.settableColumns),
    allowed: 'a number from 10 to 10000',
  },
  tenantIngestBytesPerSecond: {
    env: 'MILLRACE_TENANT_INGEST_BYTES_PER_SECOND',
    meaning: 'how fast a tenant may send, in bytes of request bodies per second; beyond it writes get 429',
    fallback: 'unlimited',
    parse: rate,
    allowed: rateSyntax,
  },
  datasetIngestBytesPerSecond: {
    env: 'MILLRACE_DATASET_INGEST_BYTES_PER_SECOND',
    meaning:
      'how fast each dataset may be written, in bytes of request bodies per second; beyond it writes get 429',
    fallback: 'unlimited',
    parse: rate,
    allowed: rateSyntax,
  },
  maxEventBytes: {
    env: 'MILLRACE_MAX_EVENT_BYTES',
    meaning: 'the largest JSON event, in bytes as sent',
    fallback: String(limits.maxEventBytes),
    parse: byteCount(...limits.settableEventBytes),
    allowed: 'a number of bytes from 1KiB to 128MiB, with an optional KiB or MiB',
  },
  lowVolumeFlushIntervalMs: {
    env: 'MILLRACE_LOW_VOLUME_FLUSH_INTERVAL_MS',
    meaning:
      'how long datasets with little data may wait before they are inserted, if there are many datasets, in milliseconds',
    fallback: String(limits.lowVolumeFlushIntervalMs),
    parse: integer(50, 600_000),
    allowed: 'a number of milliseconds from 50 to 600000',
  },
} as const satisfies { readonly [K in keyof QuotaConfig]: Option<QuotaConfig[K]> };

/** @throws ConfigError */
export const readQuotas = (texts: OptionTexts): QuotaConfig => ({
  maxDatasets: needOption(quotaOptions.maxDatasets, texts),
  maxColumns: needOption(quotaOptions.maxColumns, texts),
  tenantIngestBytesPerSecond: needOption(quotaOptions.tenantIngestBytesPerSecond, texts),
  datasetIngestBytesPerSecond: needOption(quotaOptions.datasetIngestBytesPerSecond, texts),
  maxEventBytes: needOption(quotaOptions.maxEventBytes, texts),
  lowVolumeFlushIntervalMs: needOption(quotaOptions.lowVolumeFlushIntervalMs, texts),
});
