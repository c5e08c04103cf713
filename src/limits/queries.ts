/** The part of `limits.ts` that is about queries. */
const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

export const queryLimits = {
  maxQueryTextBytes: 256 * KiB,
  queryTimeoutMs: 60_000,
  queryMaxMemoryBytes: 2 * GiB,
  queryMaxResultRows: 1_000_000,
  queryMaxResultBytes: 256 * MiB,
  /** How often the store is asked to stop a query that nobody waits for, until it has. */
  queryKillIntervalMs: 250,
  /** Threads of one query, on a machine that has more. */
  queryMaxThreads: 8,
  /** A result that can have no more rows is made as a whole, and streamed if it has more bytes all the same. */
  heldResultRows: 1000,
  heldResultBytes: 4 * MiB,
  /** A group of rows of a Parquet file, which is in memory until it is written. */
  parquetGroupRows: 65_536,
  parquetGroupBytes: 16 * MiB,
  /** Of a result, held back before the reply begins: an error up to here is a reply of its own. */
  queryReplyBufferBytes: 64 * KiB,
  /** A ClickHouse server begins its answer when the query has ended or its output outgrows a buffer of 1 MiB. */
  storeSummaryBytes: 64 * KiB,
  /** Translations that are remembered, with their texts. */
  maxTranslationCacheBytes: 16 * MiB,
  /** Larger ones, which hold a large catalog, are made each time rather than keep nothing else. */
  maxTranslationCacheEntryBytes: 2 * MiB,
  /** What a remembered translation takes beside its texts, or more. */
  translationOverheadBytes: 1024,
  /** Parts of the range of a request for counts. */
  maxCountBins: 10_000,
  /** Queries waiting for the parser, or for a connection, all tenants together; above it 503 for who has most of them. */
  maxQueuedQueries: 100,
  /** The parser gets a stack of its own: 200,000 chained operators parse in 64 MiB. */
  sqlParserStackMiB: 64,
  /**
   * The widest queries take 0.3 s of CPU, and the thread may get a tenth of a core on a machine that is busy. What does
   * not end at all is rare: a query that overflows the stack is answered, and the thread replaced.
   */
  sqlParserTimeoutMs: 15_000,
  /**
   * Times that `/*` may be in a query, in comments or elsewhere. PostgreSQL's lexer takes time with the square of them:
   * 10 ms for this many, and a minute for the 100,000 that fit a query, in which it parses nobody else's.
   */
  maxSqlComments: 1000,
  /** The tree of a query of 256 KiB takes some 100 MiB. */
  sqlParserHeapMiB: 512,
  /** A translated query. ClickHouse's `max_query_size` is 256 KiB, and the settings follow the query. */
  maxStoreSqlBytes: 250 * 1024,
  /** Characters of `information_schema` in one query, all its mentions together: some 70,000 columns. */
  maxCatalogSqlLength: 7 * MiB,
  /** Nesting of the syntax tree that the translator walks. */
  maxSqlDepth: 200,
  /** Sets of keys of one GROUP BY: the store groups once for each. */
  maxGroupingSets: 64,
  /** Rows of `generate_series`, which are made in memory. */
  maxSeriesRows: 10_000_000,
  /** Steps of WITH RECURSIVE. */
  maxRecursionDepth: 1000,
} as const;
