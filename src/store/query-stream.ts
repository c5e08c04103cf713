import { AppError } from '../errors.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { toStoreError } from './errors.ts';
import type { ReadProgress, ResultStream } from './store.ts';
import type { StreamStatement, Transport } from './transport.ts';

export interface QueryStreamParts {
  readonly queries: ConnectionPool;
  readonly transport: Transport;
  readonly metrics: Metrics;
  /** Asks the engine to stop the query; another connection carries it there. */
  readonly kill: () => void;
  /** Who shares the connections with others. */
  readonly party: string;
}

/**
 * One query on a connection of its own, from its turn in the queue to its end.
 *
 * The connection is given back when the query has ended, whoever ended it. Only one whose query gave all its output
 * is used again: the embedded engine puts what a failed query had already produced before the next result of the
 * same connection.
 */
export class QueryStream implements ResultStream {
  readonly #parts: QueryStreamParts;
  readonly #statement: StreamStatement;
  readonly #signal: AbortSignal;
  #progress: ReadProgress | undefined;

  constructor(parts: QueryStreamParts, statement: StreamStatement, signal: AbortSignal) {
    this.#parts = parts;
    this.#statement = statement;
    this.#signal = signal;
  }

  get progress(): ReadProgress | undefined {
    return this.#progress;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    const { queries, transport, metrics, kill, party } = this.#parts;
    const turn = queries.take(party, this.#signal).catch((thrown: unknown) => {
      throw this.#signal.aborted ? reasonOf(this.#signal) : thrown;
    });
    metrics.queryQueue.set(queries.waiting);
    const client = await turn.finally(() => metrics.queryQueue.set(queries.waiting));
    const stop = metrics.queryDuration.startTimer();
    const killer = new Killer(kill);
    let healthy = false;
    const onAbort = () => killer.start();
    this.#signal.addEventListener('abort', onAbort, { once: true });
    try {
      this.#signal.throwIfAborted();
      this.#progress = yield* transport.stream(client, this.#statement, {
        kill: onAbort,
        signal: this.#signal,
      });
      this.#signal.throwIfAborted();
      healthy = true;
    } catch (thrown) {
      throw this.#signal.aborted ? reasonOf(this.#signal) : toStoreError(thrown);
    } finally {
      this.#signal.removeEventListener('abort', onAbort);
      killer.stop();
      stop();
      await queries.giveBack(party, client, healthy);
    }
  }
}

/** Asks again and again: the first time, the engine may not have begun with the query yet. */
class Killer {
  readonly #kill: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(kill: () => void) {
    this.#kill = kill;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#kill();
    this.#timer = setInterval(this.#kill, limits.queryKillIntervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const reasonOf = ({ reason }: AbortSignal): AppError =>
  reason instanceof AppError ? reason : new AppError('query_cancelled', 'the client went away');
