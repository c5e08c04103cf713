import type { Random } from '../support/lib/random.ts';
import type { Row } from './simulated-rows.ts';

/** What one insert makes of the rows of one partition in one chunk. */
export interface Part {
  readonly token: string;
  /** Position of the chunk in the insert, and partition: with the token, what a repeat is known by. */
  readonly place: string;
  readonly ids: readonly number[];
}

/**
 * The number of inserts that a table remembers. The engine counts parts and remembers 10,000. A small number
 * shows at once if an insert is repeated too late: a segment that was stored and is sent again after others.
 */
const rememberedTokens = 2;

/**
 * A MergeTree table as far as deduplication goes. An insert is cut into chunks of a fixed number of rows, a
 * chunk into one part for each partition. A part with the token and place of a remembered one is dropped.
 */
export class ModelTable {
  /** Types by name. */
  readonly columns: Map<string, string>;
  /** How often each row is stored. */
  readonly rows = new Map<number, number>();
  readonly #placesByToken = new Map<string, Set<string>>();
  readonly #chunkRows: number;

  constructor(columns: Map<string, string>, chunkRows: number) {
    this.columns = columns;
    this.#chunkRows = chunkRows;
  }

  /** The parts of an insert, in the order in which they are committed. */
  cut(token: string, rows: readonly Row[]): Part[] {
    const parts: Part[] = [];
    for (let start = 0; start < rows.length; start += this.#chunkRows) {
      const byDay = new Map<number, number[]>();
      for (const { id, day } of rows.slice(start, start + this.#chunkRows)) {
        byDay.set(day, [...(byDay.get(day) ?? []), id]);
      }
      for (const [day, ids] of byDay) parts.push({ token, place: `${start}/${day}`, ids });
    }
    return parts;
  }

  /** @returns false if the part is there already */
  commit(part: Part): boolean {
    if (!this.remember(part)) return false;
    for (const id of part.ids) this.rows.set(id, (this.rows.get(id) ?? 0) + 1);
    return true;
  }

  /**
   * Records that a part exists, before the part does: a kill between the two leaves only the record.
   * @returns false if that is known already
   */
  remember(part: Part): boolean {
    const places = this.#placesByToken.get(part.token) ?? new Set();
    if (places.has(part.place)) return false;
    this.#placesByToken.set(part.token, places.add(part.place));
    const [oldest] = this.#placesByToken.keys();
    if (this.#placesByToken.size > rememberedTokens && oldest !== undefined) {
      this.#placesByToken.delete(oldest);
    }
    return true;
  }

  /** The power failed before the record was synced. */
  forget(random: Random): void {
    for (const token of [...this.#placesByToken.keys()]) {
      if (random.chance(0.5)) this.#placesByToken.delete(token);
    }
  }

  /** The part did not reach the disk before the power failed. The record of it may have. */
  undo(part: Part): void {
    for (const id of part.ids) {
      const left = (this.rows.get(id) ?? 0) - 1;
      if (left > 0) this.rows.set(id, left);
      else this.rows.delete(id);
    }
  }
}
