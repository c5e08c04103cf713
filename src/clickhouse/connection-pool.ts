import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import { NestedFairQueue } from '../lib/nested-fair-queue.ts';
import { toStoreError } from './store-error.ts';

export interface ConnectionPoolOptions {
  readonly connections: number;
  /** The bound on statements that wait, for all askers together. */
  readonly maxWaiting: number;
  /** Without it, one asker may take all connections. */
  readonly spared?: SparedConnections | undefined;
}

/** Connections that are reserved for askers that have none, so that the others can never take all. */
export interface SparedConnections {
  readonly forTenants: number;
  /** In addition to those for tenants. */
  readonly forUsers: number;
}

/** The tenant and user that ask for a connection. */
export interface Asker {
  /** Empty for the service itself. */
  readonly tenant: string;
  /** The user of the tenant; empty if it does not matter. */
  readonly user: string;
}

const nothingSpared: SparedConnections = { forTenants: 0, forUsers: 0 };
const theService: Asker = { tenant: '', user: '' };

/** Runs one statement at a time. */
export interface Connection {
  close(): Promise<void>;
}

interface Waiter<Client> {
  take(client: Client): void;
  fail(error: Error): void;
}

/**
 * A fixed number of connections with one statement at a time on each. Other statements wait, up to a bound.
 *
 * Waiting statements are served fairly: tenants in turn, and within each tenant its users, each in order. If
 * somebody floods the pool, only their own statements are refused (`NestedFairQueue`).
 *
 * A connection whose statement failed is closed and replaced: the embedded engine puts what a failed query
 * has already produced before the next result on the same connection, which would show rows of one query to
 * another. Opening a connection takes less than a millisecond.
 */
export class ConnectionPool<Client extends Connection> {
  readonly #open: () => Client;
  readonly #options: ConnectionPoolOptions;
  readonly #idle: Client[] = [];
  readonly #waiting: NestedFairQueue<Waiter<Client>>;
  /** The number of connections by tenant, and by tenant and user. Zero is not stored. */
  readonly #taken = new Map<string, number>();
  #toOpen: number;
  #closed = false;

  constructor(open: () => Client, options: ConnectionPoolOptions) {
    this.#open = open;
    this.#options = options;
    this.#toOpen = options.connections;
    this.#waiting = new NestedFairQueue(options.maxWaiting);
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs `work` with a connection of its own.
   * @throws AppError `overloaded` if too many statements wait
   * @throws StoreError for whatever `work` threw
   */
  async run<T>(work: (client: Client) => Promise<T>, asker: Asker = theService): Promise<T> {
    const client = await this.take(asker);
    let healthy = true;
    try {
      return await work(client);
    } catch (thrown) {
      healthy = false;
      throw thrown instanceof AppError ? thrown : toStoreError(thrown);
    } finally {
      await this.giveBack(asker, client, healthy);
    }
  }

  /**
   * Like `take`, but undefined if the asker would have to wait.
   * @throws AppError `shutting_down`
   */
  takeFree(asker: Asker): Client | undefined {
    if (this.#closed) throw shuttingDown();
    return this.#mayTake(asker) ? this.#give(asker) : undefined;
  }

  /**
   * Takes a connection until it is given back.
   * @param signal ends the wait
   * @throws AppError `overloaded` if too many statements wait, and the reason of the signal
   */
  async take(asker: Asker, signal?: CancelSignal): Promise<Client> {
    signal?.throwIfAborted();
    const free = this.takeFree(asker);
    if (free !== undefined) return free;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.remove(asker.tenant, asker.user, waiter);
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
      this.#waiting.push(asker.tenant, asker.user, waiter)?.fail(tooMany(this.#options.maxWaiting));
    });
  }

  /** @param healthy whether its statement succeeded */
  async giveBack(asker: Asker, client: Client, healthy: boolean): Promise<void> {
    if (!healthy || this.#closed) await client.close();
    if (this.#closed) return;
    for (const key of keysOf(asker)) {
      const taken = this.#taken.get(key) ?? 0;
      if (taken > 1) this.#taken.set(key, taken - 1);
      else this.#taken.delete(key);
    }
    if (healthy) this.#idle.push(client);
    else this.#toOpen += 1;
    this.#serve();
  }

  /**
   * Does not wait, since callers have stopped by now. A statement that still runs keeps its connection until
   * it ends.
   */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting.drain()) waiter.fail(shuttingDown());
    await Promise.all(this.#idle.splice(0).map((client) => client.close()));
  }

  /** One returned connection may serve two askers: a reserved one can become available too. */
  #serve(): void {
    for (;;) {
      let next = theService;
      const waiter = this.#waiting.shift((tenant, user) => {
        next = { tenant, user };
        return this.#mayTake(next);
      });
      if (waiter === undefined) return;
      waiter.take(this.#give(next));
    }
  }

  #mayTake(asker: Asker): boolean {
    const { forTenants, forUsers } = this.#options.spared ?? nothingSpared;
    const [tenant, user] = keysOf(asker);
    const spared = (this.#taken.has(tenant) ? forTenants : 0) + (this.#taken.has(user) ? forUsers : 0);
    return this.#idle.length + this.#toOpen > spared;
  }

  #give(asker: Asker): Client {
    for (const key of keysOf(asker)) this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    this.#toOpen -= 1;
    return this.#open();
  }
}

/** Ids of tenants contain no line break. */
const keysOf = ({ tenant, user }: Asker): readonly [tenant: string, user: string] => [
  tenant,
  `${tenant}\n${user}`,
];

const shuttingDown = (): AppError => new AppError('shutting_down', 'the service is shutting down');

const tooMany = (count: number): AppError =>
  new AppError('overloaded', `${count} statements already wait for the store`);
