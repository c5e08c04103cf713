/** The part of `limits` that bounds what one request may contain and how it is decoded. */
const KiB = 1024;
const MiB = 1024 * KiB;

export const decodingLimits = {
  // JSON events ------------------------------------------------------------------------------------------
  maxEventsPerRequest: 1_000_000,
  /** A field name after flattening. ClickHouse keeps one file per column, named after it. */
  maxFieldNameBytes: 250,
  /**
   * Different keys in one request, including those that are always null: each takes memory during decoding.
   */
  maxKeysPerRequest: 20_000,
  /** Fields that request headers add to the events. */
  maxEventLabels: 10,
  /** Characters of a client's name for itself that are stored: those of browsers have up to 200. */
  maxUserAgentLength: 256,
  /**
   * Physical columns of one request. Columns for which the dataset has no room go into its map. For each
   * column the main thread looks it up in the dataset, and the record in the log names it: half a
   * microsecond each time.
   */
  maxColumnsPerRequest: 10_000,
  /** Objects nested deeper than this are stored as JSON text. */
  maxFlattenDepth: 10,

  // Prometheus remote write ------------------------------------------------------------------------------
  maxSamplesPerRequest: 2_000_000,
  /**
   * Native histograms, including refused ones. One takes 160 bytes and the time of ten samples, and its
   * message can be two bytes long. By default senders put at most 10,000 into a request.
   */
  maxHistogramsPerRequest: 200_000,
  /** Exemplars, including refused ones. */
  maxExemplarsPerRequest: 200_000,
  /** Series without a sample, histogram or exemplar: a message of two bytes, of which nothing is stored. */
  maxEmptySeriesPerRequest: 200_000,
  maxLabelsPerSeries: 256,
  maxLabelNameBytes: 1 * KiB,
  maxLabelValueBytes: 64 * KiB,
  /** Bytes of all label names and values of one exemplar. OpenMetrics allows 128 characters. */
  maxExemplarLabelBytes: 4 * KiB,
  /**
   * Buckets of one histogram (of a native one on each side of zero), and quantiles of a summary. Prometheus'
   * own default for native histograms is 160; each bucket of a classic histogram is a series.
   */
  maxHistogramBuckets: 16_384,
  /**
   * Series whose labels a worker must read because it does not know them: some ten microseconds each. The
   * kernel reads those of plain remote write at a microsecond each, and has bounds of its own. Senders of new
   * series put 10,000 into a request, and 70,000 into a block of 10 MB.
   */
  maxNewSeriesPerRequest: 200_000,
  /** Labels of all new series together, up to a microsecond each. A series has all labels of its resource. */
  maxNewSeriesLabelsPerRequest: 3_000_000,
  /**
   * Different days of the samples of a request. Each day is a partition of two tables, with its own files:
   * one series with a sample on each of 49,000 days took the store 5 GB and minutes. A backfill may send up
   * to a year in one request.
   */
  maxSampleDaysPerRequest: 400,
  /** Help text and unit of a metric. */
  maxMetadataTextBytes: 64 * KiB,
  /** Strings in the symbol table of a 2.0 request. Each takes 16 bytes during decoding. */
  maxSymbolsPerRequest: 2_000_000,
  /** Problems of a partly refused request that its reply lists; all are counted. */
  maxReportedProblems: 20,
  /** Nested groups in a field that is skipped. Protobuf's own decoders have the same limit. */
  maxProtobufGroupDepth: 100,
  /**
   * Series that one worker remembers as stored, in 2^21 slots of 32 bytes: 64 MiB. When the table is
   * full, it is cleared.
   */
  seriesCacheEntries: 1_500_000,
  /**
   * Metric descriptions that one worker remembers as stored, 32 bytes each. When the table is
   * full, it is cleared.
   */
  metadataCacheEntries: 100_000,
  /**
   * The latest sample time (2106, 2^32 seconds); the earliest is 1970. All of ClickHouse's date and time
   * types share this range, so partitions and expiry by day work for every sample.
   */
  maxSampleTimestampMs: 2 ** 32 * 1000 - 1,

  // OTLP logs and traces --------------------------------------------------------------------------------
  /** Log records or spans. */
  maxRecordsPerRequest: 1_000_000,
  /** Attributes of a record, resource, scope, event or link. SDKs limit them to 128 by default. */
  maxAttributesPerRecord: 4096,
  maxAttributeKeyBytes: 1 * KiB,
  /** One attribute value, or the body of a log record. */
  maxAttributeValueBytes: 16 * MiB,
  /** Nesting of arrays and maps in one value. */
  maxAttributeDepth: 32,
  /** Different keys of one kind of attributes in a request. Each takes some 200 bytes during decoding. */
  maxAttributeKeysPerRequest: 100_000,
  /**
   * Attributes in key lists that occur for the first time, two microseconds each. Records of one
   * instrumentation share their key lists.
   */
  maxNewListAttributesPerRequest: 1_000_000,
  /** Key lists that are remembered while a request is decoded. When the table is full, it is cleared. */
  maxAttributeShapes: 20_000,
  /** Events of a span, and links of a span. SDKs limit them to 128 by default. */
  maxItemsPerSpan: 10_000,
  maxEntityRefsPerResource: 100,
  /** Keys in all entity references of a resource together. */
  maxEntityKeysPerResource: 1000,

  // Decoding workers -------------------------------------------------------------------------------------
  /**
   * Memory of the blocks that is not proportional to the body: cells of sparse columns, series rows of
   * samples on many days, symbols that are referenced repeatedly.
   */
  maxInflatedBlockBytes: 256 * MiB,
  /**
   * The largest body, as sent, that is decoded in the main thread: up to 70 samples or 20 events. Sending
   * such a body to a worker and its blocks back costs the main thread more than decoding it.
   */
  maxInlineBodyBytes: 4 * KiB,
  /** The same after decompression. */
  maxInlineDecodedBytes: 24 * KiB,
  /**
   * What such a body may expand to beyond its length, so that it takes at most a millisecond. Otherwise
   * a worker decodes it.
   */
  maxInlineInflatedBytes: 256 * KiB,
  maxInlineNewSeries: 200,
  maxInlineAttributes: 2000,
  /**
   * The largest body after decompression, as far as known, that counts as short. One worker is kept free for
   * short bodies while all others decode longer ones.
   */
  maxShortBodyBytes: 1 * MiB,
  /**
   * What a short body may expand to beyond its length, so that it takes at most some tens of milliseconds.
   * Otherwise it counts as long.
   */
  maxShortInflatedBytes: 16 * MiB,
  maxShortNewSeries: 10_000,
  /** Labels of new series, or attributes in key lists that occur for the first time. */
  maxShortAttributes: 50_000,
  /** After this time a worker returns the short bodies of its batch that it has not started. */
  decodeSliceMs: 20,
  /**
   * The half-life of the worker time that is counted for a tenant. Tenants that used less are served first.
   */
  decodeCostHalfLifeMs: 10_000,
  /**
   * Blocks of decoded bodies that are not in the log yet, plus four times the length of long bodies that are
   * being decoded. Above it long bodies wait. One always runs, so that the largest can.
   */
  maxDecodedBlockBytes: 256 * MiB,
  /**
   * Memory for the protobuf message of a JSON body that a worker keeps for the next body, of each signal; new
   * memory costs some 2 % of decoding. A Collector's batch of 8,192 spans fits.
   */
  maxKeptMessageBytes: 8 * MiB,
  /** Blocks whose columns the main thread moves into the map; a worker does it for larger ones. */
  maxInlineOverflowBytes: 32 * KiB,
  /** Requests that wait for a worker; above it new ones get 503. */
  maxQueuedDecodes: 4096,
  /** Requests that go to a worker as one batch, by number and by bytes. Other tenants wait for that long. */
  maxDecodeBatchRequests: 64,
  maxDecodeBatchBytes: 1 * MiB,
  /** Decoding tasks whose outcome (committed or not) a worker can still look up. Power of two. */
  decodeOutcomeWindow: 65_536,
} as const;
