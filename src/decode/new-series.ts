import { limits } from '../limits.ts';

/**
 * What it takes to read the labels of series that a worker does not know as stored. A few bytes can make a series (a bucket
 * of a histogram, say) that has all the labels of its resource, so this is bounded for each request, by series and by labels.
 */
export class NewSeries {
  #series = 0;
  #labels = 0;

  /** @returns why the labels of no further series can be read, or undefined */
  problem(): string | undefined {
    if (this.#series >= limits.maxNewSeriesPerRequest) {
      return `the request has more than ${limits.maxNewSeriesPerRequest} new series: send fewer at a time`;
    }
    if (this.#labels >= limits.maxNewSeriesLabelsPerRequest) {
      return `the new series of the request have more than ${limits.maxNewSeriesLabelsPerRequest} labels: send fewer at a time`;
    }
    return undefined;
  }

  addSeries(): void {
    this.#series++;
  }

  addLabels(count: number): void {
    this.#labels += count;
  }
}
