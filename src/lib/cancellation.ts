/** The common part of `AbortSignal` and `Cancellation`: whether the caller still waits for the result. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** @throws unknown the reason, if it is aborted */
  throwIfAborted(): void;
  /** The listener is called once, when the signal is aborted; never if it is aborted already. */
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Cancels work that nobody waits for any more.
 *
 *     open ── cancel ──▶ aborted, with the first reason that was given
 *
 * An `AbortController` does the same with an event target, which costs each query some twenty microseconds,
 * and two or three times that when the engine has just used up the processor's caches.
 */
export class Cancellation implements CancelSignal {
  #aborted = false;
  #reason: unknown;
  #listeners: Array<() => void> = [];

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  cancel(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#aborted && !this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.#listeners.indexOf(listener);
    if (index >= 0) this.#listeners.splice(index, 1);
  }
}

/** An equivalent `AbortSignal`, for APIs that need one. */
export function abortSignalOf(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return controller.signal;
}
