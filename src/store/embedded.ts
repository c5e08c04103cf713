import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type ClickHouseClient, type ClickHouseClientConfigOptions, createClient } from '@clickhouse/client';
import { createChdbConnection } from 'chdb/connection';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { limits } from '../limits.ts';
import { ClickHouseStore } from './clickhouse-store.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { OpenEngine } from './engine-thread.ts';
import { StoreError } from './errors.ts';
import { namedInsert } from './insert-settings.ts';
import { NamedPipes } from './named-pipe.ts';
import { pipeStream } from './pipe-stream.ts';
import { querySettings, renderSettings, statementSettings } from './statement-settings.ts';
import type { InsertBatch, ResultStore, Store } from './store.ts';
import { repairTokens } from './token-repair.ts';
import { endingOf, type Transport } from './transport.ts';

type Connection = NonNullable<ClickHouseClientConfigOptions['connection']>;

export interface EmbeddedOptions {
  /** See `ConnectionPoolOptions`. */
  readonly sparedQueryConnections?: number;
  /** Without it, the first connection opens the engine, and nothing else happens in the process until it has. */
  readonly openEngine?: ((engine: string) => Promise<OpenEngine>) | undefined;
}

const openHere = async (): Promise<OpenEngine> => ({ close: async () => {} });

/**
 * Opens the ClickHouse engine inside this process (chDB) on a data directory of its own.
 *
 * One process may have one such directory, with several connections that each run one statement at a time.
 * @param directory made if missing; `engine/` in it belongs to ClickHouse, `tmp/` to the inserter
 */
export async function openEmbeddedStore(
  directory: string,
  metrics: Metrics,
  log: Logger,
  { sparedQueryConnections = 0, openEngine = openHere }: EmbeddedOptions = {},
): Promise<Store & ResultStore> {
  const engine = join(directory, 'engine');
  const temporary = join(directory, 'tmp');
  await mkdir(engine, { recursive: true });
  // What a crash left there belongs to inserts that the log will repeat.
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true });
  const pipes = new NamedPipes(temporary);
  await pipes.prepare();
  await repairTokens(engine, log);
  const opened = await openEngine(engine);
  const engines = new WeakMap<ClickHouseClient, Engine>();
  const connect = () => {
    const connection = createChdbConnection({ path: engine });
    // Both packages declare this interface, each in its own copy of the client's types: same shape, other names.
    const client = createClient({ connection: connection as unknown as Connection });
    engines.set(client, connection.chdb);
    return client;
  };
  const runShort = shortWay(engines);
  return new ClickHouseStore({
    statements: new ConnectionPool(connect, { connections: 1, maxWaiting: limits.maxQueuedStatements }),
    inserts: new ConnectionPool(connect, {
      connections: limits.embeddedInsertConnections,
      maxWaiting: limits.maxQueuedStatements,
    }),
    queries: new ConnectionPool(connect, {
      connections: limits.storeQueryConnections,
      maxWaiting: limits.maxQueuedQueries,
      spared: sparedQueryConnections,
    }),
    transport: {
      execute,
      stream: pipeStream(pipes),
      hold: (client, statement) => runShort(client, `${statement.query}\n${endingOf(statement)}`),
      insert: fileInsert(temporary, runShort),
    },
    onClosed: () => opened.close(),
    metrics,
    log,
  });
}

type Engine = ReturnType<typeof createChdbConnection>['chdb'];

/** Runs a statement, whose whole output is made before it answers. */
type Run = (client: ClickHouseClient, text: string) => Promise<Uint8Array>;

/**
 * Without the file that the engine writes into otherwise, and all that reads from it; and where the statement needs
 * nothing of the client, without the client and a statement that only sets something, which cost 0.2 and 0.3 ms.
 */
function shortWay(engines: WeakMap<ClickHouseClient, Engine>): Run {
  return async (client, text) => {
    const settings = querySettings(text);
    const engine = settings.clickhouse_settings === undefined ? engines.get(client) : undefined;
    if (engine !== undefined) return (await engine.queryAsync(text)).bytes();
    return await wholeOf(await client.exec({ query: text, ...settings }));
  };
}

/** The engine has made the whole output by the time it answers. `max_query_size` stays set, which is meant. */
async function execute(client: ClickHouseClient, statement: string): Promise<Uint8Array> {
  return await wholeOf(await client.exec({ query: statement, clickhouse_settings: statementSettings }));
}

async function wholeOf({ stream }: { readonly stream: Readable }): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const only = chunks[0];
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
}

/**
 * The engine takes binary data from files only: the blocks go to a temporary file, which the insert names. Blocks with
 * different columns can follow each other in it; what one lacks is the column's default. This costs one write to the page
 * cache and is the fastest way in that was measured: a SELECT from `file()` makes the same parts under the same token, and
 * takes 1.3 ms of CPU more (100 rows: 8.6 instead of 7.3).
 */
function fileInsert(temporary: string, run: Run): Transport['insert'] {
  let count = 0;
  return async (client, batch) => {
    count += 1;
    const path = join(temporary, `${count}.native`);
    try {
      await writeWhole(path, batch.blocks);
      await run(client, insertStatement(batch, path));
    } finally {
      await rm(path, { force: true });
    }
  };
}

/** @throws StoreError retryable, if the disk took only a part: it does so without an error when it fills up */
async function writeWhole(path: string, blocks: readonly Uint8Array[]): Promise<void> {
  const byteLength = blocks.reduce((sum, block) => sum + block.byteLength, 0);
  const file = await open(path, 'w');
  try {
    const { bytesWritten } = await file.writev([...blocks]);
    if (bytesWritten === byteLength) return;
    const message = `the disk of the embedded engine took ${bytesWritten} of ${byteLength} bytes of a batch`;
    throw new StoreError(message, undefined, undefined);
  } finally {
    await file.close();
  }
}

function insertStatement(batch: InsertBatch, path: string): string {
  const names = batch.columns.map((column) => quoteIdentifier(column.name)).join(', ');
  const table = `${quoteIdentifier(batch.database)}.${quoteIdentifier(batch.table)}`;
  const settings = renderSettings(namedInsert(batch.token));
  return `INSERT INTO ${table} (${names}) FROM INFILE ${quoteString(path)} SETTINGS ${settings} FORMAT Native`;
}
