import { randomUUID } from 'node:crypto';
import type { ResultStore, ResultStream, StreamOptions } from '../clickhouse/store.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import type { Translation } from '../sql/translate.ts';
import { Deadline } from './deadline.ts';
import { nameNumbers, nameNumbersIn } from './json-numbers.ts';
import type { QueryResult, QueryStatistics } from './request.ts';
import type { ResultFormat } from './result-format.ts';
import { queryFailure } from './store-failures.ts';

export interface ExecutionParts {
  readonly store: ResultStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly bounds: QueryBounds;
}

/** What one query may use. */
export interface QueryBounds {
  /** Until its whole result was taken. */
  readonly timeoutMs: number;
  readonly maxMemoryBytes: number;
  readonly maxThreads: number;
  readonly maxResultRows: number;
  readonly maxResultBytes: number;
}

export type Settings = StreamOptions['settings'];

export interface ExecutionOptions
  extends Pick<StreamOptions, 'party' | 'user' | 'format' | 'settings' | 'signal'> {
  readonly form: ResultFormat;
}

/**
 * One query in the store: its output, its failures in words for clients, within its time. It begins when the output is
 * asked for: whole, and if it is too large for that, or nobody asks so, piece by piece.
 */
export class Execution implements QueryResult {
  readonly id = `millrace-${randomUUID()}`;
  readonly fields: readonly string[];
  readonly #parts: ExecutionParts;
  readonly #deadline: Deadline;
  readonly #stream: ResultStream;
  /** Columns whose numbers JSON may have no words for; undefined if there are none, or the result is not JSON. */
  readonly #isFloat: readonly boolean[] | undefined;
  readonly #startedMs: number;
  #endedMs: number;
  #askedWhole = false;

  constructor(parts: ExecutionParts, { columns, sql, maxRows }: Translation, options: ExecutionOptions) {
    const { store, clock, bounds } = parts;
    const { party, user, form, format, settings } = options;
    this.#parts = parts;
    this.fields = columns.map((column) => column.name);
    const isFloat = columns.map(({ type }) => type.startsWith('double precision'));
    this.#isFloat = (form === 'json' || form === 'ndjson') && isFloat.includes(true) ? isFloat : undefined;
    this.#deadline = new Deadline(options.signal, bounds.timeoutMs + limits.queryTimeoutSlackMs);
    this.#startedMs = clock.monotonicMs();
    this.#endedMs = this.#startedMs;
    const { signal } = this.#deadline;
    this.#stream = store.stream(sql, { id: this.id, party, user, format, maxRows, settings, signal });
  }

  get output(): AsyncIterable<Uint8Array> {
    const output = this.#output();
    return this.#isFloat === undefined ? output : nameNumbers(output, this.#isFloat);
  }

  async whole(): Promise<readonly Uint8Array[] | undefined> {
    const bytes = await this.#whole();
    if (bytes === undefined || this.#isFloat === undefined) return bytes && [bytes];
    return nameNumbersIn(bytes, this.#isFloat);
  }

  statistics(): QueryStatistics {
    return { elapsedMs: this.#endedMs - this.#startedMs, read: this.#stream.progress };
  }

  async #whole(): Promise<Uint8Array | undefined> {
    this.#askedWhole = true;
    this.#deadline.start();
    try {
      const bytes = await this.#stream.whole();
      // Otherwise what follows is of the same query, and of its time.
      if (bytes !== undefined) this.#end();
      return bytes;
    } catch (thrown) {
      this.#end();
      throw this.#failure(thrown);
    }
  }

  async *#output(): AsyncGenerator<Uint8Array, void> {
    const bytes = this.#askedWhole ? undefined : await this.#whole();
    if (bytes !== undefined) {
      yield bytes;
      return;
    }
    this.#deadline.start();
    try {
      yield* this.#stream;
    } catch (thrown) {
      throw this.#failure(thrown);
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#endedMs = this.#parts.clock.monotonicMs();
    this.#deadline.stop();
  }

  #failure(thrown: unknown): unknown {
    const failure = queryFailure(thrown);
    if (failure instanceof AppError && failure.code === 'sql_failed') {
      this.#parts.log.warn({ err: failure.cause }, 'a query failed in the store');
    }
    return failure;
  }
}
