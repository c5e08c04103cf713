import type { ClickHouseClient } from '@clickhouse/client';
import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { type StoreError, toStoreError } from './errors.ts';

export interface QueryTurnParts {
  readonly queries: ConnectionPool;
  readonly metrics: Metrics;
  /** Asks the engine to stop the query; another connection carries it there. */
  readonly kill: () => void;
  /** Who shares the connections with others. */
  readonly party: string;
}

/**
 * One query on a connection of its own, from its turn in the queue to its end.
 *
 *     take ──▶ at work ── succeed ──▶ ended well ── end ──▶ the connection is there for others
 *                 └─────────────── end ───────────────▶ the connection is closed
 *
 * The connection is given back when the query has ended, whoever ended it. Only one whose query gave all its output
 * is used again: the embedded engine puts what a failed query had already produced before the next result of the
 * same connection.
 */
export class QueryTurn {
  readonly client: ClickHouseClient;
  /** Asks the engine to stop the query, again and again: the first time, it may not have begun with it yet. */
  readonly kill: () => void;
  readonly #parts: QueryTurnParts;
  readonly #signal: CancelSignal;
  readonly #startedMs = performance.now();
  #killing: NodeJS.Timeout | undefined;
  #healthy = false;

  private constructor(client: ClickHouseClient, parts: QueryTurnParts, signal: CancelSignal) {
    this.client = client;
    this.#parts = parts;
    this.#signal = signal;
    this.kill = () => {
      if (this.#killing !== undefined) return;
      parts.kill();
      this.#killing = setInterval(parts.kill, limits.queryKillIntervalMs);
    };
    signal.addEventListener('abort', this.kill, { once: true });
  }

  /**
   * Waits for a connection, unless one is free. Whoever has a turn ends it.
   * @param signal ends the wait, and then the query
   * @throws AppError `overloaded`, `query_cancelled` and what else ended the wait
   */
  static take(parts: QueryTurnParts, signal: CancelSignal): QueryTurn | Promise<QueryTurn> {
    if (signal.aborted) throw reasonOf(signal);
    const free = parts.queries.takeFree(parts.party);
    return free === undefined ? QueryTurn.#wait(parts, signal) : new QueryTurn(free, parts, signal);
  }

  static async #wait(parts: QueryTurnParts, signal: CancelSignal): Promise<QueryTurn> {
    const { queries, metrics, party } = parts;
    const taking = queries.take(party, signal);
    metrics.queryQueue.set(queries.waiting);
    try {
      const client = await taking;
      if (signal.aborted) await queries.giveBack(party, client, true);
      signal.throwIfAborted();
      return new QueryTurn(client, parts, signal);
    } catch (thrown) {
      throw signal.aborted ? reasonOf(signal) : thrown;
    } finally {
      metrics.queryQueue.set(queries.waiting);
    }
  }

  /**
   * The query has given all its output.
   * @throws unknown the reason, if it was to stop: nobody can tell whether it did
   */
  succeed(): void {
    this.#signal.throwIfAborted();
    this.#healthy = true;
  }

  /** What to throw instead of what the query threw. */
  failure(thrown: unknown): AppError | StoreError {
    return this.#signal.aborted ? reasonOf(this.#signal) : toStoreError(thrown);
  }

  async end(): Promise<void> {
    const { queries, metrics, party } = this.#parts;
    this.#signal.removeEventListener('abort', this.kill);
    clearInterval(this.#killing);
    metrics.queryDuration.observe((performance.now() - this.#startedMs) / 1000);
    await queries.giveBack(party, this.client, this.#healthy);
  }
}

const reasonOf = ({ reason }: CancelSignal): AppError =>
  reason instanceof AppError ? reason : new AppError('query_cancelled', 'the client went away');
