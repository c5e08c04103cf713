import { FairQueue } from '../lib/fair-queue.ts';
import { limits } from '../limits/limits.ts';

/**
 * Shares the event loop between sessions. What has arrived of a session is handled without waiting for
 * anything, and 256 KiB may be 60,000 messages. So all sessions together get one slice of a turn of the event
 * loop; whoever comes later waits for a later turn. Tenants take turns, and each session goes on with one
 * slice.
 *
 *     take ──▶ goes on, in this slice
 *       └────▶ waits ── a turn of the event loop for each that waits ──▶ goes on, with a slice of its own
 */
export class Turns {
  /** A session waits once at a time, so the queue is never full. */
  readonly #waiting = new FairQueue<() => void>(limits.pgMaxConnections);
  readonly #sliceMs: number;
  /** Undefined: nothing was done in this turn of the event loop. */
  #startedMs: number | undefined;

  constructor(sliceMs: number = limits.pgSliceMs) {
    this.#sliceMs = sliceMs;
  }

  /** Before each piece of work. @returns undefined: it may go on at once */
  take(party: string): Promise<void> | undefined {
    const nowMs = performance.now();
    if (this.#startedMs === undefined) {
      this.#startedMs = nowMs;
      setImmediate(this.#next);
      return undefined;
    }
    if (this.#waiting.size === 0 && nowMs - this.#startedMs < this.#sliceMs) return undefined;
    return new Promise((resolve) => this.#waiting.push(party, resolve));
  }

  readonly #next = (): void => {
    const goOn = this.#waiting.shift();
    if (goOn === undefined) {
      this.#startedMs = undefined;
      return;
    }
    this.#startedMs = performance.now();
    setImmediate(this.#next);
    goOn();
  };
}
