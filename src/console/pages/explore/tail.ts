import { signal } from '@preact/signals';
import { isAbort, ServiceError } from '../../api/api-client.ts';
import { runQuery } from '../../api/run-query.ts';
import { type Question, rowsSql } from '../../query/explore-sql.ts';
import type { ResultColumn, Row } from '../../query/parse-result.ts';

/** Rows that a tail keeps; older ones leave it. */
export const maxTailRows = 2000;
const intervalMs = 1500;
/** Rows may be stored some seconds after the time that they say. */
const lookBackMs = 10_000;
const maxRowsAtOnce = 500;

export interface TailState {
  readonly columns: readonly ResultColumn[];
  /** Newest first. */
  readonly rows: readonly Row[];
  /** Rows that came while the list stands still. */
  readonly waiting: readonly Row[];
  readonly error: ServiceError | undefined;
}

const empty: TailState = { columns: [], rows: [], waiting: [], error: undefined };

/**
 * Follows a question: asks for its newest rows again and again, while the page can be seen, and adds those
 * that were not there. While somebody reads (`isPaused`), new rows wait, so that nothing moves under their
 * eyes.
 */
export class Tail {
  readonly state = signal<TailState>(empty);
  readonly isOn = signal(false);
  /** Set by the list: it was scrolled, a row is open, or text is marked. */
  isPaused: () => boolean = () => false;
  #abort: AbortController | undefined;

  start(question: Question): void {
    this.stop();
    const abort = new AbortController();
    this.#abort = abort;
    this.state.value = empty;
    this.isOn.value = true;
    void this.#follow(question, abort.signal);
  }

  stop(): void {
    this.#abort?.abort();
    this.#abort = undefined;
    this.isOn.value = false;
  }

  /** Shows the rows that wait. */
  show(): void {
    const { rows, waiting } = this.state.peek();
    this.state.value = {
      ...this.state.peek(),
      rows: [...waiting, ...rows].slice(0, maxTailRows),
      waiting: [],
    };
  }

  async #follow(question: Question, ended: AbortSignal): Promise<void> {
    let sinceMs = Date.now() - 60_000;
    let seen = new Set<string>();
    while (!ended.aborted) {
      if (document.visibilityState === 'visible') {
        const nowMs = Date.now();
        const bounds = { fromMs: sinceMs - lookBackMs, toMs: nowMs + 1000 };
        try {
          const { columns, rows } = await runQuery(rowsSql({ ...question, bounds }, maxRowsAtOnce), {
            signal: ended,
          });
          const keyed = rows.map((row) => [JSON.stringify(row), row] as const);
          this.#add(
            columns,
            keyed.filter(([key]) => !seen.has(key)).map(([, row]) => row),
          );
          seen = new Set(keyed.map(([key]) => key));
          sinceMs = nowMs;
        } catch (error) {
          if (isAbort(error)) return;
          const shown =
            error instanceof ServiceError ? error : new ServiceError(0, { detail: String(error) });
          if (!ended.aborted) this.state.value = { ...this.state.peek(), error: shown };
        }
      }
      await new Promise((resolve) => setTimeout(resolve, intervalMs));
    }
  }

  #add(columns: readonly ResultColumn[], fresh: readonly Row[]): void {
    const { rows, waiting } = this.state.peek();
    this.state.value = this.isPaused()
      ? { columns, rows, waiting: [...fresh, ...waiting].slice(0, maxTailRows), error: undefined }
      : {
          columns,
          rows: [...fresh, ...waiting, ...rows].slice(0, maxTailRows),
          waiting: [],
          error: undefined,
        };
  }
}

export const tail = new Tail();
