import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { quoteString } from '../lib/quote.ts';
import type { Connection, ConnectionPool } from './connection-pool.ts';
import type { QueryMemory } from './query-memory.ts';
import { QueryPauses } from './query-pauses.ts';
import { QueryStream } from './query-stream.ts';
import type { InsertBatch, ResultStore, ResultStream, SelectFormat, Store, StreamOptions } from './store.ts';
import type { Transport } from './transport.ts';

export interface StoreParts<Client extends Connection> {
  /** One connection: statements of the service run in order and never wait for a query of a client. */
  readonly statements: ConnectionPool<Client>;
  readonly inserts: ConnectionPool<Client>;
  readonly queries: ConnectionPool<Client>;
  readonly transport: Transport<Client>;
  /** The memory of client queries. */
  readonly memory: QueryMemory;
  /**
   * Kills a query that continues after it was cancelled, with everything else in the engine. Set only where
   * that is possible.
   */
  readonly endStuckQuery?: () => void;
  /** Releases what the connections needed. */
  readonly onClosed?: () => Promise<void>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

export class ClickHouseStore<Client extends Connection> implements Store, ResultStore {
  readonly #parts: StoreParts<Client>;
  readonly #pauses = new QueryPauses(systemClock);

  constructor(parts: StoreParts<Client>) {
    this.#parts = parts;
  }

  async command(statement: string): Promise<void> {
    const { statements, transport } = this.#parts;
    await statements.run((client) => transport.execute(client, statement));
  }

  async select(query: string, format: SelectFormat, tenant = ''): Promise<Uint8Array> {
    const { statements, transport } = this.#parts;
    const statement = `${query}\nFORMAT ${format}`;
    return await statements.run((client) => transport.execute(client, statement), { tenant, user: '' });
  }

  stream(
    query: string,
    { id, party: tenant, user = '', format, maxRows, leavesLargeShare, settings, signal }: StreamOptions,
  ): ResultStream {
    const statement = { query, format, settings, id };
    const who = JSON.stringify([tenant, user]);
    const parts = {
      ...this.#parts,
      asker: { tenant, user },
      leavesLargeShare: leavesLargeShare === true,
      kill: () => this.#kill(id),
      admit: () => this.#pauses.check(who),
      onStuck: () => this.#onStuck(id, who),
    };
    return new QueryStream(parts, statement, maxRows, signal);
  }

  async insert(batch: InsertBatch, signal?: AbortSignal): Promise<void> {
    const { inserts, transport } = this.#parts;
    await inserts.run((client) => transport.insert(client, batch, signal));
  }

  async close(): Promise<void> {
    const { statements, inserts, queries, onClosed } = this.#parts;
    await Promise.all([statements.close(), inserts.close(), queries.close()]);
    await onClosed?.();
  }

  #onStuck(query: string, who: string): void {
    const { endStuckQuery, log } = this.#parts;
    log.error({ query, who }, 'a query continues after it was cancelled');
    if (endStuckQuery === undefined) return;
    this.#pauses.add(who);
    endStuckQuery();
  }

  /**
   * Asks the engine to cancel a query. ASYNC, because the embedded engine never returned from KILL QUERY …
   * SYNC. A query that has ended, or has not started yet, is not an error.
   */
  #kill(id: string): void {
    this.command(`KILL QUERY WHERE Settings['log_comment'] = ${quoteString(id)} ASYNC`).catch((error) => {
      this.#parts.log.warn({ err: error }, 'could not cancel a query whose client has disconnected');
    });
  }
}
