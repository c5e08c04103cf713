/** The part of `limits` that keeps tenants and datasets from living at the cost of others. */
const KiB = 1024;
const MiB = 1024 * KiB;

export const quotaLimits = {
  /** Datasets of a tenant. Each is up to five tables of the store, which keeps something of each in memory. */
  maxDatasetsPerTenant: 5000,
  /** One JSON event, as it is sent. */
  maxEventBytes: 16 * MiB,
  /** How long a sender that was silent may send without regard to its rate, at as much as comes to this time of it. */
  ingestBurstSeconds: 10,
  /** What can be set, least and most: for all tenants by the configuration, for one by who administers tenants. */
  settableDatasets: [1, 100_000],
  settableColumns: [10, 10_000],
  settableEventBytes: [1 * KiB, 128 * MiB],
  /** Bytes a second. The least keeps the wait behind one body bounded. */
  settableIngestRate: [1 * KiB, 2 ** 40],
  /** Datasets whose rate of ingest is remembered, 200 bytes each. Those that have sent nothing for longest are forgotten. */
  maxMeteredDatasets: 50_000,
  /** Tables of a segment up to which each is inserted at once. May only grow from version to version (`drain/quiet-tables.ts`). */
  promptTables: 32,
  /** With more than that, datasets with at least so much in it are. May only shrink. */
  promptBytes: 512 * KiB,
  /** Those that wait make no more inserts a second than this, in the engine some milliseconds each. */
  quietInsertsPerSecond: 50,
  /** Datasets whose wait ends together: a second of inserts or two, after which those that have waited meanwhile follow. */
  maxBundledDatasets: 128,
  /** Where so many wait that the longest wait binds, some go before it is over, this often. */
  quietPaceMs: 1000,
  /** The longest that rows of a dataset wait for more, where there are many. */
  quietFlushIntervalMs: 15_000,
} as const;
