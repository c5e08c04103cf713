import { type Signal, signal } from '@preact/signals';
import { isAbort, ServiceError } from '../api/api-client.ts';
import { type RunOptions, runQuery } from '../api/run-query.ts';
import type { Result } from '../query/parse-result.ts';

/** What a view knows of its query. Old data stays until new data is there. */
export interface RunState {
  readonly isLoading: boolean;
  readonly result: Result | undefined;
  readonly error: ServiceError | undefined;
  /** The SQL of `result`, or of the run that failed. */
  readonly sql: string;
  /** When a failed run is repeated by itself, in milliseconds since 1970. */
  readonly retryAtMs: number | undefined;
}

const idle: RunState = {
  isLoading: false,
  result: undefined,
  error: undefined,
  sql: '',
  retryAtMs: undefined,
};

/** Below this, a retry would hammer the service. */
const minRetrySeconds = 1;

/**
 * The runs of one view: a new run ends the one before, whose reply is thrown away. While the service says
 * that it is starting or busy, the run is repeated when the service asks for it.
 */
export class QueryRun {
  readonly state: Signal<RunState> = signal(idle);
  #abort: AbortController | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;

  async run(sql: string, options: Omit<RunOptions, 'signal'> = {}): Promise<void> {
    this.#end();
    const abort = new AbortController();
    this.#abort = abort;
    const { result } = this.state.peek();
    this.state.value = { isLoading: true, result, error: undefined, sql, retryAtMs: undefined };
    try {
      const found = await runQuery(sql, { ...options, signal: abort.signal });
      if (this.#abort === abort) this.state.value = { ...idle, result: found, sql };
    } catch (thrown) {
      if (this.#abort !== abort || isAbort(thrown)) return;
      const error = thrown instanceof ServiceError ? thrown : new ServiceError(0, { detail: String(thrown) });
      const { retryAfterSeconds } = error;
      const waitMs = Math.max(retryAfterSeconds ?? 0, minRetrySeconds) * 1000;
      const retryAtMs = retryAfterSeconds === undefined ? undefined : Date.now() + waitMs;
      this.state.value = { isLoading: false, result: this.state.peek().result, error, sql, retryAtMs };
      if (retryAtMs !== undefined) this.#retry = setTimeout(() => void this.run(sql, options), waitMs);
    }
  }

  /** Ends the run; what was there before stays. */
  cancel(): void {
    this.#end();
    this.state.value = { ...this.state.peek(), isLoading: false, retryAtMs: undefined };
  }

  clear(): void {
    this.#end();
    this.state.value = idle;
  }

  #end(): void {
    this.#abort?.abort();
    this.#abort = undefined;
    clearTimeout(this.#retry);
  }
}
