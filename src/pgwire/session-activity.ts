import { limits } from '../limits/limits.ts';
import type { VisibleSession } from '../sql/catalog-session.ts';
import type { TransactionStatus } from './protocol/server-messages.ts';

type Activity = Pick<
  VisibleSession,
  'state' | 'query' | 'queryStartedMs' | 'transactionStartedMs' | 'stateChangedMs'
>;

const idleStates = {
  I: 'idle',
  T: 'idle in transaction',
  E: 'idle in transaction (aborted)',
} as const satisfies Record<TransactionStatus, VisibleSession['state']>;

/**
 * What a session does now, or did last, as `pg_stat_activity` shows it. Values of parameters are not shown,
 * and of the text of a statement its beginning alone.
 */
export class SessionActivity {
  #state: VisibleSession['state'] = 'idle';
  #query = '';
  #queryStartedMs: number | undefined;
  #transactionStartedMs: number | undefined;
  #stateChangedMs: number;

  /** @param nowMs since 1970 */
  constructor(nowMs: number) {
    this.#stateChangedMs = nowMs;
  }

  /** A statement begins. */
  begin(query: string, nowMs: number): void {
    this.#query = query.slice(0, limits.pgActivityQueryLength);
    this.#queryStartedMs = nowMs;
    this.#transactionStartedMs ??= nowMs;
    this.#change('active', nowMs);
  }

  /** It has ended. */
  end(status: TransactionStatus, nowMs: number): void {
    if (status === 'I') this.#transactionStartedMs = undefined;
    this.#change(idleStates[status], nowMs);
  }

  current(): Activity {
    return {
      state: this.#state,
      query: this.#query,
      queryStartedMs: this.#queryStartedMs,
      transactionStartedMs: this.#transactionStartedMs,
      stateChangedMs: this.#stateChangedMs,
    };
  }

  #change(state: VisibleSession['state'], nowMs: number): void {
    this.#state = state;
    this.#stateChangedMs = nowMs;
  }
}
