/**
 * Live mode: the rows of a question as they arrive in the store, over one live tail of the service. This is
 * the specification.
 *
 *     off ── start ──▶ connecting ── accepted ──▶ following ── lost, or the service stops ──▶ waiting
 *      ▲                 ▲  │                        │                                          │
 *      │                 │  └──────── refused ───────┴── ended by the service ──▶ ended         │
 *      │                 └──────────────────── after a while ───────────────────────────────────┘
 *      └── stop, from everywhere
 *
 * - A tab has one tail at most: a start ends the one before.
 * - While the page is hidden there is no connection. When it is seen again, the tail goes on where it was, as
 *   after a lost connection: behind the last id that the service has sent.
 * - While somebody reads (`isPaused`), new rows wait, so that nothing moves under their eyes.
 * - Memory: `TailRows.keep` bounds the rows that are shown, and those that wait.
 * - What the service leaves out is counted. Why it ends a tail is kept until the next start, with the rows.
 */
import { signal } from '@preact/signals';
import { isAbort, ServiceError } from '../../api/api-client.ts';
import { connectionLost, readLiveTail, type TailPart } from '../../api/live-tail.ts';
import { reconnectDelayMs } from '../../api/reconnect-delay.ts';
import type { SentEvent } from '../../api/server-sent-events.ts';
import type { Question } from '../../query/explore-sql.ts';
import type { ResultColumn, Row } from '../../query/parse-result.ts';
import { TailRows } from '../../query/tail-rows.ts';

export type TailPhase =
  | { readonly kind: 'connecting' | 'following' }
  | { readonly kind: 'waiting'; readonly error: ServiceError; readonly retryAtMs: number }
  | { readonly kind: 'ended'; readonly error: ServiceError };

/** Rows that the service has left out. */
export interface SkippedRows {
  /** Those that it has counted. */
  readonly rows: number;
  readonly hasUncounted: boolean;
  /** As the service names them, each once. */
  readonly reasons: readonly string[];
}

export interface TailState {
  readonly phase: TailPhase;
  readonly columns: readonly ResultColumn[];
  /** The last that arrived first. */
  readonly rows: readonly Row[];
  /** Rows that came while the list stands still. */
  readonly waiting: readonly Row[];
  readonly skipped: SkippedRows;
}

const connecting: TailPhase = { kind: 'connecting' };
const nothingSkipped: SkippedRows = { rows: 0, hasUncounted: false, reasons: [] };
const empty: TailState = { phase: connecting, columns: [], rows: [], waiting: [], skipped: nothingSkipped };

/** Replies of proxies while the service restarts; they do not say when to try again. */
const passingStatuses = new Set([502, 503, 504]);
/**
 * Ends after which the tail is asked for again: another process goes on, and a session that is over is
 * refused with all that leads to a new one.
 */
const resumedEnds = new Set(['shutting_down', 'unauthenticated']);

/** What a tail follows, and where it is. */
interface Followed {
  readonly question: Question;
  readonly tailRows: TailRows;
  lastId: string;
}

export class Tail {
  readonly state = signal<TailState>(empty);
  readonly isOn = signal(false);
  /** Set by the list: it was scrolled, a row is open, or text is marked. */
  isPaused: () => boolean = () => false;
  #followed: Followed | undefined;
  #abort: AbortController | undefined;

  start(question: Question): void {
    this.#followed = { question, tailRows: new TailRows(question.dataset.fields), lastId: '' };
    this.state.value = { ...empty, columns: question.dataset.fields };
    this.resume();
  }

  /** Goes on where it has ended, with the rows that are there. */
  resume(): void {
    if (this.#followed === undefined) return;
    this.#abort?.abort();
    this.#abort = new AbortController();
    this.isOn.value = true;
    void this.#follow(this.#followed, this.#abort.signal);
  }

  stop(): void {
    this.#abort?.abort();
    this.#abort = undefined;
    this.#followed = undefined;
    this.isOn.value = false;
    this.state.value = empty;
  }

  /** Shows the rows that wait. */
  show(): void {
    const { rows, waiting } = this.state.peek();
    const all = [...waiting, ...rows];
    this.#change({ rows: this.#followed?.tailRows.keep(all) ?? all, waiting: [] });
  }

  #change(part: Partial<TailState>): void {
    this.state.value = { ...this.state.peek(), ...part };
  }

