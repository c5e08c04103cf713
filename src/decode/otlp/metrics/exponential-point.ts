import { limits } from '../../../limits/limits.ts';
import type { BucketColumns } from '../../metrics/histogram-arrays.ts';
import type { NativeHistogram } from '../../metrics/histogram-columns.ts';
import { fieldTag, type ProtobufReader, type TextRange } from '../../wire/protobuf-reader.ts';
import { type Bits, clear, doubleOf, keep, readRepeated, zigzag32 } from '../../wire/protobuf-values.ts';
import type { PointFieldNumbers, PointHeader } from './point-header.ts';
import { type ExemplarSeries, type PointReader, plainSeries } from './point-reader.ts';
import { type SampleWriter, staleMarker } from './sample-writer.ts';

const fields: PointFieldNumbers = { attributes: 1, exemplars: 11, flags: 10 };
const countField = fieldTag(4, 'fixed64');
const sumField = fieldTag(5, 'fixed64');
const scaleField = fieldTag(6, 'varint');
const zeroCountField = fieldTag(7, 'fixed64');
const positiveField = fieldTag(8, 'bytes');
const negativeField = fieldTag(9, 'bytes');
const minField = fieldTag(12, 'fixed64');
const maxField = fieldTag(13, 'fixed64');
const zeroThresholdField = fieldTag(14, 'fixed64');
const offsetField = fieldTag(1, 'varint');
const bucketCounts = 2;

/** What the column `schema` holds. */
const smallestScale = -128;
const largestScale = 127;
const maxBucketIndex = 0x7fff_ffff;
/** The sum of a histogram whose sender has none: not a number. */
const unknownSum: Readonly<Bits> = { low: 0, high: 0x7ff8_0000 };

const bits = (): Bits => ({ low: 0, high: 0 });

/**
 * An `ExponentialHistogramDataPoint`: one row of `histograms`, in the form that Prometheus' native histograms
 * have, which loses nothing. The scale is the schema, whatever Prometheus allows. A bucket reaches up to its
 * bound in both, but OpenTelemetry numbers buckets by their lower bounds and Prometheus by their upper ones,
 * so an offset is larger by one; the counts become the difference of each to the one before.
 */
export class ExponentialPoint implements PointReader, NativeHistogram {
  readonly timestamp = bits();
  readonly start = bits();
  readonly count = bits();
  readonly isFloat = false;
  readonly zeroCount = bits();
  readonly isZeroFloat = false;
  readonly sum = bits();
  readonly zeroThreshold = bits();
  readonly resetHint = 0;
  schema = 0;
  min: number | undefined;
  max: number | undefined;
  readonly #reader: ProtobufReader;
  readonly #header: PointHeader;
  readonly #rows: SampleWriter;
  #hasSum = false;
  /** Where the buckets on each side are in the message. */
  readonly #positive = { start: 0, end: 0 };
  readonly #negative = { start: 0, end: 0 };
  readonly #before = bits();
  #buckets = 0;
  #deltas: BucketColumns['deltas'] | undefined;

  constructor(reader: ProtobufReader, header: PointHeader, rows: SampleWriter) {
    this.#reader = reader;
    this.#header = header;
    this.#rows = rows;
  }

  read(end: number): string | undefined {
    const reader = this.#reader;
    const header = this.#header;
    this.#begin();
    while (reader.position < end) {
      const fieldStart = reader.position;
      const tag = reader.tag(end);
      if (header.take(reader, tag, fieldStart, end) || this.#takeNumber(tag, end)) continue;
      const side =
        tag === positiveField ? this.#positive : tag === negativeField ? this.#negative : undefined;
      if (side === undefined) {
        reader.skip(tag, end);
        continue;
      }
      side.end = reader.lengthEnd(end);
      side.start = reader.position;
      reader.position = side.end;
    }
    return this.#problem();
  }

  #begin(): void {
    this.#header.begin(fields);
    this.#rows.histograms.discard();
    for (const value of [this.count, this.zeroCount, this.zeroThreshold, this.sum]) clear(value);
    this.#hasSum = false;
    this.schema = 0;
    this.min = this.max = undefined;
    this.#positive.start = this.#positive.end = this.#negative.start = this.#negative.end = 0;
  }

  #takeNumber(tag: number, end: number): boolean {
    const reader = this.#reader;
    if (tag === scaleField) {
      reader.varint64(end);
      this.schema = zigzag32(reader.low);
      return true;
    }
    const into =
      tag === countField
        ? this.count
        : tag === zeroCountField
          ? this.zeroCount
          : tag === zeroThresholdField
            ? this.zeroThreshold
            : tag === sumField
              ? this.sum
              : undefined;
    if (into === undefined && tag !== minField && tag !== maxField) return false;
    reader.fixed64(end);
    if (into !== undefined) keep(into, reader);
    else if (tag === minField) this.min = doubleOf(reader);
    else this.max = doubleOf(reader);
    this.#hasSum ||= tag === sumField;
    return true;
  }

  #problem(): string | undefined {
    if (this.schema < smallestScale || this.schema > largestScale) {
      return `its scale is ${this.schema}, which must be from ${smallestScale} to ${largestScale}`;
    }
    const { positive, negative } = this.#rows.histograms.arrays;
    return (
      this.#readBuckets('positive', this.#positive, positive) ??
      this.#readBuckets('negative', this.#negative, negative)
    );
  }

  /** Reads a `Buckets` message into the columns of its side. */
  #readBuckets(name: string, side: TextRange, columns: BucketColumns): string | undefined {
    const reader = this.#reader;
    const { start, end } = side;
    const after = reader.position;
    let offset = 0;
    this.#buckets = 0;
    this.#deltas = columns.deltas;
    clear(this.#before);
    reader.position = start;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === offsetField) {
        reader.varint64(end);
        offset = zigzag32(reader.low);
      } else if (!readRepeated(reader, tag, bucketCounts, 'varint', end, this.#onCount)) {
        reader.skip(tag, end);
      }
    }
    reader.position = after;
    const buckets = this.#buckets;
    if (buckets > limits.maxHistogramBuckets) {
      return `it has ${buckets} ${name} buckets, at most ${limits.maxHistogramBuckets} are allowed`;
    }
    if (offset + 1 + buckets > maxBucketIndex) return `its ${name} buckets end beyond ${maxBucketIndex}`;
    // An offset without buckets says nothing, but it was sent.
    if (buckets === 0 && offset === 0) return undefined;
    columns.offsets.elements.append(offset + 1);
    columns.lengths.elements.append(buckets);
    return undefined;
  }

  /** Appends the difference to the count before, in 64 bits. */
  readonly #onCount = (): void => {
    if (this.#buckets++ >= limits.maxHistogramBuckets) return;
    const { low, high } = this.#reader;
    const before = this.#before;
    const borrow = low >>> 0 < before.low >>> 0 ? 1 : 0;
    this.#deltas?.elements.append((low - before.low) | 0, (high - before.high - borrow) | 0);
    keep(before, this.#reader);
  };

  store(rows: SampleWriter): string | undefined {
    this.timestamp.low = rows.timestampLow;
    this.timestamp.high = rows.timestampHigh;
    this.start.low = rows.startLow;
    this.start.high = rows.startHigh;
    const sum = this.#header.isUnrecorded ? staleMarker : this.#hasSum ? this.sum : unknownSum;
    this.sum.low = sum.low;
    this.sum.high = sum.high;
    return rows.addHistogram(this);
  }

  exemplarSeries(): ExemplarSeries {
    return plainSeries;
  }
}
