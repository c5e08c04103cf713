import { type Retrying, sleep, untilDone } from '../lib/backoff.ts';
import { forEachParallel } from '../lib/parallel.ts';
import { limits } from '../limits.ts';
import { StoreError } from '../store/errors.ts';
import type { Backlog } from '../wal/backlog.ts';
import type { SealedSegment } from '../wal/segment.ts';
import { batchesOf } from './batch.ts';
import { BatchInserter, type BatchInserterOptions } from './batch-inserter.ts';

export interface DrainOptions extends BatchInserterOptions {
  readonly backlog: Backlog;
  /** Makes what else is to outlive a segment durable elsewhere; then the segment is removed. */
  readonly beforeRemove?: (segment: SealedSegment) => Promise<void>;
}

/**
 * Moves sealed segments into the store, one after another, in the order of the log.
 *
 * - A segment makes one insert for each table in it, with the token `<node>-<segment>-<database>.<table>`. The
 *   store drops what it has already, so a segment may be inserted any number of times.
 * - Datasets are inserted in parallel. The tables of one follow each other, series before samples, so that a reader
 *   never finds a sample without its labels.
 * - A failed insert is tried again, with growing pauses, until it succeeds or the drain stops; meanwhile the log
 *   grows up to its bound and then refuses new writes. Rows that the store refuses for good go to the dead
 *   letters (`batch-inserter.ts`), and everything else goes on.
 * - A segment leaves the log when the store or the dead letters have all of it, and not before.
 */
export class Drain {
  readonly #options: DrainOptions;
  readonly #inserter: BatchInserter;
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
    this.#inserter = new BatchInserter(options);
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
    await Promise.race([this.drained(this.#newest), sleep(graceMs, timer.signal, this.#options.clock)]);
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
    if (!(await untilDone(() => backlog.load(segment), this.#retrying(segment, 'load')))) return false;
    let complete = true;
    await forEachParallel(batchesOf(segment), limits.maxParallelInserts, async (tables) => {
      for (const batch of tables) {
        const retrying = this.#retrying(segment, `${batch.database}.${batch.table}`);
        if (await this.#inserter.insert(segment.number, batch, retrying)) continue;
        complete = false;
        return;
      }
    });
    if (!complete) return false;
    if (beforeRemove !== undefined) {
      if (!(await untilDone(() => beforeRemove(segment), this.#retrying(segment, 'remember')))) return false;
    }
    return untilDone(() => backlog.remove(segment), this.#retrying(segment, 'remove'));
  }

  #retrying(segment: SealedSegment, step: string): Retrying {
    const { clock, metrics, log } = this.#options;
    return {
      signal: this.#stopping.signal,
      minMs: limits.insertBackoffMinMs,
      maxMs: limits.insertBackoffMaxMs,
      timers: clock,
      onFailure: (error, waitMs) => {
        metrics.insertFailures.inc();
        const code = error instanceof StoreError ? error.clickHouseCode : undefined;
        log.error(
          { err: error, code, segment: segment.number, step, waitMs },
          'a segment could not be stored; it will be tried again',
        );
      },
    };
  }
}