  async #follow(followed: Followed, stopped: AbortSignal): Promise<void> {
    let failures = 0;
    while (!stopped.aborted) {
      this.#change({ phase: connecting });
      const error = await this.#connect(followed, stopped, () => {
        failures = 0;
      });
      if (stopped.aborted) return;
      if (error === undefined) continue;
      if (error.retryAfterSeconds === undefined && !passingStatuses.has(error.status)) {
        this.#change({ phase: { kind: 'ended', error } });
        return;
      }
      failures += 1;
      const waitMs = Math.max(
        (error.retryAfterSeconds ?? 0) * 1000,
        reconnectDelayMs(failures, Math.random()),
      );
      this.#change({ phase: { kind: 'waiting', error, retryAtMs: Date.now() + waitMs } });
      await pause(waitMs, stopped);
    }
  }

  /** One connection, once the page can be seen. @returns why it is over; undefined if the page was hidden */
  async #connect(
    followed: Followed,
    stopped: AbortSignal,
    onAccepted: () => void,
  ): Promise<ServiceError | undefined> {
    await visible(stopped);
    const hidden = new AbortController();
    const onChange = () => {
      if (document.visibilityState === 'hidden') hidden.abort();
    };
    document.addEventListener('visibilitychange', onChange);
    const ended = AbortSignal.any([stopped, hidden.signal]);
    const { question, lastId } = followed;
    const request = { dataset: question.dataset.dataset, condition: question.condition, lastId };
    try {
      for await (const part of readLiveTail({ ...request, signal: ended })) {
        // What was read before an end is not shown after it, so that it may come again.
        if (ended.aborted) return undefined;
        onAccepted();
        const end = this.#take(part, followed);
        if (end !== undefined) return end;
      }
      return connectionLost();
    } catch (thrown) {
      if (ended.aborted || isAbort(thrown)) return undefined;
      return thrown instanceof ServiceError ? thrown : new ServiceError(0, { detail: String(thrown) });
    } finally {
      document.removeEventListener('visibilitychange', onChange);
    }
  }

  /** @returns why the service ends the tail, if it does */
  #take({ events, lastId }: TailPart, followed: Followed): ServiceError | undefined {
    followed.lastId = lastId;
    const { tailRows } = followed;
    const fresh: Row[] = [];
    let { skipped } = this.state.peek();
    let end: ServiceError | undefined;
    for (const event of events) {
      if (event.event === 'message') fresh.push(tailRows.rowOf(event.data));
      else if (event.event === 'skipped') skipped = withSkipped(skipped, event);
      else if (event.event === 'end') end = errorOf(event);
    }
    fresh.reverse();
    const { rows, waiting } = this.state.peek();
    const lists = this.isPaused()
      ? { rows, waiting: tailRows.keep([...fresh, ...waiting]) }
      : { rows: tailRows.keep([...fresh, ...waiting, ...rows]), waiting: [] };
    const isChanged = fresh.length > 0;
    this.#change({
      phase: { kind: 'following' },
      skipped,
      ...(isChanged ? { ...lists, columns: tailRows.columns } : {}),
    });
    return end;
  }
}

function withSkipped(before: SkippedRows, { data }: SentEvent): SkippedRows {
  const { rows, reason } = JSON.parse(data) as { readonly rows: number | null; readonly reason: string };
  return {
    rows: before.rows + (rows ?? 0),
    hasUncounted: before.hasUncounted || rows === null,
    reasons: before.reasons.includes(reason) ? before.reasons : [...before.reasons, reason],
  };
}

function errorOf({ data }: SentEvent): ServiceError {
  const problem = JSON.parse(data) as { readonly code: string; readonly detail: string };
  return new ServiceError(0, problem, resumedEnds.has(problem.code) ? 0 : undefined);
}

/** Fulfils when the page can be seen, or when the signal is aborted. */
async function visible(stopped: AbortSignal): Promise<void> {
  while (document.visibilityState === 'hidden' && !stopped.aborted) {
    await new Promise<void>((resolve) => {
      const done = () => {
        document.removeEventListener('visibilitychange', done);
        stopped.removeEventListener('abort', done);
        resolve();
      };
      document.addEventListener('visibilitychange', done);
      stopped.addEventListener('abort', done);
    });
  }
}

/** Fulfils after this time, or when the signal is aborted. */
const pause = (ms: number, stopped: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stopped.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    stopped.addEventListener('abort', done);
  });

export const tail = new Tail();
