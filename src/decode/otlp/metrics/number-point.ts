import { highBits, lowBits } from '../../wire/double-bits.ts';
import { fieldTag, type ProtobufReader } from '../../wire/protobuf-reader.ts';
import { signedOf } from '../../wire/protobuf-values.ts';
import { seriesVariants } from './metric-labels.ts';
import type { PointFieldNumbers, PointHeader } from './point-header.ts';
import { type ExemplarSeries, type PointReader, plainSeries } from './point-reader.ts';
import type { SampleWriter } from './sample-writer.ts';

const fields: PointFieldNumbers = { attributes: 7, exemplars: 5, flags: 8 };
const asDouble = fieldTag(4, 'fixed64');
const asInt = fieldTag(6, 'fixed64');

/**
 * A `NumberDataPoint`, of a gauge or a sum: one sample. An integer beyond 2^53 becomes the nearest double.
 */
export class NumberPoint implements PointReader {
  readonly #reader: ProtobufReader;
  readonly #header: PointHeader;
  #hasValue = false;
  #valueLow = 0;
  #valueHigh = 0;

  constructor(reader: ProtobufReader, header: PointHeader) {
    this.#reader = reader;
    this.#header = header;
  }

  read(end: number): string | undefined {
    const reader = this.#reader;
    const header = this.#header;
    header.begin(fields);
    this.#hasValue = false;
    while (reader.position < end) {
      const fieldStart = reader.position;
      const tag = reader.tag(end);
      if (tag === asDouble || tag === asInt) {
        reader.fixed64(end);
        this.#setValue(tag === asInt);
      } else if (!header.take(reader, tag, fieldStart, end)) {
        reader.skip(tag, end);
      }
    }
    return this.#hasValue || header.isUnrecorded ? undefined : 'it has no value';
  }

  #setValue(isInteger: boolean): void {
    this.#hasValue = true;
    const { low, high } = this.#reader;
    if (isInteger) {
      const value = signedOf(this.#reader);
      this.#valueLow = lowBits(value);
      this.#valueHigh = highBits(value);
    } else {
      this.#valueLow = low;
      this.#valueHigh = high;
    }
  }

  store(rows: SampleWriter): string | undefined {
    return rows.addBits(seriesVariants.plain, this.#valueLow, this.#valueHigh);
  }

  exemplarSeries(): ExemplarSeries {
    return plainSeries;
  }
}
