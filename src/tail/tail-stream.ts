/**
 * What one client of a live tail is sent.
 *
 *     free ── push ──▶ full ── the client takes it ──▶ free
 *       └──────┴── end ──▶ ending ── the last events are taken ──▶ ended
 *       any ── the client leaves ──▶ ended
 *
 * At most one push waits, beside the one that is being written: whoever has more for a client that is not
 * free counts it as skipped. So a client that does not read costs two pushes of memory, however long it
 * stays, and holds up nobody else.
 */
import type { CancelSignal } from '../lib/cancellation.ts';
import type { Timers } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import { heartbeat } from './tail-events.ts';

export interface TailStreamParts {
  readonly timers: Pick<Timers, 'after'>;
  /** Aborted when the client leaves. */
  readonly signal: CancelSignal;
  /** Called once, when nothing is sent any more. */
  readonly onEnded: () => void;
}

export class TailStream implements AsyncIterable<Uint8Array> {
  readonly #parts: TailStreamParts;
  #next: Uint8Array | undefined;
  #last: Uint8Array | undefined;
  #state: 'open' | 'ending' | 'ended' = 'open';
  #wake = (): void => {};
  readonly #onLeft = (): void => this.#close();

  constructor(parts: TailStreamParts) {
    this.#parts = parts;
    if (parts.signal.aborted) this.#close();
    else parts.signal.addEventListener('abort', this.#onLeft, { once: true });
  }

  /** Whether a push would be taken. */
  get isFree(): boolean {
    return this.#state === 'open' && this.#next === undefined;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Only while it is free. */
  push(events: Uint8Array): void {
    if (!this.isFree) throw new Error('BUG: the client of a live tail is not free');
    this.#next = events;
    this.#wake();
  }

  /** Sends what waits, then this, and ends. */
  end(last: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    this.#last = last;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const next = this.#take();
        if (next !== undefined) yield next;
        else if (this.#state !== 'open') return;
        else if (await this.#isIdle()) yield heartbeat();
      }
    } finally {
      this.#close();
    }
  }

  #take(): Uint8Array | undefined {
    if (this.#state === 'ended') return undefined;
    const next = this.#next ?? this.#last;
    if (this.#next !== undefined) this.#next = undefined;
    else this.#last = undefined;
    return next;
  }

  /** Waits for something to send. @returns whether that took so long that a comment is due */
  #isIdle(): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#parts.timers.after(limits.tailHeartbeatMs, () => resolve(true));
      this.#wake = () => {
        cancel();
        resolve(false);
      };
    });
  }

  #close(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#next = undefined;
    this.#parts.signal.removeEventListener('abort', this.#onLeft);
    this.#wake();
    this.#parts.onEnded();
  }
}
