/** The part of `limits` that is about what one request may hold. */
const KiB = 1024;
const MiB = 1024 * KiB;

export const decodingLimits = {
  // JSON events ------------------------------------------------------------------------------------------
  maxEventsPerRequest: 1_000_000,
  /** A field name after flattening. ClickHouse keeps one file a column, named after it. */
  maxFieldNameBytes: 250,
  /** Different keys in one request, those with no value but null too: each takes memory while it is decoded. */
  maxKeysPerRequest: 20_000,
  /** Fields that headers of a request add to its events. */
  maxEventLabels: 10,
  /**
   * Physical columns of one request. What the dataset has no room for goes into its map. For each the main thread looks
   * whether the dataset has it, and the header of the record in the log names it: half a microsecond each time.
   */
  maxColumnsPerRequest: 10_000,
  /** Objects nested deeper than this stay JSON text. */
  maxFlattenDepth: 10,

  // Prometheus remote write ------------------------------------------------------------------------------
  maxSamplesPerRequest: 2_000_000,
  /**
   * Native histograms, those that are refused too. One takes 160 bytes and the time of ten samples, and its message may be
   * two bytes. Senders put 10,000 into a request at most unless they are told otherwise.
   */
  maxHistogramsPerRequest: 200_000,
  /** Exemplars, those that are refused too. */
  maxExemplarsPerRequest: 200_000,
  /** Series without a sample, histogram or exemplar: a message of two bytes, of which nothing is stored. */
  maxEmptySeriesPerRequest: 200_000,
  maxLabelsPerSeries: 256,
  maxLabelNameBytes: 1 * KiB,
  maxLabelValueBytes: 64 * KiB,
  /** Name and value bytes of all labels of one exemplar. OpenMetrics allows 128 characters. */
  maxExemplarLabelBytes: 4 * KiB,
  /**
   * Buckets of one histogram, of a native one on each side of zero, and quantiles of a summary. Prometheus' own limit for
   * native histograms is 160 by default; of a classic one each bucket is a series.
   */
  maxHistogramBuckets: 16_384,
  /**
   * Series of which a worker must read the labels, since it does not know them: some ten microseconds each. The kernel reads
   * those of plain remote write at a microsecond each, and has bounds of its own. Senders of new series have 10,000 in a
   * request, and 70,000 in a block of 10 MB.
   */
  maxNewSeriesPerRequest: 200_000,
  /** All of their labels together, up to a microsecond each: a series has all those of its resource. */
  maxNewSeriesLabelsPerRequest: 3_000_000,
  /**
   * Days of the samples of a request. Each is a partition of two tables, with files of its own: one series with a sample on
   * each of 49,000 days took the store 5 GB and minutes. Whoever brings in old samples has a year in a request at most.
   */
  maxSampleDaysPerRequest: 400,
  /** The description of a metric, and its unit. */
  maxMetadataTextBytes: 64 * KiB,
  /** Strings in the symbols table of a 2.0 request; each takes 16 bytes while the request is decoded. */
  maxSymbolsPerRequest: 2_000_000,
  /** Problems of a partly refused request that its reply spells out; all are counted. */
  maxReportedProblems: 20,
  /** Groups within groups in a field that is skipped; protobuf's own decoders stop here, too. */
  maxProtobufGroupDepth: 100,
  /** Series that one worker remembers as stored, in 2^21 slots of 32 bytes: 64 MiB. A full table starts over. */
  seriesCacheEntries: 1_500_000,
  /** Descriptions of metrics that one worker remembers as stored; 32 bytes each. A full table starts over. */
  metadataCacheEntries: 100_000,
  /**
   * Samples lie from 1970 up to this (in 2106, 2^32 seconds): the range that all of ClickHouse's types for
   * dates and times share, so that partitions and expiry by day work for every sample.
   */
  maxSampleTimestampMs: 2 ** 32 * 1000 - 1,

  // OTLP logs and traces --------------------------------------------------------------------------------
  /** Log records or spans. */
  maxRecordsPerRequest: 1_000_000,
  /** Attributes of a record, a resource, a scope, an event or a link. The limit of SDKs is 128 by default. */
  maxAttributesPerRecord: 4096,
  maxAttributeKeyBytes: 1 * KiB,
  /** One value, the body of a log record too. */
  maxAttributeValueBytes: 16 * MiB,
  /** Arrays and maps inside each other in one value. */
  maxAttributeDepth: 32,
  /** Different keys of one kind of attributes in a request; each takes some 200 bytes while it is decoded. */
  maxAttributeKeysPerRequest: 100_000,
  /**
   * Attributes in lists of keys that differ from all lists before, two microseconds each. Records of one instrumentation
   * share their lists.
   */
  maxNewListAttributesPerRequest: 1_000_000,
  /** Lists of attribute keys that are remembered while a request is decoded; beyond it they start over. */
  maxAttributeShapes: 20_000,
  /** Events of a span, and as many links. The limit of SDKs is 128 by default. */
  maxItemsPerSpan: 10_000,
  maxEntityRefsPerResource: 100,
  /** Keys in all entity references of a resource. */
  maxEntityKeysPerResource: 1000,

  // Decoding workers -------------------------------------------------------------------------------------
  /**
   * What the parts of the blocks that a small body can inflate may take: the cells of sparse columns, the series
   * rows of samples on many days, symbols that are named again and again. The rest is in proportion to the body.
   */
  maxInflatedBlockBytes: 256 * MiB,
  /**
   * Bodies as sent that are decoded where they arrive, in the main thread: up to 70 samples or 20 events. Handing such
   * a body to a worker and its blocks back costs the main thread more than decoding it.
   */
  maxInlineBodyBytes: 4 * KiB,
  /** Such a body after decompression. */
  maxInlineDecodedBytes: 24 * KiB,
  /** What else such a body may become there, so that it takes a millisecond; beyond it a worker takes it after all. */
  maxInlineInflatedBytes: 256 * KiB,
  maxInlineNewSeries: 200,
  maxInlineAttributes: 2000,
  /**
   * Bodies after decompression, as far as it can be told before, that count as short: a worker is kept for them while all
   * others are busy with longer ones.
   */
  maxShortBodyBytes: 1 * MiB,
  /** What else a short body may become, so that it takes some tens of milliseconds; beyond it, it counts as long. */
  maxShortInflatedBytes: 16 * MiB,
  maxShortNewSeries: 10_000,
  /** Labels of new series, or attributes in lists of keys that differ from all before. */
  maxShortAttributes: 50_000,
  /** After this long a worker gives back what it has not begun of a task of short bodies. */
  decodeSliceMs: 20,
  /** A tenant that has just used a worker for some time goes behind others; half of that time is forgotten after this. */
  decodeCostHalfLifeMs: 10_000,
  /**
   * Blocks of decoded bodies that are not in the log yet, and what long bodies presumably take while they are decoded (four
   * times their length); above it long bodies wait. One always goes, so that the largest can.
   */
  maxDecodedBlockBytes: 256 * MiB,
  /** Blocks whose columns the main thread moves into the map; larger ones go to a worker. */
  maxInlineOverflowBytes: 32 * KiB,
  /** Requests that wait for a worker; above it new ones get 503. */
  maxQueuedDecodes: 4096,
  /** Requests that go to a worker as one task, by count and by bytes; other tenants wait for as much. */
  maxDecodeBatchRequests: 64,
  maxDecodeBatchBytes: 1 * MiB,
  /** Decode tasks whose outcome (committed or not) a worker can still look up. Power of two. */
  decodeOutcomeWindow: 65_536,
} as const;
