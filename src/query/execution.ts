import { randomUUID } from 'node:crypto';
import type { ResultChunk, ResultStore, ResultStream, StreamOptions } from '../clickhouse/store.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import type { SessionEffect } from '../sql/catalog-session.ts';
import type { ResultColumn } from '../sql/translate-query.ts';
import { holdsFloats } from '../sql/types.ts';
import { withoutLineFeeds } from './compact-json.ts';
import { Deadline } from './deadline.ts';
import { holdBeginning } from './hold-beginning.ts';
import { JsonNumbers } from './json-numbers.ts';
import { ArrowLists } from './lists/arrow-lists.ts';
import type { OutputFilter } from './lists/output-filter.ts';
import { ParquetLists } from './lists/parquet-lists.ts';
import type { QueryResult, QueryStatistics } from './request.ts';
import type { OutputForm } from './result-format.ts';
import { queryFailure, resultTooLarge } from './store-failures.ts';

export interface ExecutionParts {
  readonly store: ResultStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly bounds: QueryBounds;
}

/** A translated query, to be run in the store. */
export interface Statement {
  readonly sql: string;
  readonly columns: readonly ResultColumn[];
  /** The result has at most this many rows; undefined if no bound is known. */
  readonly maxRows: number | undefined;
  /** The names of the datasets that it reads. */
  readonly datasets: readonly string[];
  /** What it does to the session that runs it. */
  readonly effects?: readonly SessionEffect[] | undefined;
}

/** Limits of one query. */
export interface QueryBounds {
  /** Until the client has read the whole result. */
  readonly timeoutMs: number;
  readonly maxMemoryBytes: number;
  readonly maxThreads: number;
  readonly maxResultRows: number;
  readonly maxResultBytes: number;
}

/** Limits that differ for exports. The size of their results has no limit. */
export interface ExportBounds {
  /** Exports of one tenant at the same time. */
  readonly maxPerTenant: number;
  /** Until its whole result was taken. */
  readonly timeoutMs: number;
}

export type Settings = StreamOptions['settings'];

export interface ExecutionOptions
  extends Pick<StreamOptions, 'party' | 'user' | 'format' | 'settings' | 'signal' | 'leavesLargeShare'> {
  readonly form: OutputForm;
  /** See `QueryBounds`. */
  readonly timeoutMs: number;
  /**
   * Called when the query begins. It returns a function that is called when the output has ended, complete or
   * not.
   * @throws AppError if the query may not begin now
   */
  readonly begin?: (() => (sentBytes: number, isComplete: boolean) => void) | undefined;
}

/**
 * One run of a query in the store. It streams the output, turns errors of the store into errors for clients,
 * and keeps the time limit. The query begins when the first chunk is requested.
 */
export class Execution implements QueryResult {
  readonly id = `millrace-${randomUUID()}`;
  readonly columns: readonly ResultColumn[];
  readonly datasets: readonly string[];
  readonly effects: readonly SessionEffect[];
  readonly #parts: ExecutionParts;
  readonly #deadline: Deadline;
  readonly #stream: ResultStream;
  /** Undefined if the output of the store is sent as it is. */
  readonly #filter: OutputFilter | undefined;
  /** A JSON array, which is written without line feeds. */
  readonly #isArray: boolean;
  /**
   * Whether the format has an end of its own. The store writes that end even if the query fails: a Parquet
   * file with half of the rows looks complete. So the latest chunk of such a format is held back until the
   * query has succeeded.
   */
  readonly #hasEnd: boolean;
  readonly #startedMs: number;
  #endedMs: number;
  readonly #begin: ExecutionOptions['begin'];
  #sentBytes = 0;

  constructor(
    parts: ExecutionParts,
    { columns, sql, maxRows, datasets, effects }: Statement,
    options: ExecutionOptions,
  ) {
    const { store, clock } = parts;
    const { party, user, form, format, settings, leavesLargeShare = false, timeoutMs } = options;
    this.#parts = parts;
    this.columns = columns;
    this.datasets = datasets;
    this.effects = effects ?? [];
    this.#begin = options.begin;
    this.#filter = filterOf(columns, form);
    this.#isArray = form === 'json';
    this.#hasEnd = form === 'json' || form === 'arrow' || form === 'parquet';
    this.#deadline = new Deadline(options.signal, timeoutMs + limits.queryTimeoutSlackMs);
    this.#startedMs = clock.monotonicMs();
    this.#endedMs = this.#startedMs;
    const { signal } = this.#deadline;
    this.#stream = store.stream(sql, {
      id: this.id,
      party,
      user,
      format,
      maxRows,
      leavesLargeShare,
      settings,
      signal,
    });
  }

  get chunks(): AsyncIterable<ResultChunk> {
    return holdBeginning(this.#output(), limits.queryReplyBufferBytes);
  }

  statistics(): QueryStatistics {
    return { elapsedMs: this.#endedMs - this.#startedMs, read: this.#stream.progress };
  }

  async *#output(): AsyncGenerator<ResultChunk, void> {
    let held: ResultChunk | undefined;
    let last: ResultChunk | undefined;
    let isComplete = false;
    const ended = this.#begin?.();
    this.#deadline.start();
    try {
      for await (const { parts, isLast } of this.#stream) {
        const chunk = { parts: this.#filtered(parts), isLast };
        for (const { byteLength } of chunk.parts) this.#sentBytes += byteLength;
        if (isLast) last = chunk;
        else if (!this.#hasEnd) yield chunk;
        else {
          if (held !== undefined) yield held;
          held = chunk;
        }
      }
      isComplete = true;
    } catch (thrown) {
      throw this.#failure(thrown);
    } finally {
      this.#end();
      ended?.(this.#sentBytes, isComplete);
    }
    const rest = this.#compact(this.#filter?.end() ?? []);
    yield { parts: [...(held?.parts ?? []), ...(last?.parts ?? []), ...rest], isLast: true };
  }

  #filtered(parts: readonly Uint8Array[]): readonly Uint8Array[] {
    const filter = this.#filter;
    return this.#compact(filter === undefined ? parts : parts.flatMap((part) => filter.push(part)));
  }

  /** Only a JSON array goes without line breaks; NDJSON needs them. */
  #compact(parts: readonly Uint8Array[]): readonly Uint8Array[] {
    return this.#isArray ? parts.map(withoutLineFeeds) : parts;
  }

  #end(): void {
    this.#endedMs = this.#parts.clock.monotonicMs();
    this.#deadline.stop();
  }

  #failure(thrown: unknown): unknown {
    const failure = queryFailure(thrown);
    if (failure instanceof AppError && failure.code === 'query_result_too_large') {
      return resultTooLarge(failure, this.#parts.bounds, this.#sentBytes);
    }
    if (failure instanceof AppError && failure.code === 'sql_failed') {
      this.#parts.log.warn({ err: failure.cause }, 'a query failed in the store');
    }
    return failure;
  }
}

/** The filter for what the store cannot write: infinities and NaN in JSON, and arrays that are NULL. */
function filterOf(columns: readonly ResultColumn[], form: OutputForm): OutputFilter | undefined {
  const hasLists = columns.some(({ type }) => type.sql.name === 'array');
  if (form === 'arrow') return hasLists ? new ArrowLists() : undefined;
  if (form === 'parquet') return hasLists ? new ParquetLists() : undefined;
  if (form === 'csv' || form === 'rows' || form === 'arrays') return undefined;
  const isNumber = columns.map(({ type }) => holdsFloats(type.sql));
  return isNumber.includes(true) ? new JsonNumbers(isNumber) : undefined;
}
