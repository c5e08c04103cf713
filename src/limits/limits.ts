/**
 * Every bound of the program, with its unit and its reason. Nothing grows without one of these.
 *
 * Bounds that an operator may want to change are defaults of configuration options (`config.ts`); the others
 * are fixed. The relations that must hold between them are asserted when this module loads.
 */

import { alertLimits } from './alert-limits.ts';
import { decodingLimits } from './decoding-limits.ts';
import { documentLimits } from './document-limits.ts';
import { identityLimits } from './identity-limits.ts';
import { insertLimits } from './insert-limits.ts';
import { notificationLimits } from './notification-limits.ts';
import { pgwireLimits } from './pgwire-limits.ts';
import { queryLimits } from './query-limits.ts';
import { quotaLimits } from './quota-limits.ts';
import { tailLimits } from './tail-limits.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

export const limits = {
  // Start ------------------------------------------------------------------------------------------------
  /** A file that a variable `…_FILE` names: it holds one secret, and somebody may name the wrong file. */
  secretFileMaxBytes: 64 * KiB,

  // Command line -----------------------------------------------------------------------------------------
  /** A result that `millrace query` prints as a table: it needs all of it to know the widths. */
  maxTableBytes: 256 * MiB,
  /** How long `millrace health` waits; a supervisor asks every few seconds. */
  healthTimeoutMs: 5000,

  // Backup -----------------------------------------------------------------------------------------------
  /** How often the engine is asked how far a backup is. Inserts wait for the first answer. */
  backupPollMs: 100,
  /** How long a backup waits until the log is sealed; a disk that is full may not let it. */
  backupSealWaitMs: 30_000,
  /** How long a backup waits for the inserts that run; later ones wait as long. */
  backupInsertWaitMs: 60_000,
  /** How long inserts rest for a backup. Writes are acknowledged meanwhile, into the log. */
  backupMaxPauseMs: 60_000,
  /** How long a backup or a restore may take in all. */
  backupMaxMs: 24 * 3_600_000,

  // HTTP -------------------------------------------------------------------------------------------------
  /** One request body, as sent and after decompression. OTLP collectors send up to a few MiB. */
  maxBodyBytes: 64 * MiB,
  /** Bodies of all requests that are not acknowledged yet; above it new requests get 503. */
  maxInflightBodyBytes: 256 * MiB,
  /** Open connections; above it new ones get 503. Each takes some KiB here and in the kernel. */
  maxConnections: 10_000,
  /** The same as a share of the files that the process may open, so that the log gets the rest. */
  maxConnectionsShare: 0.5,
  /**
   * How much of a chunked body is read and discarded after it was refused, so that its sender sees the reply.
   */
  maxDiscardedBodyBytes: 1 * MiB,
  /** The same in time: a sender that waits for the reply with half of the body sent gets it. */
  maxDiscardedBodyWaitMs: 1000,
  /**
   * How much of a refused body is read and discarded where the connection ends with the reply: the kernel
   * resets a connection that is closed with unread bytes, and the reply is lost.
   */
  maxLingeringBodyBytes: 64 * MiB,
  /** The same in time. */
  maxLingeringMs: 5000,
  /** The request line and all headers of a request. The largest credentials fit, with room for the rest. */
  maxHeaderBytes: 32 * KiB,
  /** Headers of a request, with room for what proxies add. uWebSockets.js has room for as many. */
  maxHeaders: 97,
  /**
   * How long a connection may send nothing between requests, take for the headers of one, or take nothing of
   * a reply. It is what uWebSockets.js has built in.
   */
  httpIdleMs: 10_000,
  /** The pace that a body must keep, on average of `httpIdleMs`. Likewise. */
  minBodyBytesPerSecond: 16 * KiB,
  /** How often `node:http` and what is around it look for connections that are too slow. */
  httpCheckIntervalMs: 1000,
  /** Requests that wait on a connection behind the one under way; they take some KiB each. */
  maxPipelinedRequests: 64,
  /** How long browsers come back by HTTPS alone: a year. */
  hstsMaxAgeSeconds: 31_536_000,
  /** How often the files of the TLS certificate are looked at. */
  tlsCheckIntervalMs: 10_000,
  /** A certificate with its chain, and a key. */
  maxTlsFileBytes: 1 * MiB,
  /**
   * The shortest time between two renderings of `/metrics`, which take some milliseconds each.
   * Requests in between wait.
   */
  metricsIntervalMs: 50,
  /** How often the store adds up the sizes of datasets, where `/metrics` shows them: it reads all parts. */
  datasetMetricsIntervalMs: 60_000,
  /** Datasets that `/metrics` shows one by one, the largest ones: each is two series for Prometheus. */
  maxDatasetMetrics: 200,
  /** `Retry-After` of a 503 if nothing better is known. */
  retryAfterSeconds: 1,
  /** The body of a query: a small JSON document with the query, a time range and a name. */
  maxQueryBodyBytes: 1 * MiB,
  /** Sample events whose schema is requested. */
  maxSampleBodyBytes: 1 * MiB,
  /** An `Authorization` or `X-API-Key` value. Bearer tokens of large providers reach 8 KiB. */
  maxCredentialBytes: 16 * KiB,

  ...identityLimits,
  ...documentLimits,

  // Notifications ----------------------------------------------------------------------------------------
  ...notificationLimits,

  // Tenants ----------------------------------------------------------------------------------------------
  /** All tenants. Each node holds their roles, users, keys and datasets in memory. */
  maxTenants: 1000,
  /** The store uses the name in file names, with three bytes for each `-`. */
  tenantNameMaxLength: 64,

  // Datasets ---------------------------------------------------------------------------------------------
  datasetNameMaxLength: 128,
  /** A century: the store's dates end in 2149. */
  maxRetentionDays: 36_500,
  maxRetentionDescriptionLength: 1000,
  /**
   * Physical columns of one events dataset. Further fields go into one column. A field that has a column can
   * get columns for its other types, so there are at most three times as many.
   */
  maxColumnsPerDataset: 1000,
  /** Fields of a fixed schema: one column each, besides the time. */
  maxStaticFields: 999,
  /** Fields of a dataset whose texts have an index: each makes inserts slower, and parts larger. */
  maxSearchFields: 8,

  ...quotaLimits,
  ...decodingLimits,

  // Write-ahead log --------------------------------------------------------------------------------------
  /** A segment is sealed at this size or age, whichever comes first. */
  walSegmentMaxBytes: 64 * MiB,
  walSegmentMaxAgeMs: 1000,
  /** One record: the blocks of a request and a header. A larger length on disk means corruption. */
  walMaxRecordBytes: 1 * GiB,
  /** Bytes of requests that share one write and one fdatasync. */
  walMaxGroupBytes: 16 * MiB,
  walMaxGroupRecords: 1000,
  /** Preallocated behind a group, as zeros, over which the next ones are written. */
  walMaxPreallocatedBytes: 256 * KiB,
  /**
   * How long a group waits for senders that were just answered. Less than an fdatasync takes that it saves.
   */
  walGroupDelayMs: 1,
  /** All segments together; above it new writes get 503 until the store has taken some. */
  walMaxBytes: 8 * GiB,
  /** How often a log that cannot be written is tried again; until then it refuses requests. */
  walProbeIntervalMs: 1000,
  /** Free disk space that new requests do not get, so that acknowledged data can still move to the store. */
  diskHeadroomBytes: 256 * MiB,
  /** The same on small disks, as a share of the disk. */
  diskHeadroomShare: 0.05,
  diskCheckIntervalMs: 1000,
  /** Blocks of sealed segments that are kept in memory; others are read back from disk when needed. */
  walMaxRetainedBytes: 256 * MiB,

  // Repeated requests ------------------------------------------------------------------------------------
  /** How long a retry of a stored request is recognised. */
  replayWindowMs: 10 * 60_000,
  /**
   * Stored requests that are remembered; the oldest are dropped first. 290 bytes of memory each. Enough for
   * 330 requests per second through the whole window; faster senders retry within seconds.
   */
  replayWindowEntries: 200_000,
  /** An `Idempotency-Key`, unquoted. */
  maxIdempotencyKeyLength: 255,
  /** The whole journal of requests that have left the log; above it the oldest file is removed. */
  maxReplayJournalBytes: 64 * MiB,
  /** A journal file is removed as a whole, so each one takes this fraction of the window and of the bytes. */
  replayJournalParts: 8,

  // Store ------------------------------------------------------------------------------------------------
  /** Connections for queries. Each one runs one query at a time. */
  storeQueryConnections: 4,
  /** By how much reads of changed tables overlap: the store keeps whole seconds. */
  columnWatchOverlapSeconds: 2,
  /**
   * Query connections that a tenant or user with a running query cannot take: this many for users, and as
   * many again for tenants if there are any.
   */
  storeSparedQueryConnections: 1,
  /** Statements of the service itself (schema, metadata) that wait for the one connection that they share. */
  maxQueuedStatements: 1000,
  /** Datasets whose tables are created in one batch. Requests that arrive meanwhile form the next one. */
  maxParallelCreations: 16,
  /** The total length of metadata entries that share an insert. */
  maxMetadataInsertLength: 256 * KiB,
  /** The total length of metadata entries whose values a node that begins reads at once. */
  maxMetadataReadLength: 8 * MiB,
  /** How often each node looks for metadata entries that nobody needs any more. */
  metadataCompactionIntervalMs: 3_600_000,
  /**
   * They are removed when they are this many, or one of them is removable since this time: the store writes
   * its part of the table anew.
   */
  minCompactedEntries: 1000,
  maxCompactionDelayMs: 24 * 3_600_000,
  /**
   * Entries of one record that one compaction removes, and of all but the last record; the next compaction
   * removes more. Their ids are in one statement.
   */
  maxCompactedEntries: 20_000,
  /**
   * Entries of documents are removed at this age at the earliest, and those of the state of alerts, which
   * changes often: what happened can be looked up that long.
   */
  minCompactedDocumentAgeMs: 24 * 3_600_000,
  minCompactedStateAgeMs: 3_600_000,
  /** How long the end of a record is kept, so that a node which could not read for long learns of it. */
  minCompactedEndAgeMs: 30 * 24 * 3_600_000,
  /** The length of a metadata entry besides key and value: the names of a tenant and a node, and two ids. */
  metadataEntryOverhead: 256,
  /**
   * A statement to the store. Adding 1,000 columns with the longest names takes 0.6 MiB, the insert into them
   * three times as much, and a query of the catalog about as much again. ClickHouse's default
   * (`max_query_size`) is 256 KiB.
   */
  maxStatementBytes: 16 * MiB,
  /** A schema or metadata statement fails if the ClickHouse server is silent for this long. */
  storeStatementTimeoutMs: 60_000,
  /** The same for an insert. The server is silent until the insert is on its disk. */
  storeInsertTimeoutMs: 120_000,
  /**
   * How much longer than the query timeout the service waits for an answer: the server's own
   * timeout comes first.
   */
  storeQueryGraceMs: 10_000,
  /** How much of a result is read ahead of the client. */
  storeReadAheadBytes: 256 * KiB,
  /**
   * Unused connections to a server are closed after this time, before the server closes them
   * (3 s in old versions).
   */
  storeIdleConnectionMs: 2500,

  // The embedded engine's process ------------------------------------------------------------------------
  /**
   * The JavaScript heap of the engine's process: statements and small results. The engine has memory of its
   * own.
   */
  engineHeapMiB: 256,
  /**
   * libuv threads: each running statement takes one (a service statement, inserts, queries), and one is
   * spare.
   */
  engineThreads: 8,
  /** Freed pieces of the engine's memory from this size on are returned to the system at once. */
  engineReturnedBytes: 16 * MiB,
  /** How often the engine's event loop is pinged, and the silence after which the process is killed. */
  engineHeartbeatMs: 2000,
  engineSilenceMs: 20_000,
  /**
   * A statement of the service or an insert that takes longer hangs: the process is killed, and another one
   * started. Statements and inserts take some seconds at most. A server has bounds of its own for that.
   */
  engineStuckStatementMs: 5 * 60_000,
  /**
   * How long the engine has to close its tables. A kill does no harm: the next start repairs what it left.
   */
  engineCloseMs: 5000,
  /** How long a start waits for the engine process of a killed service to end. */
  engineLockWaitMs: 10_000,
  /**
   * An engine that ends sooner than this after it opened counts as a failed start. After the first failure it
   * is restarted at once.
   */
  engineStableMs: 60_000,
  engineBackoffMinMs: 500,
  engineBackoffMaxMs: 30_000,
  /** Characters of stderr that are shown when the process ends. */
  engineStderrLength: 4000,
  /** How long a start waits for the store; after that the service starts without it. */
  storeStartWaitMs: 5000,
  /** How often the store is checked, and how often while it is down. */
  storeCheckIntervalMs: 5000,
  storeProbeIntervalMs: 300,
  ...insertLimits,
  /** How long a stop waits for requests in progress. */
  shutdownRequestsMs: 10_000,
  /**
   * How long a stop waits for the drain. What is left stays in the log and is inserted after the next start.
   */
  shutdownDrainMs: 10_000,
  /** How long a query waits for a dataset whose first rows are acknowledged but not inserted yet. */
  freshDatasetWaitMs: 5000,

  ...queryLimits,
  ...tailLimits,

  // Alerts -----------------------------------------------------------------------------------------------
  ...alertLimits,
  ...pgwireLimits,

  // Threads ----------------------------------------------------------------------------------------------
  /** libuv's thread pool runs file writes, fdatasync and password hashes; some of these wait for the disk. */
  threadPoolSize: 8,
  /** An event loop that is blocked for this long is stuck: requests block it for milliseconds only. */
  watchdogMs: 30_000,
} as const;

