import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';

interface Pause {
  /** On the monotonic clock. */
  readonly endMs: number;
  readonly lengthMs: number;
}

/**
 * Who had a query that could be ended only with the engine, and may ask for none for a while: a minute the first time, and
 * twice as long each time that it happens again. So nobody keeps the engine from the others. Who behaves for as long as
 * the pause was after its end begins anew.
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
    // Queries that began together end together, as one.
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
        'one of your queries did not stop after its time, and the engine had to be started again to end it',
        { retryAfterSeconds: Math.ceil(leftMs / 1000) },
      );
    }
    if (-leftMs > pause.lengthMs) this.#pauses.delete(who);
  }
}
