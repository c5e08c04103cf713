import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import { toStoreError } from './errors.ts';

export interface ConnectionPoolOptions {
  readonly connections: number;
  /** Statements that wait for one, all parties together. */
  readonly maxWaiting: number;
  /** Connections that go to parties without one only, so that those who have some never have all. */
  readonly spared?: number;
}

/** What statements run on, one at a time. */
export interface Connection {
  close(): Promise<void>;
}

interface Waiter<Client> {
  take(client: Client): void;
  fail(error: Error): void;
}

/**
 * A fixed number of connections, one statement at a time on each; the rest wait, up to a bound.
 *
 * Who asks for connections is a party. Those that wait are served in turn, each in its own order, and a party that
 * floods the pool is the one whose statements are refused (`FairQueue`).
 *
 * A connection whose statement failed is closed and a new one takes its place: the embedded engine puts what a
 * failed query had already produced before the next result of the same connection, which would show one
 * query's rows to another. Opening costs less than a millisecond.
 */
export class ConnectionPool<Client extends Connection> {
  readonly #open: () => Client;
  readonly #options: ConnectionPoolOptions;
  readonly #idle: Client[] = [];
  readonly #waiting: FairQueue<Waiter<Client>>;
  /** Connections by party; none without any. */
  readonly #taken = new Map<string, number>();
  #toOpen: number;
  #closed = false;

  constructor(open: () => Client, options: ConnectionPoolOptions) {
    this.#open = open;
    this.#options = options;
    this.#toOpen = options.connections;
    this.#waiting = new FairQueue(options.maxWaiting);
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs `work` with a connection of its own.
   * @param party the service itself, if it is nobody else
   * @throws AppError `overloaded` when too many wait already
   * @throws StoreError for whatever `work` threw
   */
  async run<T>(work: (client: Client) => Promise<T>, party = ''): Promise<T> {
    const client = await this.take(party);
    let healthy = true;
    try {
      return await work(client);
    } catch (thrown) {
      healthy = false;
      throw thrown instanceof AppError ? thrown : toStoreError(thrown);
    } finally {
      await this.giveBack(party, client, healthy);
    }
  }

  /**
   * The same as `take` where nobody has to wait; undefined where somebody has to.
   * @throws AppError `shutting_down`
   */
  takeFree(party: string): Client | undefined {
    if (this.#closed) throw shuttingDown();
    return this.#mayTake(party) ? this.#give(party) : undefined;
  }

  /**
   * A connection of one's own, until it is given back.
   * @param signal ends the wait
   * @throws AppError `overloaded` when too many wait already, and the reason of the signal
   */
  async take(party: string, signal?: CancelSignal): Promise<Client> {
    signal?.throwIfAborted();
    const free = this.takeFree(party);
    if (free !== undefined) return free;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.remove(party, waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter<Client> = {
        take: (client) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(client);
        },
        fail: (error) => {
          signal?.removeEventListener('abort', onAbort);
          reject(error);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(party, waiter)?.fail(tooMany(this.#options.maxWaiting));
    });
  }

  /** @param healthy whether its statement has ended well */
  async giveBack(party: string, client: Client, healthy: boolean): Promise<void> {
    if (!healthy || this.#closed) await client.close();
    if (this.#closed) return;
    const taken = this.#taken.get(party) ?? 0;
    if (taken > 1) this.#taken.set(party, taken - 1);
    else this.#taken.delete(party);
    if (healthy) this.#idle.push(client);
    else this.#toOpen += 1;
    this.#serve();
  }

  /** Waits for nothing: callers stop first. Statements still running keep their connection until they end. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting.drain()) waiter.fail(shuttingDown());
    await Promise.all(this.#idle.splice(0).map((client) => client.close()));
  }

  /** One that comes back can be for two who wait: the one before may have been spared. */
  #serve(): void {
    for (;;) {
      let next = '';
      const waiter = this.#waiting.shift((party) => {
        next = party;
        return this.#mayTake(party);
      });
      if (waiter === undefined) return;
      waiter.take(this.#give(next));
    }
  }

  #mayTake(party: string): boolean {
    const free = this.#idle.length + this.#toOpen;
    return free > (this.#taken.has(party) ? (this.#options.spared ?? 0) : 0);
  }

  #give(party: string): Client {
    this.#taken.set(party, (this.#taken.get(party) ?? 0) + 1);
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    this.#toOpen -= 1;
    return this.#open();
  }
}

const shuttingDown = (): AppError => new AppError('shutting_down', 'the service is shutting down');

const tooMany = (count: number): AppError =>
  new AppError('overloaded', `${count} statements wait for the store already`);