const relations: ReadonlyArray<readonly [boolean, string]> = [
  [limits.maxInflightBodyBytes >= 2 * limits.maxBodyBytes, 'a tenant can send the largest body'],
  [limits.maxHeaderBytes >= 2 * limits.maxCredentialBytes, 'the largest credentials fit the headers'],
  [limits.maxDenialLinesPerSecondInAll >= limits.maxDenialLinesPerSecond, 'all may say what one may'],
  [limits.maxWaitingAuditRows > limits.maxWaitingDenialRows, 'changes have rows of their own'],
  [limits.walMaxRecordBytes >= 4 * limits.maxBodyBytes, 'the blocks of the largest body fit a record'],
  [
    limits.walMaxRecordBytes >= limits.maxInflatedBlockBytes + 4 * limits.maxBodyBytes,
    'the blocks of the sparsest body fit a record',
  ],
  [
    limits.maxStatementBytes >= limits.maxStoreSqlBytes + 2 * limits.maxCatalogSqlLength + 64 * KiB,
    'queries of the catalog fit a statement',
  ],
  [limits.storeQueryConnections > 2 * limits.storeSparedQueryConnections, 'a user can have two connections'],
  [
    limits.maxPendingChecks > 2 * limits.maxPendingPasswordChecks,
    'clients, and not all, are refused passwords',
  ],
  [
    limits.maxPendingChecksPerClient > 2 * limits.maxPendingPasswordChecks,
    'passwords are refused by their own turns',
  ],
  [
    limits.maxPendingKeyDerivations >= limits.pgMaxUnauthenticated,
    'a client that signs in has a place among those whose keys are derived',
  ],
  [limits.walMaxBytes >= 4 * limits.walSegmentMaxBytes, 'the log holds several segments'],
  [limits.maxReplayJournalBytes >= limits.replayWindowEntries * 256, 'the journal holds what memory does'],
  [
    limits.lowVolumeFlushIntervalMs >= limits.walSegmentMaxAgeMs,
    'low-volume tables wait for more than a segment',
  ],
  [limits.walMaxRetainedBytes >= limits.walSegmentMaxBytes, 'a segment fits in memory'],
  [(limits.decodeOutcomeWindow & (limits.decodeOutcomeWindow - 1)) === 0, 'the window is a power of two'],
  [
    limits.decodeOutcomeWindow > 2 * limits.maxQueuedDecodes,
    'the outcome window covers all requests under way',
  ],
  [
    limits.engineThreads > limits.storeQueryConnections + limits.embeddedInsertConnections + 1,
    'each statement of the embedded engine has a thread',
  ],
];
for (const [holds, what] of relations) if (!holds) throw new Error(`BUG: limits: ${what}`);
