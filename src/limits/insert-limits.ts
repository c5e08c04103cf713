/** The part of `limits` that bounds inserts into the store. */
const MiB = 1024 * 1024;

export const insertLimits = {
  /**
   * Blocks that are merged before an insert, by rows and bytes of the result. It is made in one go: some milliseconds, in
   * which no request is read.
   */
  maxMergedBlockRows: 16_384,
  maxMergedBlockBytes: 4 * MiB,
  /**
   * A batch of samples that is put in order before its insert; a larger one is left to the store. It takes 56 bytes of
   * memory a sample and 64 a series meanwhile. Of more series each has few samples, and the store sorts them as fast.
   */
  maxSortedSamples: 2_097_152,
  maxSortedSeries: 131_072,
  /** As many take a millisecond or two; then others get their turn. */
  sortedSamplesPerTurn: 16_384,
  /** Inserts that run at the same time. */
  maxParallelInserts: 4,
  /** Of these, in the embedded engine: while one waits for the disk, another one has a core. */
  embeddedInsertConnections: 2,
  /** Folders of tables that are looked at at the same time before the embedded engine opens: some small reads each. */
  maxParallelRepairs: 8,
  /**
   * Trials in which the rows of one batch that the store refuses are told from those that it takes. A trial takes
   * some milliseconds, and a single bad row twice as many trials as there are halvings down to it. A table whose
   * batches use them all up gets half as many for the next one, down to the minimum.
   */
  maxRowTrials: 1000,
  minRowTrials: 32,
  /** Refusals of a table, one after another, that its rows do not explain, before a batch goes to the dead letters. */
  maxUnexplainedRefusals: 8,
  /** Refusals of a table's inserts for lack of memory, one after another, before they are cut into twice as many parts. */
  maxMemoryRefusals: 3,
  /** Parts of a batch; a power of two. */
  maxInsertParts: 1024,
  /** Of ClickHouse's words about a refusal, characters. They can quote whole rows. */
  maxDeadReasonLength: 2000,
  insertBackoffMinMs: 100,
  insertBackoffMaxMs: 10_000,
} as const;
