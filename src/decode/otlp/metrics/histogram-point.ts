import { limits } from '../../../limits/limits.ts';
import { fieldTag, type ProtobufReader } from '../../wire/protobuf-reader.ts';
import { doubleOf, readRepeated, unsignedOf } from '../../wire/protobuf-values.ts';
import { seriesVariants } from './metric-labels.ts';
import type { PointFieldNumbers, PointHeader } from './point-header.ts';
import type { ExemplarSeries, PointReader } from './point-reader.ts';
import type { SampleWriter } from './sample-writer.ts';

const fields: PointFieldNumbers = { attributes: 9, exemplars: 8, flags: 10 };
const countField = fieldTag(4, 'fixed64');
const sumField = fieldTag(5, 'fixed64');
const minField = fieldTag(11, 'fixed64');
const maxField = fieldTag(12, 'fixed64');
const bucketCounts = 6;
const explicitBounds = 7;

/**
 * A `HistogramDataPoint`, as the samples of Prometheus' classic histogram: one for each bucket, of the
 * observations up to its bound (`le`), and the sum, the count, the minimum and the maximum, as far as they
 * were sent. The last bucket is that of all observations, the only one where the sender has no buckets.
 */
export class HistogramPoint implements PointReader {
  readonly #reader: ProtobufReader;
  readonly #header: PointHeader;
  #count = 0;
  #sum: number | undefined;
  #min: number | undefined;
  #max: number | undefined;
  readonly #counts: number[] = [];
  readonly #bounds: number[] = [];
  #values = 0;

  constructor(reader: ProtobufReader, header: PointHeader) {
    this.#reader = reader;
    this.#header = header;
  }

  read(end: number): string | undefined {
    const reader = this.#reader;
    const header = this.#header;
    header.begin(fields);
    this.#count = this.#values = 0;
    this.#sum = this.#min = this.#max = undefined;
    this.#counts.length = this.#bounds.length = 0;
    while (reader.position < end) {
      const fieldStart = reader.position;
      const tag = reader.tag(end);
      if (header.take(reader, tag, fieldStart, end) || this.#takeNumber(tag, end)) continue;
      if (readRepeated(reader, tag, bucketCounts, 'fixed64', end, this.#onCount)) continue;
      if (readRepeated(reader, tag, explicitBounds, 'fixed64', end, this.#onBound)) continue;
      reader.skip(tag, end);
    }
    return this.#problem();
  }

  #takeNumber(tag: number, end: number): boolean {
    const reader = this.#reader;
    if (tag !== countField && tag !== sumField && tag !== minField && tag !== maxField) return false;
    reader.fixed64(end);
    if (tag === countField) this.#count = unsignedOf(reader);
    else if (tag === sumField) this.#sum = doubleOf(reader);
    else if (tag === minField) this.#min = doubleOf(reader);
    else this.#max = doubleOf(reader);
    return true;
  }

  readonly #onCount = (): void => {
    if (this.#values++ < 2 * limits.maxHistogramBuckets) this.#counts.push(unsignedOf(this.#reader));
  };

  readonly #onBound = (): void => {
    if (this.#values++ < 2 * limits.maxHistogramBuckets) this.#bounds.push(doubleOf(this.#reader));
  };

  #problem(): string | undefined {
    const buckets = this.#counts.length;
    const bounds = this.#bounds.length;
    if (this.#values > 2 * limits.maxHistogramBuckets || buckets > limits.maxHistogramBuckets) {
      return `it has more than ${limits.maxHistogramBuckets} buckets`;
    }
    if (buckets !== bounds + 1 && (buckets > 0 || bounds > 0)) {
      return `it has ${buckets} bucket counts and ${bounds} bounds, one more count than bounds is needed`;
    }
    for (let index = 0; index < bounds; index++) {
      const before = index === 0 ? Number.NaN : (this.#bounds[index - 1] as number);
      const bound = this.#bounds[index] as number;
      // NaN is no bound, and not comparable to any.
      if (Number.isNaN(bound) || bound <= before) return 'its bounds are not numbers in ascending order';
    }
    return undefined;
  }

  store(rows: SampleWriter): string | undefined {
    const { bucket, count, sum, min, max } = seriesVariants;
    const bounds = this.#bounds;
    let total = 0;
    for (let index = 0; index < bounds.length; index++) {
      const bound = bounds[index] as number;
      total += this.#counts[index] as number;
      // The bucket of all observations follows in any case.
      if (bound === Number.POSITIVE_INFINITY) continue;
      const problem = rows.add(bucket, total, bound);
      if (problem !== undefined) return problem;
    }
    total = this.#counts.length === 0 ? this.#count : total + (this.#counts.at(-1) as number);
    return (
      rows.add(bucket, total, Number.POSITIVE_INFINITY) ??
      rows.add(count, this.#count) ??
      (this.#sum === undefined && !this.#header.isUnrecorded ? undefined : rows.add(sum, this.#sum ?? 0)) ??
      (this.#min === undefined ? undefined : rows.add(min, this.#min)) ??
      (this.#max === undefined ? undefined : rows.add(max, this.#max))
    );
  }

  /**
   * The least bound that is not below the value, which is in no bucket with a bound if it is not a number.
   */
  #boundOf(value: number): number {
    const bounds = this.#bounds;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= (bounds[middle] as number)) high = middle;
      else low = middle + 1;
    }
    return bounds[low] ?? Number.POSITIVE_INFINITY;
  }

  exemplarSeries(value: number): ExemplarSeries {
    return { variant: seriesVariants.bucket, number: this.#boundOf(value) };
  }
}
