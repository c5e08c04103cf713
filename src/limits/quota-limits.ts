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
   * (`drain/low-volume-tables.ts`).
   */
  maxUnbatchedTables: 32,
  /**
   * Of a segment with more tables, datasets with at least this much in it are inserted at
   * once. May only shrink.
   */
  minUnbatchedBytes: 512 * KiB,
  /** Low-volume tables make at most this many inserts a second. Each takes the engine some milliseconds. */
  batchedInsertsPerSecond: 50,
  /** Datasets that are flushed together: one or two seconds of inserts. */
  maxBatchedDatasets: 128,
  /** How often low-volume tables are flushed for readers who wait for what was acknowledged. */
  latestFlushIntervalMs: 100,
  /** If so many datasets wait that the longest wait applies, some are flushed earlier, at this interval. */
  earlyFlushIntervalMs: 1000,
  /** The longest that rows of a low-volume table wait for more. */
  lowVolumeFlushIntervalMs: 15_000,
} as const;
