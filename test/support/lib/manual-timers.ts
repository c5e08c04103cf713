import type { Timers } from '../../../src/lib/clock.ts';
import { ManualClock } from './manual-clock.ts';

/** How many turns of the event loop work gets to come to a rest. */
const turnsToRest = 20;

/** A clock with timers that fire only when it is moved on, in their order. */
export class ManualTimers extends ManualClock implements Timers {
  readonly #waiting = new Set<{ readonly atMs: number; readonly action: () => void }>();

  turn(): Promise<void> {
    return new Promise(setImmediate);
  }

  after(ms: number, action: () => void): () => void {
    const timer = { atMs: this.monotonicMs() + ms, action };
    this.#waiting.add(timer);
    return () => this.#waiting.delete(timer);
  }

  random(): number {
    return 0.5;
  }

  /** Moves on, and lets everything that this wakes come to a rest. */
  async pass(ms: number): Promise<void> {
    const endMs = this.monotonicMs() + ms;
    await this.rest();
    for (;;) {
      const next = [...this.#waiting].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.advance(Math.max(0, next.atMs - this.monotonicMs()));
      this.#waiting.delete(next);
      next.action();
      await this.rest();
    }
    this.advance(endMs - this.monotonicMs());
    await this.rest();
  }

  async rest(): Promise<void> {
    for (let turn = 0; turn < turnsToRest; turn += 1) await this.turn();
  }
}
