/**
 * Readers that ask for all that was acknowledged before: they wait until the store has what the log holds now
 * of some datasets. No segment is sealed early for them, and the low-volume tables that wait for more rows
 * are flushed for all readers together: at an interval, a bounded number of datasets each time, those that
 * were asked for first. So whoever asks for every dataset all the time makes no more inserts a second than
 * low-volume tables may make, and nobody else's rows come sooner for it.
 */
import type { CancelSignal } from '../lib/cancellation.ts';
import type { Timers } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import type { Wal } from '../wal/wal.ts';
import type { Drain } from './drain.ts';
import { firstTablesOf } from './table-batch.ts';

export interface LatestReadsOptions {
  readonly wal: Pick<Wal, 'newestPending'>;
  readonly drain: Pick<Drain, 'added' | 'waiting' | 'flush' | 'inserted'>;
  readonly timers: Pick<Timers, 'after'>;
}

export class LatestReads {
  readonly #options: LatestReadsOptions;
  /** First tables of datasets whose flush was asked for and has not begun, and who is told when it has. */
  readonly #asked = new Map<string, Array<() => void>>();
  #isScheduled = false;

  constructor(options: LatestReadsOptions) {
    this.#options = options;
  }

  /**
   * Fulfils when the store has what the log holds now of these datasets.
   * @param ids of the datasets
   * @param signal ends the wait when the client leaves
   * @returns false if that took longer than `withinMs`
   */
  async wait(
    tenant: string,
    ids: readonly string[],
    withinMs: number,
    signal: CancelSignal,
  ): Promise<boolean> {
    const number = this.#options.wal.newestPending;
    if (number === undefined) return true;
    const firstTables = new Set(ids.flatMap((id) => firstTablesOf(tenant, id)));
    let stop = () => {};
    const ended = new Promise<false>((resolve) => {
      stop = () => resolve(false);
      signal.addEventListener('abort', stop, { once: true });
    });
    const cancel = this.#options.timers.after(withinMs, stop);
    try {
      return await Promise.race([this.#stored(number, firstTables).then(() => true as const), ended]);
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
      signal.throwIfAborted();
    }
  }

  async #stored(number: number, firstTables: ReadonlySet<string>): Promise<void> {
    const { drain } = this.#options;
    await drain.added(number);
    await Promise.all(drain.waiting(firstTables).map((table) => this.#flushed(table)));
    await drain.inserted(firstTables);
  }

  /** Fulfils when the inserts of a dataset that waited are queued. */
  #flushed(firstTable: string): Promise<void> {
    return new Promise((done) => {
      const waiting = this.#asked.get(firstTable) ?? [];
      this.#asked.set(firstTable, waiting);
      waiting.push(done);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#asked.size === 0) return;
    this.#isScheduled = true;
    this.#options.timers.after(limits.latestFlushIntervalMs, () => {
      this.#isScheduled = false;
      this.#flush();
      this.#schedule();
    });
  }

  #flush(): void {
    const most = Math.max(1, (limits.batchedInsertsPerSecond * limits.latestFlushIntervalMs) / 1000);
    const asked = [...this.#asked].slice(0, most);
    for (const [table] of asked) this.#asked.delete(table);
    this.#options.drain.flush(asked.map(([table]) => table));
    for (const [, waiting] of asked) for (const done of waiting) done();
  }
}
