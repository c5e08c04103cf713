/** The part of `limits` that is about queries. */
const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

export const queryLimits = {
  maxQueryTextBytes: 256 * KiB,
  /**
   * Braces, brackets and commas in the body of a query, outside of its texts: enough for the elements of some
   * arrays among its parameters. Parsing a MiB of brackets takes 80 ms, and that of one text takes 2 ms.
   */
  maxQueryBodyMarks: 8192,
  /** Parameters of one query, by the highest number. PostgreSQL's protocol allows 65,535. */
  maxQueryParameters: 1000,
  /**
   * Characters of the values of all parameters of one query. They go into the statement, which has a bound
   * too.
   */
  maxQueryParametersLength: 256 * KiB,
  /** A time, or the name of a dataset, in the body of a query. */
  maxQueryOptionLength: 256,
  queryTimeoutMs: 60_000,
  /**
   * Memory of one query. With it, and twice as much for all queries together, the service stays below 1.5
   * GB: without queries it and its engine take 0.6 GB. The default is never more than `queryMemoryShare` of
   * the machine's memory.
   */
  queryMaxMemoryBytes: 384 * MiB,
  /**
   * From this share of its memory on, a GROUP BY goes on in files. The rest is for what a query has
   * besides: blocks under way, and the merging of the files.
   */
  querySpillShare: 1 / 4,
  /** These files of one query together. */
  maxQuerySpillBytes: 2 * GiB,
  /** The share of the memory of the machine or container that one query may use by default. */
  queryMemoryShare: 1 / 8,
  /** All queries together may use this many times the memory of one. */
  queryMemoryFactor: 2,
  /** The least that one query may use by default, on a machine that has next to no memory. */
  queryMinMemoryBytes: 128 * MiB,
  /**
   * Rows after which the store checks the timeout and cancellation. A quarter of its default does
   * not slow down a scan.
   */
  queryBlockRows: 16_384,
  queryMaxResultRows: 1_000_000,
  queryMaxResultBytes: 256 * MiB,
  /** From the beginning of an export until its client has taken all of it. */
  exportTimeoutMs: 3_600_000,
  /** Exports at the same time, of all tenants: half of the connections, so that queries have the others. */
  maxExports: 2,
  /** The same of one tenant, where there are others. */
  maxExportsPerTenant: 1,
  /** Exports of one user or key at the same time. */
  maxExportsPerUser: 1,
  /** Threads of an export, which is seldom faster than its client. */
  exportMaxThreads: 2,
  /**
   * Memory after which an export sorts and groups on disk: half of a small share. With less, merging took
   * more.
   */
  exportSpillBytes: 48 * MiB,
  /** How often the store is asked to cancel a query whose client is gone, until it has. */
  queryKillIntervalMs: 250,
  /** How long a cancelled query may continue. After that the embedded engine is killed and restarted. */
  queryKillGraceMs: 3000,
  /**
   * How long queries of its sender are refused after such a query: the first time, and at most.
   * Each time doubles it.
   */
  minQueryPauseMs: 60_000,
  maxQueryPauseMs: 3_600_000,
  /** Senders of such queries that are remembered, the latest ones. */
  maxQueryPauses: 1000,
  /**
   * How much later than the store the service ends a query itself, so that the store's error
   * comes first if possible.
   */
  queryTimeoutSlackMs: 500,
  /** Threads of one query, on a machine that has more. */
  queryMaxThreads: 8,
  /** A result that cannot have more rows is built as a whole; if it has too many bytes, it is streamed. */
  heldResultRows: 1000,
  heldResultBytes: 4 * MiB,
  /** Rows of a Parquet row group, which is in memory until it is written. */
  parquetGroupRows: 65_536,
  parquetGroupBytes: 16 * MiB,
  /**
   * What describes the columns of an Arrow batch or a Parquet file: in Parquet 100 bytes for each column of a
   * group.
   */
  maxResultMetadataBytes: 16 * MiB,
  /**
   * How much of a result is held back before the reply starts: an error up to here is a proper error reply.
   */
  queryReplyBufferBytes: 64 * KiB,
  /**
   * A ClickHouse server starts its reply when the query has ended or its output exceeds a buffer of 1 MiB.
   */
  storeSummaryBytes: 64 * KiB,
  /** Cached translations with their texts. */
  maxTranslationCacheBytes: 16 * MiB,
  /** Time zones that a thread keeps, each with the changes of its offset: 5 KB. There are 600 by name. */
  maxKnownTimeZones: 1000,
  /** A larger translation, one with a large catalog, is not cached: it would evict everything else. */
  maxTranslationCacheEntryBytes: 2 * MiB,
  /** Memory of a cached translation besides its texts, rounded up. */
  translationOverheadBytes: 1024,
  /** Elements of a statement that the store takes, where each column has a cast: its default is 50,000. */
  maxTypedResultElements: 150_000,
  /** Bins of the time range of a count request. */
  maxCountBins: 10_000,
  /**
   * Queries of all tenants that wait for translation or a connection; above it 503 for the
   * tenant with most of them.
   */
  maxQueuedQueries: 100,
  /**
   * Translation threads: half of the cores, within these bounds; one more with tenants, so that
   * none can occupy all.
   */
  minTranslationThreads: 2,
  maxTranslationThreads: 4,
  /** CPU time of one translation. The largest useful ones take 0.3 s. */
  translationCpuMs: 1000,
  /** How often the CPU time of a long translation is checked. */
  translationCheckIntervalMs: 50,
  /** Time of one translation from start to end: on a busy machine its thread may get a tenth of a core. */
  translationTimeoutMs: 15_000,
  /**
   * Where the CPU time of a thread cannot be read (not Linux), a translation may take this many times as
   * long.
   */
  translationWallFactor: 4,
  /** From the start of a thread until it can translate, on a busy machine. */
  translationStartTimeoutMs: 60_000,
  /** The parser recurses: 200,000 chained operators parse in 64 MiB. */
  translationStackMiB: 64,
  /**
   * The tree of a query of 256 KiB takes some 100 MiB, its largest translation less. A query that reaches
   * this bound ends the thread. But V8 ends the whole process if the failing allocation is larger than the 16
   * MiB that Node.js reserves (a map or a copied array of millions). So this is the last bound: counts come
   * first, then CPU time.
   */
  translationHeapMiB: 512,
  /**
   * Memory of a thread besides its heap, mostly that of the parser, which starts with 128 MiB, grows up to 1
   * GiB and never shrinks. A thread that holds more than this after a translation is replaced.
   */
  maxTranslationExternalBytes: 256 * MiB,
  /**
   * An identity whose query ran out of CPU time goes behind the others for this long. Beyond the bound
   * the oldest is dropped.
   */
  translationPenaltyMs: 60_000,
  maxPenalizedIdentities: 10_000,
  /**
   * Column names that a thread remembers, in characters: 2,000 datasets of 1,000 columns with short names.
   */
  maxDatasetCacheLength: 32 * MiB,
  /**
   * What a thread remembers of which datasets somebody may read, in bytes: for 30 readers of 2,000 datasets.
   * Each dataset takes its name twice, and its object id and places in maps beside it.
   */
  maxReadableCacheBytes: 32 * MiB,
  readableDatasetBytes: 500,
  /** Groups of readers with the same privileges whose state of the catalog has a number. */
  maxReadableStates: 10_000,
  /** Datasets whose columns a thread asks for one at a time before it asks for all: each begins again. */
  maxDatasetsLoadedAlone: 3,
  /** How old the sizes of datasets that the catalog shows may be. */
  datasetSizesMaxAgeMs: 5000,
  /** How long a query of the catalog waits for the store to tell them. */
  datasetSizesWaitMs: 2000,
  /** Tenants whose sizes are kept: up to 200 bytes for each dataset. */
  maxTenantsWithSizes: 100,
  /** Column names in one message to a thread. They cost the sender up to a microsecond each. */
  maxColumnsPerMessage: 1000,
  /** How long the main thread works on one translation before it yields. */
  translationSliceMs: 1,
  /**
   * Occurrences of `/*` in a query, in comments or elsewhere. The time of PostgreSQL's lexer grows with their
   * square: 10 ms for this many, and a minute for the 100,000 that fit a query.
   */
  maxSqlComments: 1000,
  /** A translated query. ClickHouse's `max_query_size` is 256 KiB, and the settings follow the query. */
  maxStoreSqlBytes: 250 * 1024,
  /** Characters that all mentions of `information_schema` in one query expand to: some 70,000 columns. */
  maxCatalogSqlLength: 7 * MiB,
  /**
   * Rows that a query of `pg_catalog` or `information_schema` looks at, expressions that it computes for
   * them, and comparisons: some 100 ns each.
   */
  maxCatalogQuerySteps: 5_000_000,
  /** Characters of its answer, which goes from the thread to the main thread in one message. */
  maxCatalogAnswerLength: 16 * MiB,
  /** Of such an answer that are encoded at a time in the main thread: some 50 us. */
  knownRowsChunkLength: 64 * KiB,
  /** Cells of rows that such a query keeps until it ends: 8 bytes each, and as much again beside them. */
  maxCatalogQueryCells: 8_000_000,
  /** Characters of a text, or elements of an array with the characters of their texts, in such a query. */
  maxCatalogValueLength: 1 * MiB,
  /** Calls of `set_config`, `pg_cancel_backend` and `pg_terminate_backend` for the rows of one query. */
  maxCatalogQueryEffects: 1000,
  /** Nesting of the syntax tree that the translator walks. */
  maxSqlDepth: 200,
  /**
   * Bounds on the expansion of one query with all its subqueries. What fits `maxStoreSqlBytes` stays below
   * these, except for the last ones, which are more than anybody needs. Expressions, queries, relations
   * and keys as written:
   */
  maxSqlSyntaxNodes: 150_000,
  /** Nodes that the translator makes of them: some 150 bytes each. */
  maxSqlResolvedNodes: 500_000,
  /**
   * Visits of nodes, names and columns while the tree is resolved and printed: 50 to 100 ns each. What fits
   * `maxStoreSqlBytes` took at most 0.3 million in our tests.
   */
  maxSqlSteps: 2_000_000,
  /** Including those that a star stands for. */
  maxSqlOutputColumns: 20_000,
  maxSqlRelations: 500,
  maxSqlCtes: 200,
  maxSqlSetOperations: 500,
  /** Each grouping set counts its own keys. */
  maxSqlGroupKeys: 5000,
  /** Keys of ORDER BY, DISTINCT ON, and of windows and aggregates. */
  maxSqlSortKeys: 5000,
  /** Windows of WINDOW, and of each OVER. */
  maxSqlWindows: 2000,
  /** Generated names of relations and subqueries. */
  maxSqlAliases: 10_000,
  /** One string or number. */
  maxSqlLiteralLength: 128 * 1024,
  /** A regular expression or a LIKE pattern. Dashboards write hundreds of names separated by `|`. */
  maxSqlPatternLength: 32 * 1024,
  /**
   * A format of `to_char`, `to_date`, `to_timestamp` and `format`. Each of its parts may repeat the value.
   */
  maxSqlFormatLength: 4000,
  /** Levels of JSON in `#>`, and in the right side of `@>`. */
  maxSqlJsonDepth: 100,
  /** Names in a path of `jsonb_set` and its kind: the engine nests functions 64 deep, five for each. */
  maxSqlJsonEditDepth: 8,
  /** Levels of a JSON value of which `jsonb` is made: each costs a pass over its text. */
  maxSqlJsonNesting: 200,
  /** Powers of ten of a number in JSON, which `jsonb` writes with all of its zeros. */
  maxSqlJsonExponent: 400,
  /** Characters of indentation that `jsonb_pretty` puts into one value. */
  maxSqlJsonIndent: 1_000_000,
  /** Dimensions of an array; the same as PostgreSQL's. */
  maxSqlSubscripts: 6,
  /**
   * How often a regular expression repeats a part, with nested repetitions multiplied, as RE2 counts (its
   * limit is 1000). The part is copied that many times, and the store may look at all copies for each
   * character. PostgreSQL's limit is 255.
   */
  maxRegexRepetitions: 255,
  /** Characters and classes of a regular expression, repetitions included. */
  maxRegexSize: 50_000,
  maxRegexGroups: 100,
  /** Which match of `regexp_substr` can be asked for: all before it are made, too. */
  maxSqlRegexMatch: 1000,
  /** Elements of `array_fill`. Each row gets as many. */
  maxFilledElements: 100_000,
  maxRegexDepth: 100,
  /** Characters to which `lpad` and `rpad` fill a text. Each row gets as many. */
  maxPaddedLength: 100_000,
  /** Grouping sets of one GROUP BY. The store groups once for each. */
  maxGroupingSets: 64,
  /** Rows of `generate_series`, which are made in memory. */
  maxSeriesRows: 10_000_000,
  /** Likewise in FROM, where the store counts them row by row: a second or two of its work. */
  maxCountedSeriesRows: 1_000_000_000,
  /**
   * Rounds of WITH RECURSIVE. The store plans and runs a query for each, in about a millisecond, so the time
   * limit of queries mostly ends a recursion without end before this does.
   */
  maxRecursionDepth: 5000,
} as const;
