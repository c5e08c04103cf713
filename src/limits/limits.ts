/**
 * Every bound of the program, with its unit and its reason. Nothing grows without one of these.
 *
 * Those that an operator may want to change are defaults of a configuration option (`config.ts`); the rest
 * are fixed. What must hold between them is asserted when this module loads.
 */

import { decodingLimits } from './decoding-limits.ts';
import { identityLimits } from './identity-limits.ts';
import { insertLimits } from './insert-limits.ts';
import { queryLimits } from './query-limits.ts';
import { quotaLimits } from './quota-limits.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

export const limits = {
  // HTTP -------------------------------------------------------------------------------------------------
  /** One request body, as sent and again after decompression. OTLP collectors send up to a few MiB. */
  maxBodyBytes: 64 * MiB,
  /** Bodies received and not yet acknowledged, all requests together; above it new ones get 503. */
  maxInflightBodyBytes: 256 * MiB,
  /** Open connections; further ones get 503. Each takes some KiB here and in the kernel. */
  maxConnections: 10_000,
  /** The same as a part of the files that the process may have open, so that the log gets its own. */
  maxConnectionsShare: 0.5,
  /** Of a chunked body that is refused while it comes: so much is let in, so that its sender sees the reply. */
  maxDiscardedBodyBytes: 1 * MiB,
  /** The same in time: one who waits for the reply with half of a body sent gets it. */
  maxDiscardedBodyWaitMs: 1000,
  /**
   * A body that is refused while it comes, on a connection that ends with the reply: so much is let in before that, since the
   * kernel resets a connection that ends with unread bytes, and the reply is lost with it.
   */
  maxLingeringBodyBytes: 64 * MiB,
  /** The same in time: half of what a request may wait for its reply while others are served at their bounds. */
  maxLingeringMs: 5000,
  /** The request line and all headers of one request. Holds the largest credentials with room for the rest. */
  maxHeaderBytes: 32 * KiB,
  /** Between two texts of `/metrics`, which take some milliseconds each. Who asks meanwhile waits for the next. */
  metricsIntervalMs: 50,
  /** `Retry-After` of a 503 when nothing better is known. */
  retryAfterSeconds: 1,
  /** A SQL request is a small JSON document: the query, a range, a name. */
  maxQueryBodyBytes: 1 * MiB,
  /** Events of which somebody wants to know the schema. */
  maxSampleBodyBytes: 1 * MiB,
  /** One `Authorization` or `X-API-Key` value. Bearer tokens of large providers reach 8 KiB. */
  maxCredentialBytes: 16 * KiB,

  ...identityLimits,

  // Tenants ----------------------------------------------------------------------------------------------
  /** In all. Each node holds their roles, users, keys and datasets in memory. */
  maxTenants: 1000,
  /** The store names files after them, with three bytes for each `-`. */
  tenantNameMaxLength: 64,

  // Datasets ---------------------------------------------------------------------------------------------
  datasetNameMaxLength: 128,
  /** A century: the store's dates end in 2149. */
  maxRetentionDays: 36_500,
  maxRetentionDescriptionLength: 1000,
  /**
   * Physical columns of one events dataset. Fields beyond that go into one column; those that have a column
   * get further ones for their other types, so that there are thrice as many at most.
   */
  maxColumnsPerDataset: 1000,
  /** Fields of a fixed schema: a column each, beside the time. */
  maxStaticFields: 999,

  ...quotaLimits,
  ...decodingLimits,

  // Write-ahead log --------------------------------------------------------------------------------------
  /** A segment is sealed at this size or age, whichever comes first. It is the insert batch. */
  walSegmentMaxBytes: 64 * MiB,
  walSegmentMaxAgeMs: 1000,
  /** One record: a request's blocks and its header. Longer lengths on disk mean corruption. */
  walMaxRecordBytes: 1 * GiB,
  /** Requests that share one write and one fdatasync. */
  walMaxGroupBytes: 16 * MiB,
  walMaxGroupRecords: 1000,
  /** Zeros written behind a group, over which the next ones are written. */
  walMaxRoomBytes: 256 * KiB,
  /** How long a group waits for senders that were just answered. Less than an fdatasync takes that it saves. */
  walGatherMs: 1,
  /** All segments together; above it new writes get 503 until the store has taken some. */
  walMaxBytes: 8 * GiB,
  /** A log that could not be written refuses requests and tries this often whether it can be written again. */
  walProbeIntervalMs: 1000,
  /** Room on the disk that new requests do not get, so that what was acknowledged can move on to the store. */
  diskHeadroomBytes: 256 * MiB,
  /** The same on small disks, as a part of the whole. */
  diskHeadroomShare: 0.05,
  diskCheckIntervalMs: 1000,
  /** Blocks of sealed segments held in memory; beyond it they are read back from disk when needed. */
  walMaxRetainedBytes: 256 * MiB,

  // Repeated requests ------------------------------------------------------------------------------------
  /** How long a sender's repetition of a stored request is recognised. */
  replayWindowMs: 10 * 60_000,
  /**
   * Stored requests remembered, the oldest forgotten first; 290 bytes of memory each. Enough for 330 requests a
   * second through the whole window; senders that are faster than that retry within seconds.
   */
  replayWindowEntries: 200_000,
  /** An `Idempotency-Key`, unquoted. */
  maxIdempotencyKeyLength: 255,
  /** All of the journal of requests that have left the log; above it the oldest file goes. */
  maxReplayJournalBytes: 64 * MiB,
  /** A journal file is removed as a whole, so each takes this part of the window and of the bytes. */
  replayJournalParts: 8,

  // Store ------------------------------------------------------------------------------------------------
  /** Connections for queries. Each runs one query at a time. */
  storeQueryConnections: 4,
  /** By how much questions for tables that have changed overlap: the store keeps whole seconds. */
  columnWatchOverlapSeconds: 2,
  /**
   * Of these, who has a query running cannot take so many, however many queries they send: for users, and where there are
   * tenants, as many again for them.
   */
  storeSparedQueryConnections: 1,
  /** Statements of the service itself (schema, metadata) that wait for the one connection they share. */
  maxQueuedStatements: 1000,
  /** Datasets whose tables are made at the same time. Those of other datasets change meanwhile; these share what they can. */
  maxParallelCreations: 16,
  /** Entries of the metadata log that are appended at the same time share an insert, up to this length in all. */
  maxMetadataInsertLength: 256 * KiB,
  /** What an entry has beside its key and its value: names of a tenant and a node, two ids. */
  metadataEntryOverhead: 256,
  /**
   * A statement to the store. Adding 1,000 columns with the longest names takes 0.6 MiB, and the insert into
   * them thrice as much, and a query of the catalog as much as it may write; ClickHouse's own bound (`max_query_size`)
   * would be 256 KiB.
   */
  maxStatementBytes: 16 * MiB,
  /** A ClickHouse server's silence after which a statement of the service (schema, metadata) has failed. */
  storeStatementTimeoutMs: 60_000,
  /** The same for an insert, which is silent until it is on the server's disk. */
  storeInsertTimeoutMs: 120_000,
  /** How much longer than a query may run its answer is waited for: the server's own bound comes first. */
  storeQueryGraceMs: 10_000,
  /** Of a result on its way from a server to a client, read before the client takes it. */
  storeReadAheadBytes: 256 * KiB,
  /** Unused connections to a server are closed after this long, well before a server closes them (3 s, once). */
  storeIdleConnectionMs: 2500,

  // The embedded engine's process ------------------------------------------------------------------------
  /** Of its JavaScript: statements and small results on their way; the engine has memory of its own. */
  engineHeapMiB: 256,
  /** Each statement that runs has a thread of libuv: one of the service, inserts, queries; and one to spare. */
  engineThreads: 8,
  /** Memory of the engine that is freed in pieces of this size goes back to the system at once. */
  engineReturnedBytes: 16 * MiB,
  /** How often its event loop is asked for a sign of life, and the silence after which it is killed. */
  engineHeartbeatMs: 2000,
  engineSilenceMs: 20_000,
  /** How long it has for closing its tables. A kill harms nothing, since a start repairs what it leaves. */
  engineCloseMs: 5000,
  /** How long a start waits for an engine process of a service that was killed: it ends at once, if the kernel lets it. */
  engineLockWaitMs: 10_000,
  /** One that ends sooner than this after it opened counts as a failed start. The first such is started at once. */
  engineStableMs: 60_000,
  engineBackoffMinMs: 500,
  engineBackoffMaxMs: 30_000,
  /** Of what it wrote on stderr, shown when it ends. */
  engineStderrLength: 4000,
  /** How long a start waits for the store; beyond it the service starts without. */
  storeStartWaitMs: 5000,
  /** How often the store is asked for a sign of life, and how often while it gives none. */
  storeCheckIntervalMs: 5000,
  storeProbeIntervalMs: 300,
  ...insertLimits,
  /** How long a stop waits for requests under way. */
  shutdownRequestsMs: 10_000,
  /** How long a stop waits for the log to be inserted. What is left stays in the log, safely. */
  shutdownDrainMs: 10_000,
  /** How long a query waits for a dataset that was acknowledged and is not inserted yet. */
  freshDatasetWaitMs: 5000,

  ...queryLimits,

  // Threads ----------------------------------------------------------------------------------------------
  /** libuv's pool runs file writes, fdatasync and password hashes, of which some wait for the disk. */
  threadPoolSize: 8,
  /** An event loop without a turn for so long never gets one: what clients can make it do takes milliseconds. */
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
  [limits.walMaxBytes >= 4 * limits.walSegmentMaxBytes, 'the log holds several segments'],
  [limits.maxReplayJournalBytes >= limits.replayWindowEntries * 256, 'the journal holds what memory does'],
  [limits.quietFlushIntervalMs >= limits.walSegmentMaxAgeMs, 'quiet tables wait for more than a segment'],
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
