import { randomUUID } from 'node:crypto';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits.ts';
import { narrowedSettings, semanticSettings } from '../sql/print/settings.ts';
import type { Translation } from '../sql/translate.ts';
import type { ResultStore, ResultStream } from '../store/store.ts';
import { countRows } from './counts.ts';
import { nameNumbers } from './json-numbers.ts';
import type {
  CountsBin,
  CountsRequest,
  Explanation,
  Query,
  QueryQuestion,
  QueryRequest,
  QueryResult,
} from './request.ts';
import { type ResultFormat, storeOutputs } from './result-format.ts';
import { queryFailure } from './store-failures.ts';
import { parseTimeRange } from './time-range.ts';
import { Translator, type TranslatorParts } from './translator.ts';

export interface QueryServiceParts extends TranslatorParts {
  readonly store: ResultStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly bounds: QueryBounds;
}

/** What one query may use. */
export interface QueryBounds {
  /** From its begin in the store until its whole result was taken. */
  readonly timeoutMs: number;
  readonly maxMemoryBytes: number;
  readonly maxThreads: number;
  readonly maxResultRows: number;
  readonly maxResultBytes: number;
}

/** SQL in, rows out: authorize, translate, execute. */
export class QueryService implements Query {
  readonly #parts: QueryServiceParts;
  readonly #translator: Translator;
  readonly #settings: Readonly<Record<string, string | number>>;

  constructor(parts: QueryServiceParts) {
    this.#parts = parts;
    this.#translator = new Translator(parts);
    this.#settings = { ...semanticSettings, ...boundSettings(parts.bounds) };
  }

  async run(request: QueryRequest): Promise<QueryResult> {
    const translation = await this.#translate(request);
    return this.#execute(translation, request, request.format);
  }

  async explain(question: QueryQuestion): Promise<Explanation> {
    const { sql, columns, datasets } = await this.#translate(question);
    return { sql, fields: columns, datasets };
  }

  async counts(request: CountsRequest): Promise<readonly CountsBin[]> {
    return await countRows(request, this.#parts.clock.nowMicros(), {
      translate: (question) => this.#translator.translate(question),
      kindOf: (dataset) => this.#parts.catalog.get(request.tenant, dataset)?.kind,
      execute: (translation) => this.#execute(translation, request, 'ndjson'),
    });
  }

  async #translate(question: QueryQuestion): Promise<Translation> {
    const { principal, tenant, sql, startTime, endTime, streamName } = question;
    const nowMicros = this.#parts.clock.nowMicros();
    const range = parseTimeRange(startTime, endTime, nowMicros);
    const moments = { ...range, nowMicros };
    const translation = await this.#translator.translate({ principal, tenant, sql, moments });
    checkStreamName(streamName, translation);
    return translation;
  }

  #execute(
    translation: Translation,
    { tenant, signal }: Pick<QueryRequest, 'tenant' | 'signal'>,
    form: ResultFormat,
  ): QueryResult {
    const { store, clock, bounds } = this.#parts;
    const id = `millrace-${randomUUID()}`;
    const { format, settings } = storeOutputs[form];
    const deadline = new Deadline(signal, bounds.timeoutMs + limits.storeQueryGraceMs);
    const startedMs = clock.monotonicMs();
    let endedMs = startedMs;
    const stream = store.stream(translation.sql, {
      id,
      party: tenant,
      format,
      maxRows: translation.maxRows,
      settings: { ...this.#settings, ...(translation.narrowed ? narrowedSettings : {}), ...settings },
      signal: deadline.signal,
    });
    const output = this.#guarded(stream, deadline, () => {
      endedMs = clock.monotonicMs();
    });
    const isFloat = translation.columns.map(({ type }) => type.startsWith('double precision'));
    const isJson = form === 'json' || form === 'ndjson';
    return {
      id,
      fields: translation.columns.map((column) => column.name),
      output: isJson && isFloat.includes(true) ? nameNumbers(output, isFloat) : output,
      statistics: () => ({ elapsedMs: endedMs - startedMs, read: stream.progress }),
    };
  }

  /** The output, its failures in words for clients, within its time. */
  async *#guarded(
    stream: ResultStream,
    deadline: Deadline,
    onEnd: () => void,
  ): AsyncGenerator<Uint8Array, void> {
    deadline.start();
    try {
      yield* stream;
      onEnd();
    } catch (thrown) {
      throw this.#failure(thrown);
    } finally {
      deadline.stop();
    }
  }

  #failure(thrown: unknown): unknown {
    const failure = queryFailure(thrown);
    if (failure instanceof AppError && failure.code === 'sql_failed') {
      this.#parts.log.warn({ err: failure.cause }, 'a query failed in the store');
    }
    return failure;
  }
}

/**
 * Ends a query when its client leaves or its time is over. The store has a time limit of its own, which comes first
 * unless it is not at work because the client takes its result slowly.
 */
class Deadline {
  readonly #client: AbortSignal;
  readonly #timeoutMs: number;
  readonly #controller = new AbortController();
  readonly #onLeave = () => this.#controller.abort();
  #timer: NodeJS.Timeout | undefined;

  constructor(client: AbortSignal, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  start(): void {
    if (this.#client.aborted) this.#onLeave();
    this.#client.addEventListener('abort', this.#onLeave, { once: true });
    const late = () =>
      this.#controller.abort(new AppError('query_timeout', 'the result was taken too slowly'));
    this.#timer = setTimeout(late, this.#timeoutMs);
  }

  stop(): void {
    this.#client.removeEventListener('abort', this.#onLeave);
    clearTimeout(this.#timer);
  }
}

const boundSettings = (bounds: QueryBounds): Readonly<Record<string, string | number>> => ({
  max_execution_time: bounds.timeoutMs / 1000,
  max_memory_usage: bounds.maxMemoryBytes,
  max_threads: bounds.maxThreads,
  max_result_rows: bounds.maxResultRows,
  max_result_bytes: bounds.maxResultBytes,
  result_overflow_mode: 'throw',
});

function checkStreamName(streamName: string | undefined, { datasets }: Translation): void {
  if (streamName === undefined || datasets.includes(streamName)) return;
  const read = datasets.length === 0 ? 'none' : datasets.join(', ');
  throw new AppError(
    'bad_request',
    `streamName is "${streamName}", which the query does not read; it reads ${read}`,
  );
}
