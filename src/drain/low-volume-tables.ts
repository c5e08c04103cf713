/**
 * Batching: which tables wait for more rows before their insert, and for how long.
 *
 * An insert costs the store some milliseconds and a part, however few rows it has. As long as a segment holds
 * few tables, each is inserted at once. Of a segment with many tables, those of datasets with much data are
 * inserted at once. The others are low-volume tables: they wait, and take what several segments hold for them
 * in one insert.
 *
 * - The wait grows with the number of datasets that wait, so that the number of inserts per second is
 *   bounded. The wait itself is bounded, and so are the bytes that wait. Each dataset has its own wait, which
 *   begins with the first of its waiting rows. Datasets whose waits end at the same time are flushed
 *   together, up to a bound, those that have waited longest first. If so many wait that the bound on the wait
 *   applies, some are flushed early, so that no more waits end at once than the store can take.
 * - The tables of a dataset stay together, so that a sample never comes before its series. A dataset that
 *   waits takes along what comes for it meanwhile, however much that is, so that its rows stay in order.
 * - Which tables of a segment may be inserted at once depends only on the segment. The one exception is that
 *   a dataset that already waits takes its tables of the segment along. A later run of the process finds the
 *   same segments, so it inserts alone what was, or may have been, inserted alone before. This is why
 *   `maxUnbatchedTables` may only grow and `minUnbatchedBytes` only shrink from one version of this program
 *   to the next.
 */
import type { Clock } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import type { BatchPlan, PendingSegment } from './drain-state.ts';
import { mergeBatches, type TableBatch } from './table-batch.ts';

export interface LowVolumeOptions {
  /** The longest wait. */
  readonly maxWaitMs: number;
  /** What waits keeps no more than this in the log. */
  readonly maxBytes: number;
  readonly maxUnbatchedTables?: number;
  readonly minUnbatchedBytes?: number;
  readonly insertsPerSecond?: number;
  readonly maxBatchedDatasets?: number;
}

/** What waits of a dataset, in log order, and since when. */
interface WaitingDataset {
  readonly sinceMs: number;
  readonly parts: Array<{ readonly segment: PendingSegment; readonly batch: TableBatch }>;
}

export class LowVolumeTables {
  readonly #options: Required<LowVolumeOptions>;
  readonly #clock: Clock;
  /** By the dataset's first table; the dataset that has waited for longest comes first. */
  readonly #waiting = new Map<string, WaitingDataset>();
  #bytes = 0;
  /** When waits last ended by themselves, or when the first of the current ones began. */
  #lastFlushMs = 0;

