/**
 * The settings of each insert, in its own SETTINGS clause, so that they do not depend on the engine's
 * defaults or a server's profile. A batch must produce the same blocks in the same order each time it is
 * sent: ClickHouse drops a repeated block by token and position. Hence one thread, no parallel parsing,
 * and fixed block sizes.
 */
export const insertSettings = {
  max_threads: 1,
  max_insert_threads: 1,
  input_format_parallel_parsing: 0,
  max_insert_block_size: 1_048_449,
  min_insert_block_size_rows: 1_048_449,
  min_insert_block_size_bytes: 268_402_944,
  insert_deduplicate: 1,
  // On by default since 26.2. It would mix batches of several inserts.
  async_insert: 0,
  // A batch may span many days, and so many partitions.
  max_partitions_per_insert_block: 0,
} as const;

/** The settings of an insert with its deduplication token. A running insert can be found by the token. */
export const namedInsert = (token: string) => ({
  ...insertSettings,
  insert_deduplication_token: token,
  log_comment: token,
});
