import { limits } from '../../limits/limits.ts';
import { fieldTag, type ProtobufReader } from '../wire/protobuf-reader.ts';
import {
  addTo,
  type Bits,
  clear,
  compareUnsigned,
  doubleOf,
  keep,
  readRepeated,
  unsignedText,
  zigzag32,
} from '../wire/protobuf-values.ts';
import type { HistogramArrays } from './histogram-arrays.ts';
import { type BucketFieldNumbers, BucketSide } from './histogram-buckets.ts';
import type { NativeHistogram } from './histogram-columns.ts';

const countInt = fieldTag(1, 'varint');
const countFloat = fieldTag(2, 'fixed64');
const sum = fieldTag(3, 'fixed64');
const schema = fieldTag(4, 'varint');
const zeroThreshold = fieldTag(5, 'fixed64');
const zeroCountInt = fieldTag(6, 'varint');
const zeroCountFloat = fieldTag(7, 'fixed64');
const negative: BucketFieldNumbers = { spans: 8, deltas: 9, counts: 10 };
const positive: BucketFieldNumbers = { spans: 11, deltas: 12, counts: 13 };
const resetHint = fieldTag(14, 'varint');
const timestamp = fieldTag(15, 'varint');
const customValues = 16;
/** In version 2.0 only. */
const startTimestamp = fieldTag(17, 'varint');

/**
 * Schemas are exponential from the coarser (a bucket 65,536 times as wide as the one before) to the finer
 * one.
 */
const coarsestSchema = -4;
const finestSchema = 8;
const customBucketsSchema = -53;
const lastResetHint = 3;

const bits = (): Bits => ({ low: 0, high: 0 });

/**
 * A native histogram, the message `Histogram` of both versions. One object is filled again and again; the
 * values of which it may have many go straight into the columns.
 *
 * It is taken if Prometheus takes it, by the rules of `Histogram.Validate` and `FloatHistogram.Validate`
 * (https://github.com/prometheus/prometheus/tree/main/model/histogram). Beyond them are refused: more buckets
 * than `limits.maxHistogramBuckets`, an index of a bucket beyond 31 bits, an unknown reset hint, and integers
 * among floats, which Prometheus leaves out in silence. Of the schemas 9 to 52, which Prometheus merges into
 * buckets of schema 8, none is taken.
 */
export class HistogramMessage implements NativeHistogram {
  readonly timestamp = bits();
  readonly start = bits();
  readonly count = bits();
  isFloat = false;
  readonly zeroCount = bits();
  isZeroFloat = false;
  readonly sum = bits();
  readonly zeroThreshold = bits();
  schema = 0;
  resetHint = 0;

  readonly #reader: ProtobufReader;
  readonly #hasStart: boolean;
  readonly #customValues: HistogramArrays['customValues'];
  readonly #negative: BucketSide;
  readonly #positive: BucketSide;
  #bounds = 0;
  #lastBound = Number.NEGATIVE_INFINITY;
  #boundsAscend = true;

  /** @param hasStart whether field 17 is a start timestamp, as in version 2.0 */
  constructor(reader: ProtobufReader, arrays: HistogramArrays, hasStart: boolean) {
    this.#reader = reader;
    this.#hasStart = hasStart;
    this.#customValues = arrays.customValues;
    this.#negative = new BucketSide('negative', negative, arrays.negative, reader);
    this.#positive = new BucketSide('positive', positive, arrays.positive, reader);
  }

  /**
   * Reads a message, its arrays as the pending row of the columns.
   * @throws AppError `bad_protobuf`
   * @returns why it cannot be stored, or undefined
   */
  read(end: number): string | undefined {
    this.#begin();
    const reader = this.#reader;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (this.#takeNumber(tag, end)) continue;
      if (this.#negative.take(tag, end) || this.#positive.take(tag, end)) continue;
      if (readRepeated(reader, tag, customValues, 'fixed64', end, this.#onBound)) continue;
      reader.skip(tag, end);
    }
    return this.#problem();
  }

  #begin(): void {
    for (const value of [this.timestamp, this.start, this.count, this.zeroCount]) clear(value);
    for (const value of [this.sum, this.zeroThreshold]) clear(value);
    this.isFloat = this.isZeroFloat = false;
    this.schema = this.resetHint = 0;
    this.#negative.begin();
    this.#positive.begin();
    this.#bounds = 0;
    this.#lastBound = Number.NEGATIVE_INFINITY;
    this.#boundsAscend = true;
  }

  #takeNumber(tag: number, end: number): boolean {
    const reader = this.#reader;
    switch (tag) {
      case countInt:
      case zeroCountInt:
      case timestamp:
      case schema:
      case resetHint:
        reader.varint64(end);
        break;
      case startTimestamp:
        if (!this.#hasStart) return false;
        reader.varint64(end);
        break;
      case countFloat:
      case zeroCountFloat:
      case sum:
      case zeroThreshold:
        reader.fixed64(end);
        break;
      default:
        return false;
    }
    this.#keepNumber(tag);
    return true;
  }

  #keepNumber(tag: number): void {
    const reader = this.#reader;
    if (tag === schema) this.schema = zigzag32(reader.low);
    else if (tag === resetHint) this.resetHint = reader.low;
    else if (tag === timestamp) keep(this.timestamp, reader);
    else if (tag === startTimestamp) keep(this.start, reader);
    else if (tag === sum) keep(this.sum, reader);
    else if (tag === zeroThreshold) keep(this.zeroThreshold, reader);
    else if (tag === countInt || tag === countFloat) {
      keep(this.count, reader);
      this.isFloat = tag === countFloat;
    } else {
      keep(this.zeroCount, reader);
      this.isZeroFloat = tag === zeroCountFloat;
    }
  }

