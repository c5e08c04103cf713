import { backoffMs, sleep } from '../lib/backoff.ts';
import { systemClock, type Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits.ts';
import type { Catalog } from '../store/catalog.ts';
import { StoreError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import type { Backlog } from '../wal/backlog.ts';
import type { SealedSegment } from '../wal/segment.ts';
import { batchesOf, type TableBatch } from './batch.ts';

export interface DrainOptions {
  /** This node's name; part of the deduplication tokens. */
  readonly node: string;
  readonly backlog: Backlog;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Makes what else is to outlive a segment durable elsewhere; then the segment is removed. */
  readonly beforeRemove?: (segment: SealedSegment) => Promise<void>;
  readonly timers?: Timers;
}

/**
 * Moves sealed segments into the store, one after another, in the order of the log.
 *
 * - A segment makes one insert for each table in it, with the token `<node>-<segment>-<database>.<table>`. The
 *   store drops what it has already, so a segment may be inserted any number of times.
 * - A segment leaves the log when all of its inserts have returned, and not before.
 * - A failed insert is tried again, with growing pauses, until it succeeds or the drain stops. Nothing is ever
 *   given up here; meanwhile the log grows up to its bound and then refuses new writes.
 */
export class Drain {
  readonly #options: DrainOptions;
  readonly #timers: Timers;
  readonly #queue: SealedSegment[] = [];
  readonly #stopping = new AbortController();
  readonly #waiters = new Set<{ readonly number: number; done(): void }>();
  #newest = 0;
  /** The store has the segment of this number and all before it. */
  #drained = 0;
  #running: Promise<void> | undefined;
  #started = false;

  constructor(options: DrainOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemClock;
  }

  /** Begins; what was added before waits until now. */
  start(): void {
    this.#started = true;
    this.#wake();
  }

  /** Takes the next segment; numbers only grow. */
  add(segment: SealedSegment): void {
    this.#queue.push(segment);
    this.#newest = segment.number;
    this.#wake();
  }

  /** Fulfils when the store has the segment of that number, which may not even be sealed yet. */
  async drained(number: number): Promise<void> {
    if (number <= this.#drained) return;
    await new Promise<void>((done) => {
      this.#waiters.add({ number, done });
    });
  }

  /** Gives what is queued `graceMs` to get into the store; what is left stays in the log. */
  async stop(graceMs: number): Promise<void> {
    const timer = new AbortController();
    await Promise.race([this.drained(this.#newest), sleep(graceMs, timer.signal, this.#timers)]);
    timer.abort();
    this.#stopping.abort();
    await this.#running;
    if (this.#queue.length > 0) {
      this.#options.log.info(
        { segments: this.#queue.length },
        'the store did not take all of the log; the rest follows at the next start',
      );
    }
  }

  #wake(): void {
    if (!this.#started || this.#running !== undefined || this.#stopping.signal.aborted) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#queue.length > 0) this.#wake();
    });
  }

  async #run(): Promise<void> {
    for (let segment = this.#queue[0]; segment !== undefined; segment = this.#queue[0]) {
      if (!(await this.#drainSegment(segment))) return;
      this.#queue.shift();
      this.#drained = segment.number;
      for (const waiter of this.#waiters) {
        if (waiter.number > this.#drained) continue;
        this.#waiters.delete(waiter);
        waiter.done();
      }
    }
  }

  /** @returns false if the drain was stopped before the store had all of it */
  async #drainSegment(segment: SealedSegment): Promise<boolean> {
    const { backlog, beforeRemove } = this.#options;
    if (!(await this.#untilDone(segment, 'load', () => backlog.load(segment)))) return false;
    for (const batch of batchesOf(segment)) {
      if (!(await this.#untilDone(segment, batch.table, () => this.#insert(segment, batch)))) return false;
    }
    if (beforeRemove !== undefined) {
      if (!(await this.#untilDone(segment, 'remember', () => beforeRemove(segment)))) return false;
    }
    return this.#untilDone(segment, 'remove', () => backlog.remove(segment));
  }

  /** Tries until it succeeds. @returns false if the drain was stopped before */
  async #untilDone(segment: SealedSegment, step: string, work: () => Promise<void>): Promise<boolean> {
    const { signal } = this.#stopping;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        await work();
        return true;
      } catch (error) {
        this.#options.metrics.insertFailures.inc();
        const code = error instanceof StoreError ? error.clickHouseCode : undefined;
        const waitMs = backoffMs(attempt, limits.insertBackoffMinMs, limits.insertBackoffMaxMs, this.#timers);
        this.#options.log.error(
          { err: error, code, segment: segment.number, step, waitMs },
          'a segment could not be stored; it will be tried again',
        );
        await sleep(waitMs, signal, this.#timers);
      }
    }
    return false;
  }

  async #insert(segment: SealedSegment, batch: TableBatch): Promise<void> {
    const { store, catalog, metrics, node } = this.#options;
    const { tenant, dataset, kind, database, table, columns } = batch;
    const token = `${node}-${segment.number}-${database}.${table}`;
    const stop = metrics.insertDuration.startTimer();
    await catalog.ensure(tenant, dataset, kind, columns);
    const { signal } = this.#stopping;
    await store.insert({ database, table, columns, token, blocks: blocksOf(batch) }, signal);
    stop();
    metrics.insertRows.inc(batch.rows);
  }
}

function blocksOf(batch: TableBatch): Uint8Array[] {
  return batch.parts.map(({ record, index }) => {
    const block = record.blocks?.[index];
    if (block === undefined) throw new Error('BUG: a segment was not loaded before its insert');
    return block;
  });
}
