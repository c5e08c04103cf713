/** The part of `limits` that is about queries. */
const KiB = 1024;
const MiB = 1024 * KiB;

export const queryLimits = {
  maxQueryTextBytes: 256 * KiB,
  /**
   * Braces, brackets and commas in the body of a query, outside of its texts. It has four members; parsing a MiB of
   * brackets takes 80 ms, and that of one text takes 2 ms.
   */
  maxQueryBodyMarks: 32,
  /** A time or the name of a dataset, beside the text of a query. */
  maxQueryOptionLength: 256,
  queryTimeoutMs: 60_000,
  /**
   * With it, and as much for all others, the service stays below 1.5 GB: it and its engine take 0.6 GB without any
   * query. Nobody gets more by default than an eighth of the memory that the machine or the container has.
   */
  queryMaxMemoryBytes: 384 * MiB,
  queryMemoryShare: 1 / 8,
  /** All queries together may use so many times what one may. */
  queryMemoryFactor: 2,
  /** On a machine that has next to none. */
  queryMinMemoryBytes: 128 * MiB,
  /** Rows between which the store looks at its time and at who asks it to stop. A fourth of its own costs a scan nothing. */
  queryBlockRows: 16_384,
  queryMaxResultRows: 1_000_000,
  queryMaxResultBytes: 256 * MiB,
  /** How often the store is asked to stop a query that nobody waits for, until it has. */
  queryKillIntervalMs: 250,
  /** How long a query that was asked to stop may go on; then the embedded engine is ended, and started again. */
  queryKillGraceMs: 3000,
  /** How long after such a query its sender may ask for none: the first time, and at most; each time twice as long. */
  minQueryPauseMs: 60_000,
  maxQueryPauseMs: 3_600_000,
  /** Senders of such queries that are remembered, the latest. */
  maxQueryPauses: 1000,
  /** How much later than the store the service ends a query itself: the store's own error comes first, if it can. */
  queryTimeoutSlackMs: 500,
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
  /** Queries waiting to be translated, or for a connection, all tenants together; above it 503 for who has most of them. */
  maxQueuedQueries: 100,
  /** Threads that translate: half of the cores, within these; one more where there are tenants, so that none holds all. */
  minTranslationThreads: 2,
  maxTranslationThreads: 4,
  /** CPU time of one translation. The largest that can be of use take 0.3 s. */
  translationCpuMs: 1000,
  /** How often the CPU time of a translation is looked at that has not ended by then. */
  translationCheckIntervalMs: 50,
  /** From the begin to the end of one translation: its thread may get a tenth of a core on a machine that is busy. */
  translationTimeoutMs: 15_000,
  /** Where a thread's CPU time cannot be read (other systems than Linux), a translation may take this many times as long. */
  translationWallFactor: 4,
  /** From the start of a thread until it can translate, on a machine that is busy. */
  translationStartTimeoutMs: 60_000,
  /** The parser recurses: 200,000 chained operators parse in 64 MiB. */
  translationStackMiB: 64,
  /**
   * The tree of a query of 256 KiB takes some 100 MiB, its largest translation less. Whoever gets here loses the thread;
   * yet V8 gives up the whole process if the allocation that gets here is larger than the 16 MiB that Node.js leaves it
   * (a map or a copied array of millions). So this is the last bound: counts come first, then CPU time.
   */
  translationHeapMiB: 512,
  /**
   * Memory of a thread beside its heap, above all that of the parser, which has 128 MiB from the beginning, grows up to
   * 1 GiB and never shrinks: a thread that holds more than this after a translation is replaced.
   */
  maxTranslationExternalBytes: 256 * MiB,
  /** Who has run out of CPU time goes behind those who have not for so long; of more identities, the oldest are forgiven. */
  translationPenaltyMs: 60_000,
  maxPenalizedIdentities: 10_000,
  /** Names of columns that a thread remembers, in characters: 2,000 datasets of 1,000 columns with short names. */
  maxDatasetCacheLength: 32 * MiB,
  /** Names of columns in one message to a thread; they cost the sender up to a microsecond each. */
  maxColumnsPerMessage: 1000,
  /** How long the main thread works for one translation before it turns to something else. */
  translationSliceMs: 1,
  /**
   * Times that `/*` may be in a query, in comments or elsewhere. PostgreSQL's lexer takes time with the square of them:
   * 10 ms for this many, and a minute for the 100,000 that fit a query, in which it parses nobody else's.
   */
  maxSqlComments: 1000,
  /** A translated query. ClickHouse's `max_query_size` is 256 KiB, and the settings follow the query. */
  maxStoreSqlBytes: 250 * 1024,
  /** Characters of `information_schema` in one query, all its mentions together: some 70,000 columns. */
  maxCatalogSqlLength: 7 * MiB,
  /** Nesting of the syntax tree that the translator walks. */
  maxSqlDepth: 200,
  /**
   * Of one query, all its subqueries together: so far a translation may expand. What fits `maxStoreSqlBytes` is below, but
   * for the last, which are more than anybody needs. Expressions, queries, relations and keys as they were written:
   */
  maxSqlSyntaxNodes: 150_000,
  /** What the translator makes of them: some 150 bytes each. */
  maxSqlResolvedNodes: 500_000,
  /**
   * Visits of nodes, names and columns, in what the syntax tree becomes and in its printing: some 50 to 100 ns each. What
   * fits `maxStoreSqlBytes` took 0.3 million at most in our tests.
   */
  maxSqlSteps: 2_000_000,
  /** With those that a star stands for. */
  maxSqlOutputColumns: 20_000,
  maxSqlRelations: 500,
  maxSqlCtes: 200,
  maxSqlSetOperations: 500,
  /** Each set of keys counts its own. */
  maxSqlGroupKeys: 5000,
  /** Of ORDER BY, DISTINCT ON, and the windows and aggregates that have keys of their own. */
  maxSqlSortKeys: 5000,
  /** Of WINDOW, and of each OVER. */
  maxSqlWindows: 2000,
  /** Generated names, of relations and of subqueries. */
  maxSqlAliases: 10_000,
  /** Of one string or number. */
  maxSqlLiteralLength: 128 * 1024,
  /** Of a regular expression or a pattern of LIKE; dashboards write hundreds of names with `|` between them. */
  maxSqlPatternLength: 32 * 1024,
  /** Of `to_char`, `to_date`, `to_timestamp` and `format`. Each of its parts may repeat the value. */
  maxSqlFormatLength: 4000,
  /** Of `#>`, and of the right side of `@>`: levels of JSON. */
  maxSqlJsonDepth: 100,
  /** As PostgreSQL has it: dimensions of an array. */
  maxSqlSubscripts: 6,
  /**
   * How often a regular expression repeats a part, repetitions within it multiplied, as RE2 counts (which takes 1000). It
   * becomes as many copies of the part, all of which the store may look at for each character. PostgreSQL's greatest
   * count is 255.
   */
  maxRegexRepetitions: 255,
  /** Characters and classes of a regular expression, those repeated as often as they are. */
  maxRegexSize: 50_000,
  maxRegexGroups: 100,
  maxRegexDepth: 100,
  /** Characters to which `lpad` and `rpad` fill a text up; every row gets as many. */
  maxPaddedLength: 100_000,
  /** Sets of keys of one GROUP BY: the store groups once for each. */
  maxGroupingSets: 64,
  /** Rows of `generate_series`, which are made in memory. */
  maxSeriesRows: 10_000_000,
  /** Steps of WITH RECURSIVE. */
  maxRecursionDepth: 1000,
} as const;
