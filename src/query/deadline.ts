import { AppError } from '../errors.ts';
import { Cancellation, type CancelSignal } from '../lib/cancellation.ts';

/**
 * Cancels a query when its client disconnects or its time is over. The store has a time limit too, and
 * usually reaches it first. This one is for the rest: the store checks its limit only now and then, and not
 * while it waits for a client that reads slowly.
 */
export class Deadline {
  readonly #client: CancelSignal;
  readonly #timeoutMs: number;
  readonly #ending = new Cancellation();
  readonly #onLeave = () => this.#ending.cancel();
  #timer: NodeJS.Timeout | undefined;

  constructor(client: CancelSignal, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
  }

  get signal(): CancelSignal {
    return this.#ending;
  }

  /** Starts the time, unless it runs already. */
  start(): void {
    if (this.#timer !== undefined) return;
    if (this.#client.aborted) this.#onLeave();
    this.#client.addEventListener('abort', this.#onLeave, { once: true });
    const late = () =>
      this.#ending.cancel(
        new AppError('query_timeout', 'running the query and reading its result took longer than allowed'),
      );
    this.#timer = setTimeout(late, this.#timeoutMs);
  }

  stop(): void {
    this.#client.removeEventListener('abort', this.#onLeave);
    clearTimeout(this.#timer);
  }
}
