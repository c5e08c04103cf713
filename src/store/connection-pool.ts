import type { ClickHouseClient } from '@clickhouse/client';
import { AppError } from '../errors.ts';
import { toStoreError } from './errors.ts';

/**
 * A fixed number of connections, one statement at a time on each; the rest wait in order, up to a bound.
 *
 * A connection whose statement failed is closed and a new one takes its place: the embedded engine puts what a
 * failed query had already produced before the next result of the same connection, which would show one
 * query's rows to another. Opening costs less than a millisecond.
 */
export class ConnectionPool {
  readonly #open: () => ClickHouseClient;
  readonly #maxWaiting: number;
  readonly #idle: ClickHouseClient[] = [];
  readonly #waiting: Array<{ take(client: ClickHouseClient): void; fail(error: Error): void }> = [];
  #toOpen: number;
  #closed = false;

  constructor(open: () => ClickHouseClient, size: number, maxWaiting: number) {
    this.#open = open;
    this.#toOpen = size;
    this.#maxWaiting = maxWaiting;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Runs `work` with a connection of its own.
   * @throws AppError `overloaded` when too many wait already
   * @throws StoreError for whatever `work` threw
   */
  async run<T>(work: (client: ClickHouseClient) => Promise<T>): Promise<T> {
    const client = await this.take();
    let healthy = true;
    try {
      return await work(client);
    } catch (thrown) {
      healthy = false;
      throw thrown instanceof AppError ? thrown : toStoreError(thrown);
    } finally {
      await this.giveBack(client, healthy);
    }
  }

  /**
   * A connection of one's own, until it is given back.
   * @throws AppError `overloaded` when too many wait already
   */
  async take(): Promise<ClickHouseClient> {
    if (this.#closed) throw new AppError('shutting_down', 'the service is shutting down');
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#toOpen > 0) {
      this.#toOpen -= 1;
      return this.#open();
    }
    if (this.#waiting.length >= this.#maxWaiting) {
      throw new AppError('overloaded', `${this.#maxWaiting} statements wait for the store already`);
    }
    return new Promise((take, fail) => {
      this.#waiting.push({ take, fail });
    });
  }

  /** @param healthy whether its statement has ended well */
  async giveBack(client: ClickHouseClient, healthy: boolean): Promise<void> {
    if (!healthy || this.#closed) await client.close();
    if (this.#closed) return;
    const next = this.#waiting.shift();
    const usable = healthy ? client : this.#open();
    if (next === undefined) this.#idle.push(usable);
    else next.take(usable);
  }

  /** Waits for nothing: callers stop first. Statements still running keep their connection until they end. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) {
      waiter.fail(new AppError('shutting_down', 'the service is shutting down'));
    }
    await Promise.all(this.#idle.splice(0).map((client) => client.close()));
  }
}
