import { AppError } from '../errors.ts';
import { Cancellation, type CancelSignal } from '../lib/cancellation.ts';

/**
 * Ends a query when its client leaves or its time is over. The store has a time limit of its own, which comes
 * first unless it does not look at it, or is not at work because the client takes its result slowly.
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

  /** Once for each query; the time runs on if it did already. */
  start(): void {
    if (this.#timer !== undefined) return;
    if (this.#client.aborted) this.#onLeave();
    this.#client.addEventListener('abort', this.#onLeave, { once: true });
    const late = () =>
      this.#ending.cancel(
        new AppError('query_timeout', 'the query, or taking its result, took longer than allowed'),
      );
    this.#timer = setTimeout(late, this.#timeoutMs);
  }

  stop(): void {
    this.#client.removeEventListener('abort', this.#onLeave);
    clearTimeout(this.#timer);
  }
}
