import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits/limits.ts';
import type { Asker, Connection, ConnectionPool } from './connection-pool.ts';
import { type StoreError, toStoreError } from './store-error.ts';
import type { StreamControl } from './transport.ts';

export interface QueryTurnParts<Client extends Connection> {
  readonly queries: ConnectionPool<Client>;
  readonly metrics: Metrics;
  /** Asks the engine to cancel the query, over another connection. */
  readonly kill: () => void;
  /** @throws AppError if the sender may not run a query now */
  readonly admit: () => void;
  /** Called if the query has not ended `queryKillGraceMs` after the first kill. */
  readonly onStuck: () => void;
  /** The tenant and user of the query. */
  readonly asker: Asker;
}

/**
 * One query on a connection of its own, from its turn in the queue to its end.
 *
 *     take ──▶ at work ── succeed ──▶ ended well ── end ──▶ the connection is reused
 *                 ├─────────────── end ───────────────▶ the connection is closed
 *                 └─ end, while the engine works on ──▶ abandoned ── it ended ──▶ the connection is closed
 *
 * The connection is given back when the query has ended in the engine, for whatever reason. An abandoned
 * query keeps it, so that there are never more queries than connections; nobody waits for that. A query that
 * does not end after it was killed is stuck, which is reported once. A connection is reused only if its query
 * delivered all of its output: the embedded engine puts what a failed query has already produced before the
 * next result on the same connection.
 */
export class QueryTurn<Client extends Connection> implements StreamControl {
  readonly client: Client;
  /** Asks the engine repeatedly to cancel the query: at the first time it may not have started it yet. */
  readonly kill: () => void;
  readonly signal: CancelSignal;
  readonly #parts: QueryTurnParts<Client>;
  readonly #startedMs = performance.now();
  #killing: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #healthy = false;
  #release = (): void => {};
  /** The work that still needs the connection; undefined when it has settled. */
  #work: Promise<void> | undefined;
  #isEnding = false;
  /** The client may take long over the last chunk; the connection does not wait for it. */
  readonly #onAbort = (): void => {
    this.kill();
    queueMicrotask(() => {
      if (this.#work !== undefined) void this.end();
    });
  };

  private constructor(client: Client, parts: QueryTurnParts<Client>, signal: CancelSignal) {
    this.client = client;
    this.signal = signal;
    this.#parts = parts;
    this.kill = () => {
      if (this.#killing !== undefined) return;
      parts.kill();
      this.#killing = setInterval(parts.kill, limits.queryKillIntervalMs);
      this.#grace = setTimeout(parts.onStuck, limits.queryKillGraceMs);
    };
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /**
   * Waits for a connection, unless one is free. The caller must call `end`.
   * @param signal ends the wait, and then the query
   * @throws AppError `overloaded`, `queries_paused`, `query_cancelled`, and other reasons of the signal
   */
  static take<Client extends Connection>(
    parts: QueryTurnParts<Client>,
    signal: CancelSignal,
  ): QueryTurn<Client> | Promise<QueryTurn<Client>> {
    if (signal.aborted) throw reasonOf(signal);
    parts.admit();
    const free = parts.queries.takeFree(parts.asker);
    return free === undefined ? QueryTurn.#wait(parts, signal) : new QueryTurn(free, parts, signal);
  }

  static async #wait<Client extends Connection>(
    parts: QueryTurnParts<Client>,
    signal: CancelSignal,
  ): Promise<QueryTurn<Client>> {
    const { queries, metrics, asker } = parts;
    const taking = queries.take(asker, signal);
    metrics.queryQueue.set(queries.waiting);
    try {
      const client = await taking;
      try {
        signal.throwIfAborted();
        // A pause may have begun during the wait.
        parts.admit();
      } catch (thrown) {
        await queries.giveBack(asker, client, true);
        throw thrown;
      }
      return new QueryTurn(client, parts, signal);
    } catch (thrown) {
      throw signal.aborted ? reasonOf(signal) : thrown;
    } finally {
      metrics.queryQueue.set(queries.waiting);
    }
  }

  /**
   * The query has delivered all of its output.
   * @throws unknown the reason of the signal, if the query was cancelled: its output may be incomplete
   */
  succeed(): void {
    this.signal.throwIfAborted();
    this.#healthy = true;
  }

  /** The error to throw instead of the one that the query threw. */
  failure(thrown: unknown): AppError | StoreError {
    return this.signal.aborted ? reasonOf(this.signal) : toStoreError(thrown);
  }

  readonly occupy = (work: Promise<unknown>): void => {
    const settled = (): void => {
      this.#work = undefined;
    };
    this.#work = work.then(settled, settled);
  };

  readonly unlessAborted = <T>(work: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const onAbort = () => reject(reasonOf(this.signal));
      const done = () => this.signal.removeEventListener('abort', onAbort);
      this.signal.addEventListener('abort', onAbort, { once: true });
      if (this.signal.aborted) onAbort();
      work.then(resolve, reject).finally(done);
    });

  /** Calls `release` when the connection is given back: the engine has finished the query. */
  whenOver(release: () => void): void {
    this.#release = release;
  }

  /**
   * Gives the connection back, at once or when it is no longer needed. A failure of that does
   * not concern the caller.
   */
  async end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#work === undefined) await this.#giveBack();
    else void this.#work.then(() => this.#giveBack());
  }

  async #giveBack(): Promise<void> {
    const { queries, metrics, asker } = this.#parts;
    this.signal.removeEventListener('abort', this.#onAbort);
    clearInterval(this.#killing);
    clearTimeout(this.#grace);
    this.#release();
    metrics.queryDuration.observe((performance.now() - this.#startedMs) / 1000);
    await queries.giveBack(asker, this.client, this.#healthy);
  }
}

const reasonOf = ({ reason }: CancelSignal): AppError =>
  reason instanceof AppError ? reason : new AppError('query_cancelled', 'the client closed the connection');