  constructor(options: LowVolumeOptions, clock: Clock) {
    this.#clock = clock;
    const { maxUnbatchedTables, minUnbatchedBytes, maxBatchedDatasets } = limits;
    const { batchedInsertsPerSecond: insertsPerSecond } = limits;
    this.#options = {
      maxUnbatchedTables,
      minUnbatchedBytes,
      insertsPerSecond,
      maxBatchedDatasets,
      ...options,
    };
  }

  /**
   * Takes the batches of a segment that are to wait.
   * @param isMissing whether the store lacks a batch; the others are left out
   * @returns the batches that are to be inserted at once
   */
  take(
    segment: PendingSegment,
    batches: readonly TableBatch[],
    isMissing: (batch: TableBatch) => boolean,
  ): TableBatch[] {
    const { maxUnbatchedTables, minUnbatchedBytes } = this.#options;
    const bytes = new Map<string, number>();
    for (const { firstTable, byteLength } of batches)
      bytes.set(firstTable, (bytes.get(firstTable) ?? 0) + byteLength);
    const isUnbatched = (firstTable: string) =>
      batches.length <= maxUnbatchedTables || (bytes.get(firstTable) ?? 0) >= minUnbatchedBytes;
    const unbatched: TableBatch[] = [];
    for (const batch of batches.filter(isMissing)) {
      const { firstTable } = batch;
      if (isUnbatched(firstTable) && !this.#waiting.has(firstTable)) unbatched.push(batch);
      else this.#keep(segment, batch);
    }
    return unbatched;
  }

  /** Whether a dataset waits, by its first table. */
  waits(firstTable: string): boolean {
    return this.#waiting.has(firstTable);
  }

  /** How long it is until the first wait is over, negative if it is overdue; undefined if nothing waits. */
  get dueInMs(): number | undefined {
    const [first] = this.#waiting.values();
    if (first === undefined) return undefined;
    const leftMs = this.#leftMs(first);
    if (this.#bytes >= this.#options.maxBytes) return Math.min(0, leftMs);
    if (!this.#isCrowded) return leftMs;
    return Math.min(leftMs, this.#lastFlushMs + this.#intervalMs - this.#clock.monotonicMs());
  }

  /** The datasets that have waited for long enough, by their first tables, as many as are flushed at once. */
  due(): string[] {
    const { maxBatchedDatasets, maxBytes } = this.#options;
    const takesTooMuch = this.#bytes >= maxBytes;
    const early = this.#early;
    this.#lastFlushMs = this.#clock.monotonicMs();
    const due: string[] = [];
    for (const [firstTable, waiting] of this.#waiting) {
      if (due.length === maxBatchedDatasets) break;
      if (!takesTooMuch && due.length >= early && this.#leftMs(waiting) > 0) break;
      due.push(firstTable);
    }
    return due;
  }

  /** Ends the wait of all datasets, or of these, by their first tables; undefined if none of them waits. */
  flush(firstTables: Iterable<string> = [...this.#waiting.keys()]): BatchPlan | undefined {
    const segments = new Set<PendingSegment>();
    const batches: TableBatch[] = [];
    for (const firstTable of firstTables) {
      const { parts } = this.#waiting.get(firstTable) ?? { parts: [] };
      this.#waiting.delete(firstTable);
      for (const { segment, batch } of parts) {
        segment.waiting.delete(firstTable);
        segments.add(segment);
        this.#bytes -= batch.byteLength;
      }
      batches.push(...mergeBatches(parts.map(({ batch }) => batch)));
    }
    if (batches.length === 0) return undefined;
    return { segments: [...segments].sort((a, b) => a.segment.number - b.segment.number), batches };
  }

  /** Whether more datasets wait than can be flushed during the longest wait. */
  get #isCrowded(): boolean {
    const { maxWaitMs, insertsPerSecond } = this.#options;
    return this.#waiting.size * 1000 > maxWaitMs * insertsPerSecond;
  }

  /**
   * How many datasets are flushed early, at the lowest steady rate at which none waits too long. The end of
   * each wait requires a rate: at that rate, all datasets whose waits end by then are flushed by then.
   */
  get #early(): number {
    if (!this.#isCrowded) return 0;
    const intervalMs = this.#intervalMs;
    let early = 0;
    let count = 0;
    for (const waiting of this.#waiting.values()) {
      count += 1;
      early = Math.max(early, (count * intervalMs) / Math.max(intervalMs, this.#leftMs(waiting)));
    }
    return Math.floor(early);
  }

  /** How often datasets are flushed early: as often as possible with at least one dataset each time. */
  get #intervalMs(): number {
    return Math.max(limits.earlyFlushIntervalMs, Math.ceil(this.#options.maxWaitMs / this.#waiting.size));
  }

  #keep(segment: PendingSegment, batch: TableBatch): void {
    if (this.#waiting.size === 0) this.#lastFlushMs = this.#clock.monotonicMs();
    const waiting = this.#waiting.get(batch.firstTable) ?? { sinceMs: this.#clock.monotonicMs(), parts: [] };
    this.#waiting.set(batch.firstTable, waiting);
    waiting.parts.push({ segment, batch });
    segment.waiting.add(batch.firstTable);
    this.#bytes += batch.byteLength;
  }

  #leftMs({ sinceMs }: WaitingDataset): number {
    const { maxWaitMs, insertsPerSecond } = this.#options;
    const waitMs = Math.min(maxWaitMs, (this.#waiting.size * 1000) / insertsPerSecond);
    return sinceMs + waitMs - this.#clock.monotonicMs();
  }
}
