/**
 * The series that a worker has met, so that the samples of a known series cost one lookup and no parsing.
 *
 * An open-addressing hash table with linear probing, from the hash of the raw label bytes (`label-hash.ts`)
 * to what their samples need. A slot is eight 32-bit words side by side, half a cache line. The words are
 * signed, like the hash: V8 keeps these out of the heap.
 *
 *     0, 1  key: the hash; both zero for a free slot
 *     2, 3  series_id, low and high half
 *     4     metric_id
 *     5     day of the series row written last, days since 1970
 *     6     sequence of the task that wrote it
 *     7     1 once that row is known to be durable
 *
 * Nothing is ever removed. A table that is full starts over, empty: the next sample of each series then costs
 * what the first one did, and its series row is written again, which the store folds into one.
 *
 * The kernel (`remote-write-kernel.ts`) has the table in its own memory, with room for its largest size, and
 * puts series there by itself while there is `room`.
 */
import { limits } from '../../limits/limits.ts';

const slotShift = 3;
const slotWords = 1 << slotShift;
const initialSlots = 1024;

/** Word offsets within a slot. */
export const slotField = {
  seriesIdLow: 2,
  seriesIdHigh: 3,
  metricId: 4,
  day: 5,
  sequence: 6,
  durable: 7,
} as const;

/** In a slot's `day`: no series row was written yet. */
export const noDay = -1;

/** Words of memory that a table of up to that many entries needs. */
export function seriesTableWords(maxEntries: number): number {
  let slots = initialSlots;
  while (4 * maxEntries > 3 * slots) slots *= 2;
  return slots * slotWords;
}

export class SeriesTable {
  /** The slots, and room for more. Growing moves them, so an offset is good until the next `insert`. */
  words: Int32Array;
  readonly #maxEntries: number;
  #slots = initialSlots;
  #entries = 0;

  /**
   * @param words zeros. The table grows in this memory, and takes another only when it is full: never, if it
   *   holds `seriesTableWords(maxEntries)`
   */
  constructor(
    maxEntries: number = limits.seriesCacheEntries,
    words: Int32Array = new Int32Array(initialSlots * slotWords),
  ) {
    this.#maxEntries = maxEntries;
    this.words = words;
  }

  /** Slots in use, a power of two, less one. */
  get slotMask(): number {
    return this.#slots - 1;
  }

  get size(): number {
    return this.#entries;
  }

  /** Entries that it takes before it grows or starts over. */
  get room(): number {
    return Math.min(this.#maxEntries, Math.floor((3 * this.#slots) / 4)) - this.#entries;
  }

  /** Somebody else has filled that many free slots, at most `room`. */
  filled(entries: number): void {
    this.#entries += entries;
  }

  /** The offset of the key's slot in `words`, or -1. */
  find(low: number, high: number): number {
    const slot = this.#probe(low, high);
    return this.words[slot] === 0 && this.words[slot + 1] === 0 ? -1 : slot;
  }

  /** A slot for a key that is not in the table, with `day` set to `noDay` and the rest zero. */
  insert(low: number, high: number): number {
    if (this.#entries >= this.#maxEntries) this.#startOver();
    // Three quarters full is where the probes of an absent key become long.
    else if (4 * (this.#entries + 1) > 3 * this.#slots) this.#grow();
    const slot = this.#probe(low, high);
    this.words[slot] = low;
    this.words[slot + 1] = low === 0 && high === 0 ? 1 : high;
    this.words[slot + slotField.day] = noDay;
    this.#entries++;
    return slot;
  }

  /** Where the key is, or the free slot where it would go. */
  #probe(low: number, high: number): number {
    // A hash of zero would look like a free slot.
    const keyHigh = low === 0 && high === 0 ? 1 : high;
    const { words } = this;
    const mask = this.#slots * slotWords - 1;
    let slot = (low << slotShift) & mask;
    for (;;) {
      const slotLow = words[slot] as number;
      const slotHigh = words[slot + 1] as number;
      if (slotLow === low && slotHigh === keyHigh) return slot;
      if (slotLow === 0 && slotHigh === 0) return slot;
      slot = (slot + slotWords) & mask;
    }
  }

  #grow(): void {
    const old = this.words.slice(0, this.#slots * slotWords);
    this.#slots *= 2;
    if (this.#slots * slotWords > this.words.length) this.words = new Int32Array(this.#slots * slotWords);
    else this.words.fill(0, 0, old.length);
    for (let from = 0; from < old.length; from += slotWords) {
      const low = old[from] as number;
      const high = old[from + 1] as number;
      if (low === 0 && high === 0) continue;
      this.words.set(old.subarray(from, from + slotWords), this.#probe(low, high));
    }
  }

  #startOver(): void {
    this.words.fill(0, 0, this.#slots * slotWords);
    this.#slots = initialSlots;
    this.#entries = 0;
  }
}
