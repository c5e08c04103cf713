/** The part of `limits` for quotas of tenants and datasets. */
const KiB = 1024;
const MiB = 1024 * KiB;

export const quotaLimits = {
  /** Datasets of a tenant. Each has up to five tables, and the store keeps some memory for each. */
  maxDatasetsPerTenant: 5000,
  /** One JSON event, as sent. */
  maxEventBytes: 16 * MiB,
  /** A sender that was silent may send this many seconds of its rate at once. */
  ingestBurstSeconds: 10,
  /**
   * The range of each quota that can be set: in the configuration, or for one tenant by the administrator.
   */
  settableDatasets: [1, 100_000],
  settableColumns: [10, 10_000],
  settableEventBytes: [1 * KiB, 128 * MiB],
  /** Bytes per second. The minimum bounds the wait after one body. */
  settableIngestRate: [1 * KiB, 2 ** 40],
  /**
   * Datasets whose ingest rate is tracked, 200 bytes each. The one that was silent for longest is dropped.
   */
  maxMeteredDatasets: 50_000,
  /**
   * Tables of a segment up to which each is inserted at once. May only grow from version to version
   * (`drain/quiet-tables.ts`).
   */
  promptTables: 32,
  /** With more than that, datasets with at least so much in it are. May only shrink. */
  promptBytes: 512 * KiB,
  /** Those that wait make no more inserts a second than this, in the engine some milliseconds each. */
  quietInsertsPerSecond: 50,
  /**
   * Datasets whose wait ends together: a second of inserts or two, after which those that have
   * waited meanwhile follow.
   */
  maxBundledDatasets: 128,
  /** Where so many wait that the longest wait binds, some go before it is over, this often. */
  quietPaceMs: 1000,
  /** The longest that rows of a dataset wait for more, where there are many. */
  quietFlushIntervalMs: 15_000,
} as const;
