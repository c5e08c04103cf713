/** The part of `limits` that bounds inserts into the store. */
const MiB = 1024 * 1024;

export const insertLimits = {
  /**
   * Rows and bytes of a block that is merged from several before an insert. Merging blocks the event loop
   * for some milliseconds.
   */
  maxMergedBlockRows: 16_384,
  maxMergedBlockBytes: 4 * MiB,
  /**
   * The largest batch of samples that is sorted before its insert; larger ones are sorted by the store.
   * Sorting takes 56 bytes of memory per sample and 64 per series. With more series each has few samples, and
   * the store sorts them as fast.
   */
  maxSortedSamples: 2_097_152,
  maxSortedSeries: 131_072,
  /** Samples that are sorted in one turn of the event loop: a millisecond or two. */
  sortedSamplesPerTurn: 16_384,
  /** Concurrent inserts. */
  maxParallelInserts: 4,
  /** Concurrent inserts into the embedded engine: while one waits for the disk, another one has a core. */
  embeddedInsertConnections: 2,
  /**
   * Table directories that are checked concurrently before the embedded engine opens: some small reads each.
   */
  maxParallelRepairs: 8,
  /**
   * Trial inserts that separate the rows that the store rejects from the others of a batch. A trial takes
   * some milliseconds. A single bad row takes twice as many trials as there are halvings down to it. A table
   * whose batches use up all trials gets half as many for the next batch, down to the minimum.
   */
  maxRowTrials: 1000,
  minRowTrials: 32,
  /**
   * Consecutive rejections of a table that its rows do not explain, before a batch goes to the dead letters.
   */
  maxUnexplainedRefusals: 8,
  /**
   * Consecutive rejections of a table's inserts for lack of memory, before they are split into
   * twice as many parts.
   */
  maxMemoryRefusals: 3,
  /** Parts of a batch. Power of two. */
  maxInsertParts: 1024,
  /** Characters of ClickHouse's error message that are kept. It can quote whole rows. */
  maxDeadReasonLength: 2000,
  insertBackoffMinMs: 100,
  insertBackoffMaxMs: 10_000,
} as const;
