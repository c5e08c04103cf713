import { AppError } from '../errors.ts';
import { requestBounds } from './decode-bounds.ts';

/**
 * What the rows of one request may take beyond the size of its body. A few bytes can stand for much more: a
 * series with samples on many days is written for each of them, a symbol can be named by every series.
 */
export class MemoryBudget {
  readonly #maxBytes: number;
  #left: number;

  constructor(maxBytes: number = requestBounds.maxInflatedBytes) {
    this.#maxBytes = maxBytes;
    this.#left = maxBytes;
  }

  /**
   * @param what was about to be written, and how to avoid that it is so much; for the client
   * @throws AppError `body_too_large`
   */
  spend(bytes: number, what: string): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    throw new AppError(
      'body_too_large',
      `The rows of this request take more than ${this.#maxBytes} bytes; it ended at ${what}`,
    );
  }
}
