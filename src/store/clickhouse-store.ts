import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { AppError } from '../errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { quoteString } from '../lib/quote.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { InsertBatch, SelectFormat, SelectOptions, Store } from './store.ts';

/** How a batch of Native blocks gets into a table: the one thing in which embedded and remote differ. */
export type InsertMethod = (client: ClickHouseClient, batch: InsertBatch) => Promise<void>;

export interface StoreParts {
  /** One connection: schema changes and metadata run in the order in which they were asked for. */
  readonly statements: ConnectionPool;
  readonly inserts: ConnectionPool;
  readonly queries: ConnectionPool;
  readonly insert: InsertMethod;
  readonly metrics: Metrics;
  readonly log: Logger;
}

export class ClickHouseStore implements Store {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async command(statement: string): Promise<void> {
    await this.#parts.statements.run((client) => client.command({ query: statement }));
  }

  async select(query: string, format: SelectFormat, options: SelectOptions = {}): Promise<Uint8Array> {
    const { queries, metrics } = this.#parts;
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
        const { stream } = await client.exec({ query: statement });
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk);
        const only = chunks[0];
        return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
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

  async insert(batch: InsertBatch): Promise<void> {
    await this.#parts.inserts.run((client) => this.#parts.insert(client, batch));
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
