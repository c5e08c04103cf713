import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';

interface Pause {
  /** On the monotonic clock. */
  readonly endMs: number;
  readonly lengthMs: number;
}

/**
 * Refuses the queries of a sender for a while after a query of his could be ended only by killing the engine:
 * a minute the first time, and twice as long each further time, so that nobody keeps the engine from the
 * others. After a time without such a query as long as the last pause, the next pause is a minute again.
 */
export class QueryPauses {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** The newest last. */
  readonly #pauses = new Map<string, Pause>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  add(who: string): void {
    const now = this.#clock.monotonicMs();
    const last = this.#pauses.get(who);
    // Queries that started together end together and count once.
    if (last !== undefined && now < last.endMs) return;
    const again = last !== undefined && now < last.endMs + last.lengthMs;
    const lengthMs = again ? Math.min(2 * last.lengthMs, limits.maxQueryPauseMs) : limits.minQueryPauseMs;
    this.#pauses.delete(who);
    this.#pauses.set(who, { endMs: now + lengthMs, lengthMs });
    for (const oldest of this.#pauses.keys()) {
      if (this.#pauses.size <= limits.maxQueryPauses) break;
      this.#pauses.delete(oldest);
    }
  }

  /** @throws AppError `queries_paused` */
  check(who: string): void {
    const pause = this.#pauses.get(who);
    if (pause === undefined) return;
    const leftMs = pause.endMs - this.#clock.monotonicMs();
    if (leftMs > 0) {
      throw new AppError(
        'queries_paused',
        'one of your queries did not stop at its timeout, and the engine had to be restarted to end it',
        { retryAfterSeconds: Math.ceil(leftMs / 1000) },
      );
    }
    if (-leftMs > pause.lengthMs) this.#pauses.delete(who);
  }
}
