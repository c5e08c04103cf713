import type { CancelSignal } from '../lib/cancellation.ts';
import { limits } from '../limits.ts';
import type { Connection } from './connection-pool.ts';
import { StoreError } from './errors.ts';
import { QueryTurn, type QueryTurnParts } from './query-turn.ts';
import type { StatementSettings } from './statement-settings.ts';
import type { ReadProgress, ResultStream } from './store.ts';
import type { StreamStatement, Transport } from './transport.ts';

export interface QueryStreamParts<Client extends Connection> extends QueryTurnParts<Client> {
  readonly transport: Transport<Client>;
}

/** One query and its output: whole, on a shorter way, or piece by piece. */
export class QueryStream<Client extends Connection> implements ResultStream {
  readonly #parts: QueryStreamParts<Client>;
  readonly #statement: StreamStatement;
  readonly #maxRows: number | undefined;
  readonly #signal: CancelSignal;
  #progress: ReadProgress | undefined;

  /** @param maxRows of the result, if that is known */
  constructor(
    parts: QueryStreamParts<Client>,
    statement: StreamStatement,
    maxRows: number | undefined,
    signal: CancelSignal,
  ) {
    this.#parts = parts;
    this.#statement = statement;
    this.#maxRows = maxRows;
    this.#signal = signal;
  }

  get progress(): ReadProgress | undefined {
    return this.#progress;
  }

  async whole(): Promise<Uint8Array | undefined> {
    const { hold } = this.#parts.transport;
    const statement = smallStatement(this.#statement, this.#maxRows);
    if (hold === undefined || statement === undefined) return undefined;
    const turn = await QueryTurn.take(this.#parts, this.#signal);
    try {
      const running = hold(turn.client, statement);
      turn.occupy(running);
      const output = await turn.unlessAborted(running);
      turn.succeed();
      return output;
    } catch (thrown) {
      const failure = turn.failure(thrown);
      if (isTooLarge(failure)) return undefined;
      throw failure;
    } finally {
      await turn.end();
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    const turn = await QueryTurn.take(this.#parts, this.#signal);
    try {
      this.#progress = yield* this.#parts.transport.stream(turn.client, this.#statement, turn);
      turn.succeed();
    } catch (thrown) {
      throw turn.failure(thrown);
    } finally {
      await turn.end();
    }
  }
}

/**
 * The statement with the bound of what is held, if it can be expected to stay below it. If it does not, it fails before
 * anything of it was given away, and is streamed instead.
 */
function smallStatement(
  { query, format, settings, id }: StreamStatement,
  maxRows: number | undefined,
): StreamStatement | undefined {
  if (maxRows === undefined || maxRows > limits.heldResultRows) return undefined;
  const allowed = Number(settings['max_result_bytes'] ?? Number.POSITIVE_INFINITY);
  if (allowed <= limits.heldResultBytes) return undefined;
  return { query, format, settings: bounded(settings), id };
}

const boundedSettings = new WeakMap<StatementSettings, StatementSettings>();

/** The same object for the same settings. */
function bounded(settings: StatementSettings): StatementSettings {
  const known = boundedSettings.get(settings);
  if (known !== undefined) return known;
  const added = { ...settings, max_result_bytes: limits.heldResultBytes };
  boundedSettings.set(settings, added);
  return added;
}

/** ClickHouse's TOO_MANY_ROWS_OR_BYTES (src/Common/ErrorCodes.cpp). */
const isTooLarge = (thrown: unknown): boolean =>
  thrown instanceof StoreError && thrown.clickHouseCode === 396;
