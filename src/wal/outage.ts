import { AppError } from '../errors.ts';
import type { Timers } from '../lib/clock.ts';
import { hasErrorCode } from '../lib/files.ts';
import { limits } from '../limits/limits.ts';

/**
 * The state of a log that cannot be written. Requests are refused at once with the reason, and only a
 * periodic probe touches the disk, until it succeeds.
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

/** Whether something that was thrown says that there is no room. */
export const isFull = (thrown: unknown): boolean =>
  hasErrorCode(thrown, 'ENOSPC') || hasErrorCode(thrown, 'EDQUOT');

/** What a request is told when a write failed. */
export const refusalOf = (thrown: unknown): AppError =>
  isFull(thrown)
    ? new AppError('log_full', 'the disk of the write-ahead log is full', { cause: thrown })
    : new AppError('log_failed', 'the disk of the write-ahead log fails', { cause: thrown });
