import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { quoteIdentifier, quoteString } from '../../lib/quote.ts';
import { limits } from '../../limits/limits.ts';
import { ClickHouseStore } from '../clickhouse-store.ts';
import { ConnectionPool, type SparedConnections } from '../connection-pool.ts';
import { namedInsert } from '../insert-settings.ts';
import { QueryMemory } from '../query-memory.ts';
import { renderSettings, statementSettings } from '../statement-settings.ts';
import type { InsertBatch, ResultStore, Store } from '../store.ts';
import { StoreError } from '../store-error.ts';
import type { Transport } from '../transport.ts';
import { allocatorSettings } from './allocator.ts';
import { Engine, type EngineConnection } from './embedded-engine.ts';
import { engineStream } from './engine-stream.ts';
import { NamedPipes } from './named-pipe.ts';
import { repairTokens } from './token-repair.ts';

export interface EmbeddedOptions {
  /** See `ConnectionPoolOptions`. */
  readonly sparedQueryConnections?: SparedConnections | undefined;
  /** What all queries together may use. */
  readonly queryMemoryBytes?: number;
  /** Where BACKUP may write and RESTORE may read; nowhere unless given. */
  readonly backupDirectory?: string | undefined;
  /** Of the engine's process, all of it. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The built `workers/engine.ts`. */
  readonly engineScript?: URL;
  /** What statements of the service and inserts may take before the engine is started again. */
  readonly stuckStatementMs?: number;
}

/**
 * Opens the ClickHouse engine (chDB), in a process of its own, on a data directory of its own.
 * @param directory made if missing; `engine/` in it belongs to ClickHouse, `tmp/` to the inserter,
 *   `engine.lock` names the process that has it
 */
export async function openEmbeddedStore(
  directory: string,
  metrics: Metrics,
  log: Logger,
  {
    sparedQueryConnections,
    queryMemoryBytes = limits.queryMemoryFactor * limits.queryMaxMemoryBytes,
    backupDirectory,
    environment = {},
    engineScript = builtScript,
    stuckStatementMs = limits.engineStuckStatementMs,
  }: EmbeddedOptions = {},
): Promise<Store & ResultStore> {
  const folder = join(directory, 'engine');
  const temporary = join(directory, 'tmp');
  await mkdir(folder, { recursive: true });
  // What a crash left there belongs to inserts that the log will repeat.
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true });
  const pipes = new NamedPipes(temporary);
  await pipes.prepare();
  const engine = await Engine.open({
    script: engineScript,
    arguments: {
      directory: folder,
      lockFile: join(directory, 'engine.lock'),
      lockWaitMs: limits.engineLockWaitMs,
      settings: {
        ...statementSettings,
        ...allocatorSettings,
        ...(backupDirectory === undefined ? {} : { 'backups.allowed_path': backupDirectory }),
      },
    },
    environment,
    prepare: () => repairTokens(folder, log),
    metrics,
    log,
  });
  const connect = () => engine.connect();
  /**
   * A statement that hangs would keep its connection for ever, and with it all statements of the service, or
   * all inserts into a table. What became of an insert is not known then: it is sent again with its token.
   */
  const runBounded = async (client: EngineConnection, statement: string): Promise<Uint8Array> => {
    const timer = setTimeout(() => {
      log.error({ stuckStatementMs }, 'a statement of the service does not end; the engine is ended');
      engine.replace('stuck_statement');
    }, stuckStatementMs);
    try {
      return await client.run(statement);
    } finally {
      clearTimeout(timer);
    }
  };
  return new ClickHouseStore<EngineConnection>({
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
      execute: runBounded,
      stream: engineStream(pipes),
      sendsSmallResultsWhole: true,
      insert: fileInsert(temporary, runBounded),
    },
    memory: new QueryMemory({
      totalBytes: queryMemoryBytes,
      queries: limits.storeQueryConnections,
      maxWaiting: limits.maxQueuedQueries,
    }),
    endStuckQuery: () => engine.replace('stuck_query'),
    onClosed: () => engine.close(),
    metrics,
    log,
  });
}

const builtScript = new URL('../../../workers/engine.js', import.meta.url);

/**
 * The engine takes binary data from files only: the blocks go to a temporary file, which the insert names.
 * Blocks with different columns can follow each other in it; what one lacks is the column's default. This
 * costs one write to the page cache and is the fastest way in that was measured: a SELECT from `file()` makes
 * the same parts under the same token, and takes 1.3 ms of CPU more (100 rows: 8.6 instead of 7.3).
 */
function fileInsert(
  temporary: string,
  run: (client: EngineConnection, statement: string) => Promise<unknown>,
): Transport<EngineConnection>['insert'] {
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

/**
 * @throws StoreError retryable, if the disk took only a part: it does so without an error when it fills up
 */
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
