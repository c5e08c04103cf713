import { AppError } from '../../errors.ts';
import type { DecodeBounds } from '../decode-bounds.ts';

/**
 * What it takes to read the labels of series that a worker does not know as stored. A few bytes can make a
 * series (a bucket of a histogram, say) that has all the labels of its resource, so this is bounded for each
 * request, by series and by labels.
 */
export class NewSeries {
  readonly #bounds: DecodeBounds;
  #series = 0;
  #labels = 0;

  constructor(bounds: DecodeBounds) {
    this.#bounds = bounds;
  }

  /**
   * @throws AppError `body_too_large` if the bounds are preliminary
   * @returns why the labels of no further series can be read, or undefined
   */
  problem(): string | undefined {
    const { maxNewSeries, maxNewSeriesLabels, isPreliminary } = this.#bounds;
    const problem =
      this.#series >= maxNewSeries
        ? `the request has more than ${maxNewSeries} new series: send fewer at a time`
        : this.#labels >= maxNewSeriesLabels
          ? `the new series of the request have more than ${maxNewSeriesLabels} labels: send fewer at a time`
          : undefined;
    if (problem !== undefined && isPreliminary) throw new AppError('body_too_large', problem);
    return problem;
  }

  addSeries(): void {
    this.#series++;
  }

  addLabels(count: number): void {
    this.#labels += count;
  }
}
