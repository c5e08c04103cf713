import type { ClickHouseClient } from '@clickhouse/client';
import { AppError } from '../errors.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { StoreError, toStoreError } from './errors.ts';
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
  readonly #maxRows: number | undefined;
  readonly #signal: AbortSignal;
  #progress: ReadProgress | undefined;

  /** @param maxRows of the result, if that is known */
  constructor(
    parts: QueryStreamParts,
    statement: StreamStatement,
    maxRows: number | undefined,
    signal: AbortSignal,
  ) {
    this.#parts = parts;
    this.#statement = statement;
    this.#maxRows = maxRows;
    this.#signal = signal;
  }

  get progress(): ReadProgress | undefined {
    return this.#progress;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    const { transport } = this.#parts;
    const { hold } = transport;
    const held = smallStatement(this.#statement, this.#maxRows);
    if (hold !== undefined && held !== undefined) {
      const output = await this.#held((client) => hold(client, held));
      if (output !== undefined) {
        yield output;
        return;
      }
    }
    yield* this.#run((client, kill) =>
      transport.stream(client, this.#statement, { kill, signal: this.#signal }),
    );
  }

  /** Whole, with the connection given back; undefined if it is too large. */
  async #held(hold: (client: ClickHouseClient) => Promise<Uint8Array>): Promise<Uint8Array | undefined> {
    const pieces: Uint8Array[] = [];
    const run = this.#run(async function* (client) {
      yield await hold(client);
      return undefined;
    });
    try {
      for await (const piece of run) pieces.push(piece);
    } catch (thrown) {
      if (isTooLarge(thrown)) return undefined;
      throw thrown;
    }
    return pieces[0];
  }

  async *#run(work: Work): AsyncGenerator<Uint8Array, void> {
    const { queries, metrics, kill, party } = this.#parts;
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
      this.#progress = yield* work(client, onAbort);
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

type Work = (
  client: ClickHouseClient,
  kill: () => void,
) => AsyncGenerator<Uint8Array, ReadProgress | undefined>;

/**
 * The statement with the bound of what is held, if it can be expected to stay below it. If it does not, it fails before
 * anything of it was given away, and is streamed instead.
 */
function smallStatement(
  statement: StreamStatement,
  maxRows: number | undefined,
): StreamStatement | undefined {
  if (maxRows === undefined || maxRows > limits.heldResultRows) return undefined;
  const allowed = Number(statement.settings['max_result_bytes'] ?? Number.POSITIVE_INFINITY);
  if (allowed <= limits.heldResultBytes) return undefined;
  return { ...statement, settings: { ...statement.settings, max_result_bytes: limits.heldResultBytes } };
}

/** ClickHouse's TOO_MANY_ROWS_OR_BYTES (src/Common/ErrorCodes.cpp). */
const isTooLarge = (thrown: unknown): boolean =>
  thrown instanceof StoreError && thrown.clickHouseCode === 396;

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
