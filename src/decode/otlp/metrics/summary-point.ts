import { limits } from '../../../limits/limits.ts';
import { fieldTag, type ProtobufReader } from '../../wire/protobuf-reader.ts';
import { doubleOf, unsignedOf } from '../../wire/protobuf-values.ts';
import { seriesVariants } from './metric-labels.ts';
import type { PointFieldNumbers, PointHeader } from './point-header.ts';
import { type ExemplarSeries, type PointReader, plainSeries } from './point-reader.ts';
import type { SampleWriter } from './sample-writer.ts';

const fields: PointFieldNumbers = { attributes: 7, exemplars: undefined, flags: 8 };
const countField = fieldTag(4, 'fixed64');
const sumField = fieldTag(5, 'fixed64');
const quantileField = fieldTag(6, 'bytes');
const quantileNumber = fieldTag(1, 'fixed64');
const quantileValue = fieldTag(2, 'fixed64');

/**
 * A `SummaryDataPoint`: a sample for each quantile, under the metric's own name, and the sum and the count.
 */
export class SummaryPoint implements PointReader {
  readonly #reader: ProtobufReader;
  readonly #header: PointHeader;
  #count = 0;
  #sum = 0;
  /** Each quantile, and its value. */
  readonly #quantiles: (readonly [number, number])[] = [];

  constructor(reader: ProtobufReader, header: PointHeader) {
    this.#reader = reader;
    this.#header = header;
  }

  read(end: number): string | undefined {
    const reader = this.#reader;
    const header = this.#header;
    header.begin(fields);
    this.#count = this.#sum = 0;
    this.#quantiles.length = 0;
    while (reader.position < end) {
      const fieldStart = reader.position;
      const tag = reader.tag(end);
      if (tag === countField) {
        reader.fixed64(end);
        this.#count = unsignedOf(reader);
      } else if (tag === sumField) {
        reader.fixed64(end);
        this.#sum = doubleOf(reader);
      } else if (tag === quantileField) this.#readQuantile(reader.lengthEnd(end));
      else if (!header.take(reader, tag, fieldStart, end)) reader.skip(tag, end);
    }
    return this.#problem();
  }

  #readQuantile(end: number): void {
    const reader = this.#reader;
    let quantile = 0;
    let value = 0;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag !== quantileNumber && tag !== quantileValue) {
        reader.skip(tag, end);
        continue;
      }
      reader.fixed64(end);
      if (tag === quantileNumber) quantile = doubleOf(reader);
      else value = doubleOf(reader);
    }
    if (this.#quantiles.length <= limits.maxHistogramBuckets) this.#quantiles.push([quantile, value]);
  }

  #problem(): string | undefined {
    const { length } = this.#quantiles;
    if (length > limits.maxHistogramBuckets)
      return `it has more than ${limits.maxHistogramBuckets} quantiles`;
    const different = new Set(this.#quantiles.map(([quantile]) => quantile));
    return different.size === length ? undefined : 'it has a quantile twice';
  }

  store(rows: SampleWriter): string | undefined {
    const { quantile, count, sum } = seriesVariants;
    for (const [number, value] of this.#quantiles) {
      const problem = rows.add(quantile, value, number);
      if (problem !== undefined) return problem;
    }
    return rows.add(count, this.#count) ?? rows.add(sum, this.#sum);
  }

  exemplarSeries(): ExemplarSeries {
    return plainSeries;
  }
}
