import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { AppError } from '../errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { quoteString } from '../lib/quote.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { InsertBatch, SelectFormat, SelectOptions, Store } from './store.ts';

/** How statements and batches get to ClickHouse: all in which embedded and remote differ. */
export interface Transport {
  /**
   * Runs a statement; its whole output.
   * @param signal a transport that can leave a running statement alone does so when it is aborted
   */
  execute(client: ClickHouseClient, statement: string, signal?: AbortSignal): Promise<Uint8Array>;
  /** Writes the Native blocks of a batch. */
  insert(client: ClickHouseClient, batch: InsertBatch, signal?: AbortSignal): Promise<void>;
}

export interface StoreParts {
  /** One connection: schema changes and metadata run in the order in which they were asked for. */
  readonly statements: ConnectionPool;
  readonly inserts: ConnectionPool;
  readonly queries: ConnectionPool;
  readonly transport: Transport;
  readonly metrics: Metrics;
  readonly log: Logger;
}

export class ClickHouseStore implements Store {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async command(statement: string): Promise<void> {
    const { statements, transport } = this.#parts;
    await statements.run((client) => transport.execute(client, statement));
  }

  async select(query: string, format: SelectFormat, options: SelectOptions = {}): Promise<Uint8Array> {
    const { queries, transport, metrics } = this.#parts;
    const { signal } = options;
    // A name for the running query, by which it can be cancelled from another connection.
    const comment = `millrace-${randomUUID()}`;
    const settings = { ...options.settings, log_comment: comment };
    const statement = `${query}\nFORMAT ${format}\nSETTINGS ${renderSettings(settings)}`;
    const work = queries.run(async (client) => {
      if (isAborted(signal)) throw cancelled();
      const kill = () => this.#kill(comment);
      signal?.addEventListener('abort', kill, { once: true });
      const stop = metrics.queryDuration.startTimer();
      try {
        return await transport.execute(client, statement, signal);
      } catch (thrown) {
        throw isAborted(signal) ? cancelled() : thrown;
      } finally {
        stop();
        signal?.removeEventListener('abort', kill);
      }
    });
    metrics.queryQueue.set(queries.waiting);
    try {
      return await work;
    } finally {
      metrics.queryQueue.set(queries.waiting);
    }
  }

  async insert(batch: InsertBatch, signal?: AbortSignal): Promise<void> {
    const { inserts, transport } = this.#parts;
    await inserts.run((client) => transport.insert(client, batch, signal));
  }

  async close(): Promise<void> {
    const { statements, inserts, queries } = this.#parts;
    await Promise.all([statements.close(), inserts.close(), queries.close()]);
  }

  /**
   * Stops a running query; its own promise then rejects. ASYNC, because the embedded engine never returned
   * from KILL QUERY … SYNC. One that has ended already is no error; one that can't be stopped runs into its
   * time limit.
   */
  #kill(comment: string): void {
    this.command(`KILL QUERY WHERE Settings['log_comment'] = ${quoteString(comment)} ASYNC`).catch(
      (error) => {
        this.#parts.log.warn({ err: error }, 'a query whose client went away could not be cancelled');
      },
    );
  }
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted ?? false;
const cancelled = (): AppError => new AppError('query_cancelled', 'the client went away');

export const renderSettings = (settings: Readonly<Record<string, string | number>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : quoteString(value)}`)
    .join(', ');
