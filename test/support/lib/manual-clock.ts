import type { Clock } from '../../../src/lib/clock.ts';

/** A clock that moves only when told to. Its wall time can also be set. */
export class ManualClock implements Clock {
  #monotonicMs = 5000;
  #wallMs = 1_763_600_000_000;

  nowMicros(): number {
    return this.#wallMs * 1000;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  advance(ms: number): void {
    this.#monotonicMs += ms;
    this.#wallMs += ms;
  }

  /** Moves only the wall clock, in either direction. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }
}
