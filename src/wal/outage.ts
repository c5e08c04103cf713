import type { AppError } from '../errors.ts';
import { limits } from '../limits.ts';

/**
 * A log that cannot be written, and knows it: requests are refused at once with the reason, and only a probe
 * touches the disk, once in a while, until it succeeds.
 */
export class Outage {
  readonly #probe: () => void;
  #error: AppError | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param probe asks for a try, which ends in `begin` or `end` */
  constructor(probe: () => void) {
    this.#probe = probe;
  }

  get error(): AppError | undefined {
    return this.#error;
  }

  begin(error: AppError): void {
    this.#error = error;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#probe, limits.walProbeIntervalMs);
  }

  end(): void {
    this.#error = undefined;
    clearTimeout(this.#timer);
  }
}
