/**
 * Which tables wait for more rows before their insert.
 *
 * An insert costs the store some milliseconds and a part, however few rows it has. As long as a segment holds few
 * tables, each is inserted at once. Of one with many, those that have much are; the others wait, and take what several
 * segments hold for them in one insert:
 *
 * - The wait grows with the number of datasets that wait, so that they make a bounded number of inserts a second, up to
 *   a bound on the wait, and one on what it keeps in the log. Each dataset has its own, from the first of its rows that
 *   wait: those of which it ends at the same time go together, a bounded number at once, who has waited for longest first. Where so
 *   many wait that the bound on the wait binds, some go ahead of time, so that not more end at once than the store can take.
 * - The tables of a dataset stay together, so that a sample never comes before its series; and a dataset that waits
 *   takes along what comes for it meanwhile, however much that is, so that its rows stay in order.
 * - Which tables of a segment may go at once depends on the segment alone, and who waits already only adds to those
 *   that do. A later life of the process finds the same segments, so it inserts alone what was, or may have been,
 *   inserted alone before. This is why `promptTables` may only grow and `promptBytes` only shrink from one version
 *   of this program to the next.
 */
import type { Clock } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import { mergeBatches, type TableBatch } from './batch.ts';
import type { Load } from './shipment.ts';

export interface QuietTablesOptions {
  /** The longest wait. */
  readonly maxWaitMs: number;
  /** What waits keeps no more than this in the log. */
  readonly maxBytes: number;
  readonly promptTables?: number;
  readonly promptBytes?: number;
  readonly insertsPerSecond?: number;
  readonly maxBundledDatasets?: number;
}

/** Of several segments: what goes together. */
export interface Waited {
  readonly loads: readonly Load[];
  /** One of each table; of a dataset, that which leads comes first. */
  readonly batches: readonly TableBatch[];
}

/** What waits of a dataset, in log order, and since when. */
interface Waiting {
  readonly sinceMs: number;
  readonly parts: Array<{ readonly load: Load; readonly batch: TableBatch }>;
}

export class QuietTables {
  readonly #options: Required<QuietTablesOptions>;
  readonly #clock: Clock;
  /** By the dataset's first table; who has waited for longest comes first. */
  readonly #waiting = new Map<string, Waiting>();
  #bytes = 0;
  /** When waits ended last by themselves, or began after there were none. */
  #lastMs = 0;

  constructor(options: QuietTablesOptions, clock: Clock) {
    this.#clock = clock;
    const { promptTables, promptBytes, quietInsertsPerSecond: insertsPerSecond, maxBundledDatasets } = limits;
    this.#options = { promptTables, promptBytes, insertsPerSecond, maxBundledDatasets, ...options };
  }

  /** Keeps what is to wait of a segment. @returns the rest */
  take(load: Load, batches: readonly TableBatch[], isLeft: (batch: TableBatch) => boolean): TableBatch[] {
    const { promptTables, promptBytes } = this.#options;
    const bytes = new Map<string, number>();
    for (const { lead, byteLength } of batches) bytes.set(lead, (bytes.get(lead) ?? 0) + byteLength);
    const mayGo = (lead: string) => batches.length <= promptTables || (bytes.get(lead) ?? 0) >= promptBytes;
    const prompt: TableBatch[] = [];
    for (const batch of batches.filter(isLeft)) {
      if (mayGo(batch.lead) && !this.#waiting.has(batch.lead)) prompt.push(batch);
      else this.#keep(load, batch);
    }
    return prompt;
  }

  /** How long it is until the first wait is over, less than nothing if one has been for so long; undefined if nothing waits. */
  get dueInMs(): number | undefined {
    const [first] = this.#waiting.values();
    if (first === undefined) return undefined;
    const leftMs = this.#leftMs(first);
    if (this.#bytes >= this.#options.maxBytes) return Math.min(0, leftMs);
    if (!this.#isCrowded) return leftMs;
    return Math.min(leftMs, this.#lastMs + this.#paceMs - this.#clock.monotonicMs());
  }

  /** The datasets that have waited for long enough, as many as go at once. */
  due(): string[] {
    const { maxBundledDatasets, maxBytes } = this.#options;
    const takesTooMuch = this.#bytes >= maxBytes;
    const early = this.#early;
    this.#lastMs = this.#clock.monotonicMs();
    const due: string[] = [];
    for (const [lead, waiting] of this.#waiting) {
      if (due.length === maxBundledDatasets) break;
      if (!takesTooMuch && due.length >= early && this.#leftMs(waiting) > 0) break;
      due.push(lead);
    }
    return due;
  }

  /** Ends the wait of all, or of these datasets; undefined if none of them waits. */
  release(leads: Iterable<string> = [...this.#waiting.keys()]): Waited | undefined {
    const loads = new Set<Load>();
    const batches: TableBatch[] = [];
    for (const lead of leads) {
      const { parts } = this.#waiting.get(lead) ?? { parts: [] };
      this.#waiting.delete(lead);
      for (const { load, batch } of parts) {
        load.waiting.delete(lead);
        loads.add(load);
        this.#bytes -= batch.byteLength;
      }
      batches.push(...mergeBatches(parts.map(({ batch }) => batch)));
    }
    if (batches.length === 0) return undefined;
    return { loads: [...loads].sort((a, b) => a.segment.number - b.segment.number), batches };
  }

  /** Whether more wait than should go while one waits for as long as it may. */
  get #isCrowded(): boolean {
    const { maxWaitMs, insertsPerSecond } = this.#options;
    return this.#waiting.size * 1000 > maxWaitMs * insertsPerSecond;
  }

  /**
   * How many are to go until the next ones do, at the lowest steady rate at which none waits for too long. Each wait says
   * one rate: that all up to its end have gone by then.
   */
  get #early(): number {
    if (!this.#isCrowded) return 0;
    const paceMs = this.#paceMs;
    let early = 0;
    let count = 0;
    for (const waiting of this.#waiting.values()) {
      count += 1;
      early = Math.max(early, (count * paceMs) / Math.max(paceMs, this.#leftMs(waiting)));
    }
    return Math.floor(early);
  }

  /** After how long that is one, at least. */
  get #paceMs(): number {
    return Math.max(limits.quietPaceMs, Math.ceil(this.#options.maxWaitMs / this.#waiting.size));
  }

  #keep(load: Load, batch: TableBatch): void {
    if (this.#waiting.size === 0) this.#lastMs = this.#clock.monotonicMs();
    const waiting = this.#waiting.get(batch.lead) ?? { sinceMs: this.#clock.monotonicMs(), parts: [] };
    this.#waiting.set(batch.lead, waiting);
    waiting.parts.push({ load, batch });
    load.waiting.add(batch.lead);
    this.#bytes += batch.byteLength;
  }

  #leftMs({ sinceMs }: Waiting): number {
    const { maxWaitMs, insertsPerSecond } = this.#options;
    const waitMs = Math.min(maxWaitMs, (this.#waiting.size * 1000) / insertsPerSecond);
    return sinceMs + waitMs - this.#clock.monotonicMs();
  }
}
