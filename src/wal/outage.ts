import type { AppError } from '../errors.ts';
import type { Timers } from '../lib/clock.ts';
import { limits } from '../limits.ts';

/**
 * A log that cannot be written, and knows it: requests are refused at once with the reason, and only a probe
 * touches the disk, once in a while, until it succeeds.
 */
export class Outage {
  readonly #timers: Timers;
  readonly #probe: () => void;
  #error: AppError | undefined;
  #cancelProbe = () => {};

  /** @param probe asks for a try, which ends in `begin` or `end` */
  constructor(timers: Timers, probe: () => void) {
    this.#timers = timers;
    this.#probe = probe;
  }

  get error(): AppError | undefined {
    return this.#error;
  }

  begin(error: AppError): void {
    this.#error = error;
    this.#cancelProbe();
    this.#cancelProbe = this.#timers.after(limits.walProbeIntervalMs, this.#probe);
  }

  end(): void {
    this.#error = undefined;
    this.#cancelProbe();
  }
}
