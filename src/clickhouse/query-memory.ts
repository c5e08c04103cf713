import type { CancelSignal } from '../lib/cancellation.ts';
import { type Asker, ConnectionPool } from './connection-pool.ts';

/** What one query may use, until it is given back. */
export interface MemoryShare {
  readonly bytes: number;
  /** Whether no query gets more. */
  readonly isLarge: boolean;
  giveBack(): void;
}

export interface QueryMemoryOptions {
  /** All queries together. */
  readonly totalBytes: number;
  /** Queries that run at the same time. */
  readonly queries: number;
  /** Queries that wait for the large share. */
  readonly maxWaiting: number;
}

/**
 * The memory of all queries, in shares that never add up to more than the whole: one large share, which is
 * half of it, and a small one for each query that runs.
 *
 * A query gets the large share if that is free, otherwise a small one. If a query runs out of a small share
 * before any of its result was delivered, it starts again with the large one, for which it waits its turn. So
 * other queries affect only when a query gets its memory, not how much. Inserts are not part of this, so no
 * query can keep them out. With a bound that the engine keeps for a user or for all statements, four queries
 * made half of the inserts fail.
 */
export class QueryMemory {
  readonly #smallBytes: number;
  readonly #largeBytes: number;
  readonly #large: ConnectionPool<LargeShare>;

  constructor({ totalBytes, queries, maxWaiting }: QueryMemoryOptions) {
    this.#smallBytes = Math.floor(totalBytes / 2 / queries);
    this.#largeBytes = Math.floor(totalBytes / 2);
    this.#large = new ConnectionPool(() => largeShare, { connections: 1, maxWaiting });
  }

  /** The large share if it is free; a small one if not. */
  take(asker: Asker): MemoryShare {
    const large = this.#large.takeFree(asker);
    return large === undefined ? this.takeSmall() : this.#largeShare(asker);
  }

  takeSmall(): MemoryShare {
    return { bytes: this.#smallBytes, isLarge: false, giveBack: () => {} };
  }

  /**
   * The large share, when it is free.
   * @throws AppError `overloaded` when too many wait already, and the reason of the signal
   */
  async takeLarge(asker: Asker, signal: CancelSignal): Promise<MemoryShare> {
    await this.#large.take(asker, signal);
    return this.#largeShare(asker);
  }

  #largeShare(asker: Asker): MemoryShare {
    const giveBack = () => void this.#large.giveBack(asker, largeShare, true);
    return { bytes: this.#largeBytes, isLarge: true, giveBack };
  }
}

const largeShare = { close: async (): Promise<void> => {} };
type LargeShare = typeof largeShare;
