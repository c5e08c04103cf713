/**
 * Which tables wait for more rows before their insert.
 *
 * An insert costs the store some milliseconds and a part, however few rows it has. As long as a segment holds few
 * tables, each is inserted at once. Of one with many, those that have much are; the others wait, and take what several
 * segments hold for them in one insert:
 *
 * - The wait grows with the number of tables that wait, so that they make a bounded number of inserts a second, up to
 *   a bound on the wait, beyond which nothing waits, and one on what it keeps in the log.
 * - The tables of a dataset stay together, so that a sample never comes before its series; and a dataset that waits
 *   takes along what comes for it meanwhile, however much that is, so that its rows stay in order.
 * - Which tables of a segment may go at once depends on the segment alone, and who waits already only adds to those
 *   that do. A later life of the process finds the same segments, so it inserts alone what was, or may have been,
 *   inserted alone before. This is why `promptTables` may only grow and `promptBytes` only shrink from one version
 *   of this program to the next.
 */
import type { Clock } from '../lib/clock.ts';
import { limits } from '../limits.ts';
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
}

/** Of several segments: what goes together. */
export interface Waited {
  readonly loads: readonly Load[];
  /** One of each table; of a dataset, that which leads comes first. */
  readonly batches: readonly TableBatch[];
}

export class QuietTables {
  readonly #options: Required<QuietTablesOptions>;
  readonly #clock: Clock;
  /** By the dataset's first table, in log order. */
  readonly #waiting = new Map<string, Array<{ readonly load: Load; readonly batch: TableBatch }>>();
  #sinceMs = 0;
  #bytes = 0;

  constructor(options: QuietTablesOptions, clock: Clock) {
    this.#clock = clock;
    const { promptTables, promptBytes, quietInsertsPerSecond: insertsPerSecond } = limits;
    this.#options = { promptTables, promptBytes, insertsPerSecond, ...options };
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

  /** How long what waits has to wait yet; undefined if nothing does. */
  get dueInMs(): number | undefined {
    if (this.#waiting.size === 0) return undefined;
    const { maxWaitMs, maxBytes, insertsPerSecond } = this.#options;
    if (this.#bytes >= maxBytes) return 0;
    const waitMs = Math.min(maxWaitMs, (this.#waiting.size * 1000) / insertsPerSecond);
    return Math.max(0, this.#sinceMs + waitMs - this.#clock.monotonicMs());
  }

  /** Ends the wait of all, or of these datasets; undefined if none of them waits. */
  release(leads: Iterable<string> = [...this.#waiting.keys()]): Waited | undefined {
    const loads = new Set<Load>();
    const batches: TableBatch[] = [];
    for (const lead of leads) {
      const parts = this.#waiting.get(lead) ?? [];
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

  #keep(load: Load, batch: TableBatch): void {
    if (this.#waiting.size === 0) this.#sinceMs = this.#clock.monotonicMs();
    const parts = this.#waiting.get(batch.lead) ?? [];
    this.#waiting.set(batch.lead, parts);
    parts.push({ load, batch });
    load.waiting.add(batch.lead);
    this.#bytes += batch.byteLength;
  }
}
