import type { CancelSignal } from '../lib/cancellation.ts';
import { limits } from '../limits/limits.ts';
import type { Connection } from './connection-pool.ts';
import type { MemoryShare, QueryMemory } from './query-memory.ts';
import { QueryTurn, type QueryTurnParts } from './query-turn.ts';
import type { StatementSettings } from './statement-settings.ts';
import type { ReadProgress, ResultChunk, ResultStream } from './store.ts';
import { memoryLimitExceeded, StoreError } from './store-error.ts';
import type { StreamStatement, Transport } from './transport.ts';

type QueryStatement = Omit<StreamStatement, 'isSmall'>;

export interface QueryStreamParts<Client extends Connection> extends QueryTurnParts<Client> {
  readonly transport: Transport<Client>;
  readonly memory: QueryMemory;
  /** It has a small share of the memory, and never another one. */
  readonly leavesLargeShare: boolean;
}

/**
 * One query and its output. If the result is expected to be small and the transport has a shorter way for
 * that, it is requested as a whole. If it turns out not to be small, or if the query runs out of a small
 * share of the memory, the query starts again; nothing of its result was delivered by then.
 */
export class QueryStream<Client extends Connection> implements ResultStream {
  readonly #parts: QueryStreamParts<Client>;
  readonly #statement: QueryStatement;
  readonly #maxRows: number | undefined;
  readonly #signal: CancelSignal;
  #progress: ReadProgress | undefined;
  #needsLargeShare = false;

  /** @param maxRows of the result, if that is known */
  constructor(
    parts: QueryStreamParts<Client>,
    statement: QueryStatement,
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

  async *[Symbol.asyncIterator](): AsyncGenerator<ResultChunk, void> {
    let isSmall =
      this.#parts.transport.sendsSmallResultsWhole && isExpectedSmall(this.#statement, this.#maxRows);
    for (;;) {
      const { turn, share } = await this.#take();
      const output = this.#parts.transport.stream(turn.client, this.#bounded(share, isSmall), turn);
      let begun = false;
      let last: ResultChunk | undefined;
      let again = false;
      try {
        while (last === undefined) {
          const { done, value } = await output.next();
          if (done === true) {
            this.#progress = value;
            break;
          }
          if (value.isLast) last = value;
          else {
            begun = true;
            yield value;
          }
        }
        turn.succeed();
      } catch (thrown) {
        const failure = turn.failure(thrown);
        again = !begun && ((isSmall && isTooLarge(failure)) || this.#mayBeginAgain(failure, share));
        if (!again) throw failure;
      } finally {
        // Whoever took it may have stopped early.
        await output.return(undefined);
        await turn.end();
      }
      // Behind the end of the turn: whoever has the last chunk may not come back for more.
      if (last !== undefined) yield last;
      if (!again) return;
      isSmall = false;
    }
  }

  /** A connection, and memory that belongs to the query until the engine is done with it. */
  async #take(): Promise<{ turn: QueryTurn<Client>; share: MemoryShare }> {
    const { memory, asker, leavesLargeShare } = this.#parts;
    const large = this.#needsLargeShare ? await memory.takeLarge(asker, this.#signal) : undefined;
    try {
      const turn = await QueryTurn.take(this.#parts, this.#signal);
      const share = large ?? (leavesLargeShare ? memory.takeSmall() : memory.take(asker));
      turn.whenOver(share.giveBack);
      return { turn, share };
    } catch (thrown) {
      large?.giveBack();
      throw thrown;
    }
  }

  /** Whether it ran out of a share that is smaller than all that it may use. The next try then gets all. */
  #mayBeginAgain(failure: unknown, share: MemoryShare): boolean {
    if (this.#parts.leavesLargeShare || share.isLarge) return false;
    if (!(failure instanceof StoreError) || failure.clickHouseCode !== memoryLimitExceeded) return false;
    this.#needsLargeShare = allowedBytes(this.#statement, 'max_memory_usage') > share.bytes;
    return this.#needsLargeShare;
  }

  #bounded(share: MemoryShare, isSmall: boolean): StreamStatement {
    const { query, format, settings, id } = this.#statement;
    const memory = Math.min(share.bytes, allowedBytes(this.#statement, 'max_memory_usage'));
    const resultBytes = isSmall ? limits.heldResultBytes : undefined;
    return { query, format, settings: bounded(settings, memory, resultBytes), id, isSmall };
  }
}

/** A bound among the settings of a statement. */
const allowedBytes = ({ settings }: QueryStatement, name: string): number =>
  Number(settings[name] ?? Number.POSITIVE_INFINITY);

/**
 * Whether the result is expected to stay below the bound for results that are in memory as a whole. If it
 * does not, the statement fails before any of its result was delivered, and is streamed instead.
 */
const isExpectedSmall = (statement: QueryStatement, maxRows: number | undefined): boolean =>
  maxRows !== undefined &&
  maxRows <= limits.heldResultRows &&
  allowedBytes(statement, 'max_result_bytes') > limits.heldResultBytes;

const boundedSettings = new WeakMap<StatementSettings, Map<string, StatementSettings>>();

/** The same object for the same settings and bounds, of which there are few. */
function bounded(
  settings: StatementSettings,
  memoryBytes: number,
  resultBytes: number | undefined,
): StatementSettings {
  const known = boundedSettings.get(settings) ?? new Map<string, StatementSettings>();
  boundedSettings.set(settings, known);
  const key = `${memoryBytes} ${resultBytes}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const added = {
    ...settings,
    max_memory_usage: memoryBytes,
    ...spilling(Math.floor(memoryBytes * limits.querySpillShare)),
    ...(resultBytes === undefined ? {} : { max_result_bytes: resultBytes }),
  };
  known.set(key, added);
  return added;
}

/**
 * From when on a GROUP BY goes on in files. By default it does so from half of the memory of the whole
 * server on (`max_bytes_ratio_before_external_group_by`), which a bounded query never has.
 *
 * ORDER BY could do the same, but the engine bounds only the files of GROUP BY. Measured with ClickHouse
 * 26.7: a sort wrote 80 MB of files where `max_temporary_data_on_disk_size_for_query` was 1 MiB, and went on
 * where `min_free_disk_space_for_temporary_data` was a petabyte. One reader could fill the disk.
 */
const spilling = (thresholdBytes: number): StatementSettings => ({
  max_bytes_before_external_group_by: thresholdBytes,
  max_temporary_data_on_disk_size_for_query: limits.maxQuerySpillBytes,
});

/** ClickHouse's TOO_MANY_ROWS_OR_BYTES (src/Common/ErrorCodes.cpp). */
const isTooLarge = (thrown: unknown): boolean =>
  thrown instanceof StoreError && thrown.clickHouseCode === 396;
