import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { errorText } from '../../errors.ts';
import { abortSignalOf } from '../../lib/cancellation.ts';
import type { ClickHouseAddress } from '../../lib/clickhouse-url.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { quoteIdentifier } from '../../lib/quote.ts';
import { limits } from '../../limits/limits.ts';
import { ClickHouseStore } from '../clickhouse-store.ts';
import { ConnectionPool, type SparedConnections } from '../connection-pool.ts';
import { namedInsert } from '../insert-settings.ts';
import { QueryMemory } from '../query-memory.ts';
import { renderSettings, statementSettings } from '../statement-settings.ts';
import type { InsertBatch, ResultStore, Store } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { endingOf, type Transport } from '../transport.ts';
import { readReply, streamReply } from './http-reply.ts';

export interface RemoteStoreOptions {
  readonly address: ClickHouseAddress;
  /** How long a query may run. */
  readonly queryTimeoutMs: number;
  /** What all queries of this service together may use. */
  readonly queryMemoryBytes?: number;
  /** Silence after which an insert has failed. */
  readonly insertTimeoutMs?: number;
  /** See `ConnectionPoolOptions`. */
  readonly sparedQueryConnections?: SparedConnections | undefined;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/**
 * A ClickHouse server, over its HTTP interface. Nothing is sent until the first statement: a server that is
 * down does not keep this from opening.
 * @throws Error when a certificate or key cannot be read
 */
export function openRemoteStore(options: RemoteStoreOptions): Store & ResultStore {
  const { address, queryTimeoutMs, metrics, log } = options;
  const { insertTimeoutMs = limits.storeInsertTimeoutMs, sparedQueryConnections } = options;
  const { queryMemoryBytes = limits.queryMemoryFactor * limits.queryMaxMemoryBytes } = options;
  const tls = readTls(address.tls);
  // Each connection of a pool runs one statement at a time, so it needs one socket.
  const connect = (requestTimeoutMs: number) => () =>
    createClient({
      url: address.origin,
      username: address.username,
      password: address.password,
      ...(address.database === undefined ? {} : { database: address.database }),
      ...(tls === undefined ? {} : { tls }),
      application: 'millrace',
      // Level 1: 28 MB of samples become 3.8 MB for 60 ms of CPU. Zlib's own level makes 3.6 MB of it for 490
      // ms, and sending it as it is costs 7 ms.
      compression: { request: address.compressRequests ? { codec: 'gzip', level: 1 } : false },
      request_timeout: requestTimeoutMs,
      max_open_connections: 1,
      keep_alive: { idle_socket_ttl: limits.storeIdleConnectionMs, eagerly_destroy_stale_sockets: true },
      // Failures are thrown. The caller, which knows what they mean, logs them.
      log: { level: ClickHouseLogLevel.OFF },
    });
  const maxWaiting = limits.maxQueuedStatements;
  return new ClickHouseStore({
    statements: new ConnectionPool(connect(limits.storeStatementTimeoutMs), { connections: 1, maxWaiting }),
    inserts: new ConnectionPool(connect(insertTimeoutMs), {
      connections: limits.maxParallelInserts,
      maxWaiting,
    }),
    queries: new ConnectionPool(connect(queryTimeoutMs + limits.storeQueryGraceMs), {
      connections: limits.storeQueryConnections,
      maxWaiting: limits.maxQueuedQueries,
      spared: sparedQueryConnections,
    }),
    transport: httpTransport(address.origin),
    memory: new QueryMemory({
      totalBytes: queryMemoryBytes,
      queries: limits.storeQueryConnections,
      maxWaiting: limits.maxQueuedQueries,
    }),
    metrics,
    log,
  });
}

function readTls(tls: ClickHouseAddress['tls']) {
  if (tls === undefined) return undefined;
  const ca_cert = readFileSync(tls.caFile);
  if (tls.client === undefined) return { ca_cert };
  return { ca_cert, cert: readFileSync(tls.client.certFile), key: readFileSync(tls.client.keyFile) };
}

function httpTransport(origin: string): Transport<ClickHouseClient> {
  const unanswered = (thrown: unknown): StoreError =>
    thrown instanceof StoreError
      ? thrown
      : new StoreError(`no answer from ClickHouse at ${origin}: ${reasonOf(thrown)}`, undefined, thrown);
  /** Sends a statement, with or without data after it, and reads the whole answer. */
  const send = async (
    client: ClickHouseClient,
    request: { query: string; values?: Readable },
    settings: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> => {
    try {
      const reply = await client.exec({
        ...request,
        clickhouse_settings: { ...settings, ...statementSettings },
        ignore_error_response: true,
        ...(signal === undefined ? {} : { abort_signal: signal }),
      });
      return await readReply(reply, signal);
    } catch (thrown) {
      throw unanswered(thrown);
    }
  };
  return {
    sendsSmallResultsWhole: false,
    execute: (client, statement) => send(client, { query: statement }, {}, undefined),
    async *stream(client, statement, { kill, signal }) {
      let ended = false;
      try {
        const reply = await client.exec({
          query: `${statement.query}\n${endingOf(statement)}`,
          clickhouse_settings: statementSettings,
          ignore_error_response: true,
          abort_signal: abortSignalOf(signal),
        });
        const progress = yield* streamReply(reply, signal);
        ended = true;
        return progress;
      } catch (thrown) {
        ended = thrown instanceof StoreError && thrown.clickHouseCode !== undefined;
        throw unanswered(thrown);
      } finally {
        // The server goes on with a query whose reader has left.
        if (!ended) kill();
      }
    },
    insert: async (client, batch, signal) => {
      // The statement is at the start of the body, since a URL cannot hold one with a thousand columns. The
      // client puts `query` into the URL unless it is empty.
      const body = Readable.from([Buffer.from(insertStatement(batch)), ...batch.blocks]);
      await send(client, { query: '', values: body }, insertReply, signal);
    },
  };
}

/** The server answers when the insert has ended, so that the status of the answer tells how. */
const insertReply = { wait_end_of_query: '1' } as const;

function insertStatement(batch: InsertBatch): string {
  const table = `${quoteIdentifier(batch.database)}.${quoteIdentifier(batch.table)}`;
  const names = batch.columns.map((column) => quoteIdentifier(column.name)).join(', ');
  // A server's profile might say otherwise.
  const settings = renderSettings({ ...namedInsert(batch.token), deduplicate_insert: 'enable' });
  return `INSERT INTO ${table} (${names}) SETTINGS ${settings} FORMAT Native\n`;
}

/** Node.js collects the failures of a host's addresses in an error without a message of its own. */
const reasonOf = (thrown: unknown): string =>
  thrown instanceof AggregateError ? thrown.errors.map(errorText).join('; ') : errorText(thrown);
