import type { Exemplar } from '../../metrics/exemplar-columns.ts';
import { highBits, lowBits } from '../../wire/double-bits.ts';
import { fieldTag, type ProtobufReader } from '../../wire/protobuf-reader.ts';
import { doubleOf, signedOf } from '../../wire/protobuf-values.ts';
import { ExemplarLabels } from './exemplar-labels.ts';
import { millisOfNanos } from './nanos.ts';
import { timeProblem } from './point-header.ts';

const timeField = fieldTag(2, 'fixed64');
const asDouble = fieldTag(3, 'fixed64');
const spanId = fieldTag(4, 'bytes');
const traceId = fieldTag(5, 'bytes');
const asInt = fieldTag(6, 'fixed64');
const filteredAttributes = fieldTag(7, 'bytes');

/** An `Exemplar` of a data point. One object is filled again and again. */
export class PointExemplar implements Exemplar {
  timestampMs = 0;
  timestampLow = 0;
  timestampHigh = 0;
  valueLow = 0;
  valueHigh = 0;
  /** An integer beyond 2^53 becomes the nearest double. */
  value = 0;
  readonly labels: ExemplarLabels;
  readonly #reader: ProtobufReader;

  constructor(reader: ProtobufReader) {
    this.#reader = reader;
    this.labels = new ExemplarLabels(reader.bytes, filteredAttributes);
  }

  /**
   * Reads the message up to `end`.
   * @param pointMs the time of the data point, for an exemplar without one
   * @throws AppError `bad_protobuf`
   * @returns why it cannot be stored, or undefined
   */
  read(end: number, pointMs: number): string | undefined {
    const reader = this.#reader;
    let hasValue = false;
    this.timestampMs = 0;
    this.labels.begin(reader.position, end);
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === asDouble || tag === asInt) {
        reader.fixed64(end);
        this.#setValue(tag === asInt);
        hasValue = true;
      } else if (tag === timeField) {
        reader.fixed64(end);
        this.timestampMs = millisOfNanos(reader.low, reader.high);
      } else if (tag === spanId || tag === traceId) {
        const idEnd = reader.lengthEnd(end);
        const id = tag === spanId ? this.labels.spanId : this.labels.traceId;
        id.start = reader.position;
        id.end = idEnd;
        reader.position = idEnd;
      } else {
        reader.skip(tag, end);
      }
    }
    if (this.timestampMs === 0) this.timestampMs = pointMs;
    this.timestampLow = this.timestampMs | 0;
    this.timestampHigh = Math.floor(this.timestampMs / 0x1_0000_0000);
    return hasValue ? timeProblem('time', this.timestampMs) : 'it has no value';
  }

  #setValue(isInteger: boolean): void {
    const { low, high } = this.#reader;
    this.value = isInteger ? signedOf(this.#reader) : doubleOf(this.#reader);
    this.valueLow = isInteger ? lowBits(this.value) : low;
    this.valueHigh = isInteger ? highBits(this.value) : high;
  }
}
