import type { Clock } from '../../src/lib/clock.ts';

/** A clock that stands still until it is moved. Its wall time may also be set, like any wall clock's. */
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

  /** Moves the wall clock alone, in either direction. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }
}
