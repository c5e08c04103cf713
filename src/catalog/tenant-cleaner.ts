import { untilDone } from '../lib/backoff.ts';
import type { Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { Signal } from '../lib/signal.ts';
import { limits } from '../limits/limits.ts';

/** Whether a tenant was deleted, or one of its datasets, alone or with its tenant. Both are ids. */
export type HasEnded = (tenant: string, dataset?: string) => boolean;

/** A part of the program that keeps data of tenants or of their datasets. */
export interface TenantHolder {
  /** Removes the data of deleted tenants and datasets. May be called again at any time. */
  forgetEnded(hasEnded: HasEnded): void | Promise<void>;
}

export interface TenantCleanerOptions {
  readonly hasEnded: HasEnded;
  readonly timers: Timers;
  readonly log: Logger;
}

/**
 * Has the data of deleted tenants and datasets removed: after each deletion, and after a start, since an
 * earlier process may have stopped halfway.
 *
 * The holders are called one after another in the order in which they were added. If one fails, all
 * are called again, with growing pauses, until none fails. Nothing depends on when that is: nobody can
 * read what was deleted.
 */
export class TenantCleaner {
  readonly #options: TenantCleanerOptions;
  readonly #holders: TenantHolder[] = [];
  readonly #stopping = new AbortController();
  /** A new end does not wait for the pause after an earlier failure. */
  readonly #asked = new Signal();
  /** Called when the holders have been asked, or could not be. */
  readonly #waiting: Array<() => void> = [];
  #running: Promise<void> | undefined;

  constructor(options: TenantCleanerOptions) {
    this.#options = options;
  }

  add(...holders: readonly TenantHolder[]): void {
    this.#holders.push(...holders);
  }

  /** Fulfils when the holders have been called once. Failures are retried in the background. */
  clean(): Promise<void> {
    const tried = new Promise<void>((done) => {
      this.#waiting.push(done);
    });
    this.#wake();
    this.#asked.notify();
    return tried;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  #wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#waiting.length > 0) this.#wake();
    });
  }

  async #run(): Promise<void> {
    const { timers, log } = this.#options;
    await untilDone(() => this.#try(), {
      signal: this.#stopping.signal,
      minMs: limits.insertBackoffMinMs,
      maxMs: limits.insertBackoffMaxMs,
      timers,
      retryNow: this.#asked,
      onFailure: (error, waitMs) =>
        log.error(
          { err: error, waitMs },
          'could not remove all data of a deleted tenant or dataset; retrying',
        ),
    });
    if (this.#stopping.signal.aborted) for (const done of this.#waiting.splice(0)) done();
  }

  async #try(): Promise<void> {
    const waiting = this.#waiting.splice(0);
    try {
      for (const holder of this.#holders) await holder.forgetEnded(this.#options.hasEnded);
    } finally {
      for (const done of waiting) done();
    }
  }
}
