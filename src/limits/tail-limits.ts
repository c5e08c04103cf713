/** The part of `limits` that is about live tails. */
const MiB = 1024 * 1024;

export const tailLimits = {
  /** Live tails of one tenant at the same time: each is a connection, and a query a second unless equal. */
  maxTailsPerTenant: 16,
  /** Live tails of all tenants together. */
  maxTails: 256,
  /** How often the store is asked what has arrived, and who may still read it. */
  tailIntervalMs: 1000,
  /** Rows that a tail sends in one interval; more are counted as skipped. Nobody reads faster. */
  maxTailRows: 500,
  /** Bytes of these rows. They are in memory until the slowest client of the query has them. */
  maxTailRoundBytes: 4 * MiB,
  /**
   * Inserts that are looked at in one interval. A node makes a few a second; a client that resumes after
   * hours has more to pass over.
   */
  maxTailInserts: 10_000,
  /** One query of a tail: the others wait for it. What it did not reach counts as skipped. */
  tailQueryTimeoutMs: 5000,
  /** After this time without a row a comment is sent, so that no proxy takes the connection for dead. */
  tailHeartbeatMs: 15_000,
  /** How long rows that wait in the log for more rows are awaited before they are asked for again. */
  tailFlushWaitMs: 10_000,
  /** Characters of the header Last-Event-ID: two numbers and a digest. */
  maxEventIdLength: 64,
} as const;
