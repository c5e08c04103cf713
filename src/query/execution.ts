import { randomUUID } from 'node:crypto';
import type { ResultChunk, ResultStore, ResultStream, StreamOptions } from '../clickhouse/store.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import type { ResultColumn } from '../sql/translate.ts';
import { holdsFloats } from '../sql/types.ts';
import { Deadline } from './deadline.ts';
import { holdBeginning } from './hold-beginning.ts';
import { JsonNumbers } from './json-numbers.ts';
import type { QueryResult, QueryStatistics } from './request.ts';
import type { ResultFormat } from './result-format.ts';
import { queryFailure } from './store-failures.ts';

export interface ExecutionParts {
  readonly store: ResultStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly bounds: QueryBounds;
}

/** What the store is to run. */
export interface Statement {
  readonly sql: string;
  readonly columns: readonly ResultColumn[];
  /** No result has more; undefined if that is not known. */
  readonly maxRows: number | undefined;
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
 * One query in the store: its output, its failures in words for clients, within its time. It begins when the
 * first chunk is asked for.
 */
export class Execution implements QueryResult {
  readonly id = `millrace-${randomUUID()}`;
  readonly columns: readonly ResultColumn[];
  readonly #parts: ExecutionParts;
  readonly #deadline: Deadline;
  readonly #stream: ResultStream;
  /** Undefined if no column has numbers that JSON cannot write, or the result is not JSON. */
  readonly #numbers: JsonNumbers | undefined;
  readonly #startedMs: number;
  #endedMs: number;

  constructor(parts: ExecutionParts, { columns, sql, maxRows }: Statement, options: ExecutionOptions) {
    const { store, clock, bounds } = parts;
    const { party, user, form, format, settings } = options;
    this.#parts = parts;
    this.columns = columns;
    const isNumber = columns.map(({ type }) => holdsFloats(type.sql));
    const isJson = form === 'json' || form === 'ndjson';
    this.#numbers = isJson && isNumber.includes(true) ? new JsonNumbers(isNumber) : undefined;
    this.#deadline = new Deadline(options.signal, bounds.timeoutMs + limits.queryTimeoutSlackMs);
    this.#startedMs = clock.monotonicMs();
    this.#endedMs = this.#startedMs;
    const { signal } = this.#deadline;
    this.#stream = store.stream(sql, { id: this.id, party, user, format, maxRows, settings, signal });
  }

  get chunks(): AsyncIterable<ResultChunk> {
    return holdBeginning(this.#output(), limits.queryReplyBufferBytes);
  }

  statistics(): QueryStatistics {
    return { elapsedMs: this.#endedMs - this.#startedMs, read: this.#stream.progress };
  }

  async *#output(): AsyncGenerator<ResultChunk, void> {
    let last: ResultChunk | undefined;
    this.#deadline.start();
    try {
      for await (const { parts, isLast } of this.#stream) {
        const chunk = { parts: this.#named(parts), isLast };
        if (!isLast) yield chunk;
        else last = chunk;
      }
    } catch (thrown) {
      throw this.#failure(thrown);
    } finally {
      this.#end();
    }
    const rest = this.#numbers?.end() ?? [];
    yield { parts: [...(last?.parts ?? []), ...rest], isLast: true };
  }

  #named(parts: readonly Uint8Array[]): readonly Uint8Array[] {
    const numbers = this.#numbers;
    return numbers === undefined ? parts : parts.flatMap((part) => numbers.push(part));
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
