import { checkEngineVersion } from '../clickhouse/engine-version.ts';
import type { Store } from '../clickhouse/store.ts';
import { StoreError } from '../clickhouse/store-error.ts';
import { errorText } from '../errors.ts';
import { backoffMs, sleep, sleepUnlessNotified } from '../lib/backoff.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { Signal } from '../lib/signal.ts';
import { limits } from '../limits/limits.ts';
import type { Catalog } from './catalog.ts';

export interface StoreMonitorOptions {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly clock: Clock & Timers;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Watches whether the store answers, and loads the catalog as soon as it does.
 *
 * A store that is down stops neither the start nor the writes: they go to the log and need nothing of the
 * store. Each change between up and down is logged once and shown by `/metrics` and the readiness check.
 *
 * A caller that got no answer reports it (`suspect`), and the store is checked at once. While it is
 * down it is checked several times a second, so that even a short recovery is noticed and wakes
 * those who wait for it.
 */
export class StoreMonitor {
  readonly #options: StoreMonitorOptions;
  readonly #stopping = new AbortController();
  readonly #suspicion = new Signal();
  #isSuspected = false;
  /** Wakes when the store answers after it did not. */
  readonly returned = new Signal();
  /** Since when, on the monotonic clock, and why the store has not answered. */
  #outage: { readonly sinceMs: number; readonly reason: string } | undefined;

  constructor(options: StoreMonitorOptions) {
    this.#options = options;
  }

  /**
   * Reads the store. Returns when that is done, or when it takes too long; then it continues in the
   * background.
   * @throws AppError, StoreError if the store answers but waiting will not help, for instance
   *   because it is too old
   */
  async start(): Promise<void> {
    const first = this.#check();
    const enough = new AbortController();
    const failure = await Promise.race([
      first,
      sleep(limits.storeStartWaitMs, enough.signal, this.#options.clock),
    ]);
    enough.abort();
    if (failure !== undefined && !isPassing(failure)) throw failure;
    void this.#run(first);
  }

  /** Whether the store answered the last check. */
  get available(): boolean {
    return this.#options.catalog.loaded && this.#outage === undefined;
  }

  /** Called when a statement got no answer. */
  suspect(): void {
    this.#isSuspected = true;
    this.#suspicion.notify();
  }

  /** Stops the checks. A check in progress continues. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(first: Promise<unknown>): Promise<void> {
    const { signal } = this.#stopping;
    const { clock } = this.#options;
    const pauseOf = (ms: number) => backoffMs(0, ms, ms, clock);
    await first;
    while (!signal.aborted) {
      if (!this.available) await sleep(pauseOf(limits.storeProbeIntervalMs), signal, clock);
      else if (!this.#isSuspected) {
        await sleepUnlessNotified(pauseOf(limits.storeCheckIntervalMs), this.#suspicion, signal, clock);
      }
      this.#isSuspected = false;
      if (!signal.aborted) await this.#check();
    }
  }

  /** @returns the failure, if there was one */
  async #check(): Promise<unknown> {
    const { store, catalog, metrics } = this.#options;
    try {
      if (catalog.loaded) await store.command('SELECT 1');
      else await this.#load();
      this.#answered();
      metrics.storeUp.set(1);
      return undefined;
    } catch (error) {
      this.#failed(error);
      metrics.storeUp.set(0);
      return error;
    }
  }

  async #load(): Promise<void> {
    const { store, catalog, log } = this.#options;
    await checkEngineVersion(store);
    for (const conflict of await catalog.load()) {
      log.error(
        conflict,
        'while the store was away, rows of another kind were written to a dataset; they are stored in tables of ' +
          'their own, which SQL does not show',
      );
    }
  }

  #answered(): void {
    if (this.#outage === undefined) return;
    const outageMs = Math.round(this.#options.clock.monotonicMs() - this.#outage.sinceMs);
    this.#outage = undefined;
    this.#options.log.info({ outageMs }, 'the store answers');
    this.returned.notify();
  }

  #failed(error: unknown): void {
    const { clock, log } = this.#options;
    const reason = errorText(error);
    if (this.#outage?.reason !== reason) {
      log.error({ err: error }, 'the store does not answer; writes go to the log, queries wait');
    }
    this.#outage = { sinceMs: this.#outage?.sinceMs ?? clock.monotonicMs(), reason };
  }
}

/** Whether the failure may go away by itself. */
const isPassing = (failure: unknown): boolean => failure instanceof StoreError && failure.retryable;
