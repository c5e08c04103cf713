import { limits } from '../../limits/limits.ts';

const dayMs = 86_400_000;

/** Words of 32 bits, with a bit for each day on which a sample may be. */
export const dayWords = Math.ceil((Math.floor(limits.maxSampleTimestampMs / dayMs) + 1) / 32);

/**
 * The days of the samples of one request: each is a partition of the store, with files of its own in two
 * tables.
 */
export class DistinctDays {
  readonly #bits: Uint32Array;
  #count = 0;
  #last = Number.NaN;

  /** @param bits `dayWords` zeros: the kernel marks the days of what it takes in the same */
  constructor(bits: Uint32Array = new Uint32Array(dayWords)) {
    if (bits.length !== dayWords) throw new Error(`BUG: ${bits.length} words for the days of samples`);
    this.#bits = bits;
  }

  /** How many more days may follow. */
  get room(): number {
    return limits.maxSampleDaysPerRequest - this.#count;
  }

  /**
   * @param day since 1970, no later than that of `limits.maxSampleTimestampMs`
   * @returns why no samples of that day can be stored, or undefined
   */
  add(day: number): string | undefined {
    if (day === this.#last) return undefined;
    const word = this.#bits[day >>> 5] as number;
    const marked = word | (1 << (day & 31));
    if (marked >>> 0 !== word) {
      if (this.room === 0) {
        return `the request has samples of more than ${limits.maxSampleDaysPerRequest} days: send fewer at a time`;
      }
      this.#bits[day >>> 5] = marked;
      this.#count += 1;
    }
    this.#last = day;
    return undefined;
  }

  /** So many days were marked by the kernel. */
  marked(count: number): void {
    this.#count += count;
  }
}