  readonly #onBound = (): void => {
    const bound = doubleOf(this.#reader);
    // NaN fails as well. Plus infinity is the bound of the last bucket and never sent; minus infinity may be
    // the first one.
    const ascends = this.#bounds === 0 ? bound >= Number.NEGATIVE_INFINITY : bound > this.#lastBound;
    if (!(ascends && bound < Number.POSITIVE_INFINITY)) this.#boundsAscend = false;
    this.#lastBound = bound;
    if (this.#bounds++ >= limits.maxHistogramBuckets) return;
    this.#customValues.elements.append(this.#reader.low, this.#reader.high);
  };

  #problem(): string | undefined {
    const isCustom = this.schema === customBucketsSchema;
    if (!isCustom && (this.schema < coarsestSchema || this.schema > finestSchema)) {
      return `its schema is ${this.schema}, which must be from ${coarsestSchema} to ${finestSchema}, or ${customBucketsSchema} for custom buckets`;
    }
    if (this.resetHint < 0 || this.resetHint > lastResetHint) {
      return `its reset hint is ${this.resetHint}, which must be from 0 to ${lastResetHint}`;
    }
    return (
      this.#negative.problem(this.isFloat) ??
      this.#positive.problem(this.isFloat) ??
      (isCustom ? this.#customProblem() : this.#exponentialProblem()) ??
      this.#countProblem()
    );
  }

  #exponentialProblem(): string | undefined {
    return this.#bounds === 0 ? undefined : `it has custom bounds, and the exponential schema ${this.schema}`;
  }

  #customProblem(): string | undefined {
    const bounds = this.#bounds;
    if (bounds > limits.maxHistogramBuckets) {
      return `it has ${bounds} custom bounds, at most ${limits.maxHistogramBuckets} are allowed`;
    }
    if (!this.#boundsAscend) return 'its custom bounds are not numbers below infinity in ascending order';
    const { firstIndex, endIndex } = this.#positive;
    // One bucket more than bounds: the last one has no upper bound.
    if (firstIndex < 0 || endIndex > bounds + 1) {
      return `its spans reach from bucket ${firstIndex} to ${endIndex}, and its ${bounds} custom bounds make ${bounds + 1} buckets`;
    }
    if (!this.#negative.isEmpty) return 'it has custom bounds and negative buckets';
    if (this.#hasZeroCount || doubleOf(this.zeroThreshold) !== 0) {
      return 'it has custom bounds and a zero bucket';
    }
    return undefined;
  }

  #countProblem(): string | undefined {
    if (this.isFloat !== this.isZeroFloat && this.#hasZeroCount) {
      return 'of its count and its zero count one is an integer and one a float';
    }
    if (this.isFloat) {
      // Floats add up to about their total, and nobody knows how far from it: Prometheus does not compare
      // them either.
      const isNegative = doubleOf(this.count) < 0 || doubleOf(this.zeroCount) < 0;
      return isNegative ? 'it has a count below zero' : undefined;
    }
    const { count, zeroCount } = this;
    const total = bits();
    this.#negative.addTotalTo(total);
    this.#positive.addTotalTo(total);
    addTo(total, zeroCount);
    const order = compareUnsigned(count, total);
    if (order < 0) {
      return `its count is ${unsignedText(count)}, less than the ${unsignedText(total)} in its buckets`;
    }
    // An observation that is no number is in no bucket, and makes the sum no number.
    if (order === 0 || Number.isNaN(doubleOf(this.sum))) return undefined;
    return `its count is ${unsignedText(count)}, and its buckets hold ${unsignedText(total)}, which must be the same unless its sum is NaN`;
  }

  get #hasZeroCount(): boolean {
    const { low, high } = this.zeroCount;
    return this.isZeroFloat ? doubleOf(this.zeroCount) !== 0 : (low | high) !== 0;
  }
}
