import { limits } from '../../limits/limits.ts';
import { fieldTag, type ProtobufReader } from '../wire/protobuf-reader.ts';
import { addTo, type Bits, doubleOf, readRepeated, zigzag32, zigzag64 } from '../wire/protobuf-values.ts';
import type { BucketColumns } from './histogram-arrays.ts';

/** Numbers of the fields that hold one side's buckets in the message `Histogram`. */
export interface BucketFieldNumbers {
  readonly spans: number;
  readonly deltas: number;
  readonly counts: number;
}

const spanOffset = fieldTag(1, 'varint');
const spanLength = fieldTag(2, 'varint');
const maxBucketIndex = 0x7fff_ffff;

/**
 * The buckets on one side of zero: read into the columns, checked on the way.
 *
 * Spans say which buckets are there: an offset from the end of the span before (for the first one, from index
 * 0) and a number of buckets that follow each other. Integer histograms have for each of them the difference
 * to the one before, float histograms the count itself.
 */
export class BucketSide {
  readonly columns: BucketColumns;
  /** Index of the first bucket, and of the one behind the last. */
  firstIndex = 0;
  endIndex = 0;
  readonly #name: string;
  readonly #fields: BucketFieldNumbers;
  readonly #spanTag: number;
  #spans = 0;
  #bucketsInSpans = 0;
  #spansOverlap = false;
  #deltas = 0;
  #counts = 0;
  /**
   * Of an integer histogram: the observations in the bucket whose delta was read last, a signed integer of 64
   * bits, and in all buckets, modulo 2^64. In halves: V8 keeps these out of the heap.
   */
  #inBucketLow = 0;
  #inBucketHigh = 0;
  #totalLow = 0;
  #totalHigh = 0;
  #hasNegativeCount = false;
  readonly #reader: ProtobufReader;

  constructor(
    name: 'negative' | 'positive',
    fields: BucketFieldNumbers,
    columns: BucketColumns,
    reader: ProtobufReader,
  ) {
    this.#name = name;
    this.#fields = fields;
    this.#spanTag = fieldTag(fields.spans, 'bytes');
    this.columns = columns;
    this.#reader = reader;
  }

  begin(): void {
    this.#inBucketLow = this.#inBucketHigh = this.#totalLow = this.#totalHigh = 0;
    this.firstIndex = this.endIndex = 0;
    this.#spans = this.#bucketsInSpans = this.#deltas = this.#counts = 0;
    this.#spansOverlap = this.#hasNegativeCount = false;
  }

  /** Takes a field if it belongs to this side. */
  take(tag: number, end: number): boolean {
    const reader = this.#reader;
    const { deltas, counts } = this.#fields;
    if (tag === this.#spanTag) {
      this.#readSpan(reader.lengthEnd(end));
      return true;
    }
    return (
      readRepeated(reader, tag, deltas, 'varint', end, this.#onDelta) ||
      readRepeated(reader, tag, counts, 'fixed64', end, this.#onCount)
    );
  }

  #readSpan(end: number): void {
    const reader = this.#reader;
    let offset = 0;
    let length = 0;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === spanOffset) {
        reader.varint64(end);
        offset = zigzag32(reader.low);
      } else if (tag === spanLength) {
        reader.varint64(end);
        length = reader.low >>> 0;
      } else {
        reader.skip(tag, end);
      }
    }
    if (this.#spans === 0) this.firstIndex = offset;
    else if (offset < 0) this.#spansOverlap = true;
    this.#bucketsInSpans += length;
    this.endIndex += offset + length;
    if (this.#spans++ >= limits.maxHistogramBuckets) return;
    this.columns.offsets.elements.append(offset);
    this.columns.lengths.elements.append(length);
  }

  readonly #onDelta = (): void => {
    const reader = this.#reader;
    zigzag64(reader);
    const low = (this.#inBucketLow + reader.low) | 0;
    const carry = low >>> 0 < reader.low >>> 0 ? 1 : 0;
    const high = (this.#inBucketHigh + reader.high + carry) | 0;
    this.#inBucketLow = low;
    this.#inBucketHigh = high;
    if (high < 0) this.#hasNegativeCount = true;
    const totalLow = (this.#totalLow + low) | 0;
    this.#totalHigh = (this.#totalHigh + high + (totalLow >>> 0 < low >>> 0 ? 1 : 0)) | 0;
    this.#totalLow = totalLow;
    if (this.#deltas++ >= limits.maxHistogramBuckets) return;
    this.columns.deltas.elements.append(reader.low, reader.high);
  };

  readonly #onCount = (): void => {
    const { low, high } = this.#reader;
    // The sign first: it is there in few.
    if (high < 0 && doubleOf(this.#reader) < 0) this.#hasNegativeCount = true;
    if (this.#counts++ >= limits.maxHistogramBuckets) return;
    this.columns.counts.elements.append(low, high);
  };

  /** Adds the observations in all buckets of an integer histogram, modulo 2^64. */
  addTotalTo(sum: Bits): void {
    addTo(sum, { low: this.#totalLow, high: this.#totalHigh });
  }

  /** @returns what is wrong with the buckets of a histogram of that form, or undefined */
  problem(isFloat: boolean): string | undefined {
    const name = this.#name;
    if ((isFloat ? this.#deltas : this.#counts) > 0) {
      return `it has ${isFloat ? 'a float' : 'an integer'} count and ${isFloat ? 'integer' : 'float'} ${name} buckets`;
    }
    const buckets = isFloat ? this.#counts : this.#deltas;
    if (Math.max(buckets, this.#spans) > limits.maxHistogramBuckets) {
      return `it has ${buckets} ${name} buckets in ${this.#spans} spans, at most ${limits.maxHistogramBuckets} are allowed of each`;
    }
    if (buckets !== this.#bucketsInSpans) {
      return `its ${name} spans cover ${this.#bucketsInSpans} buckets, and it has ${buckets}`;
    }
    if (this.#spansOverlap) return `its ${name} spans overlap: only the first may have a negative offset`;
    if (this.endIndex > maxBucketIndex) return `its ${name} spans end beyond bucket ${maxBucketIndex}`;
    if (this.#hasNegativeCount) return `it has a ${name} bucket with a count below zero`;
    return undefined;
  }

  get isEmpty(): boolean {
    return this.#spans === 0 && this.#deltas === 0 && this.#counts === 0;
  }
}
