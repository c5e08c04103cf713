import { limits } from '../../limits/limits.ts';

/**
 * The days of the samples of one request: each is a partition of the store, with files of its own in two
 * tables.
 */
export class DistinctDays {
  readonly #days = new Set<number>();
  #last = Number.NaN;

  /**
   * @param day since 1970
   * @returns why no samples of that day can be stored, or undefined
   */
  add(day: number): string | undefined {
    if (day === this.#last) return undefined;
    if (!this.#days.has(day)) {
      if (this.#days.size >= limits.maxSampleDaysPerRequest) {
        return `the request has samples of more than ${limits.maxSampleDaysPerRequest} days: send fewer at a time`;
      }
      this.#days.add(day);
    }
    this.#last = day;
    return undefined;
  }
}
