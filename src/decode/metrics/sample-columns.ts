import { Column64 } from '../../columnar/columns.ts';
import { encodeTableBlock } from '../../columnar/native-block.ts';
import type { TableBlock } from '../../model/block.ts';
import { fieldTag, type ProtobufReader } from '../wire/protobuf-reader.ts';
import { PointColumns, StartTimestampColumn } from './point-columns.ts';

const valueField = fieldTag(1, 'fixed64');
const timestampField = fieldTag(2, 'varint');
const startTimestampField = fieldTag(3, 'varint');

/** The halves of each value of a sample; times in milliseconds. */
export interface Sample {
  /** As bits: the stale marker is a NaN with a payload. */
  readonly valueLow: number;
  readonly valueHigh: number;
  readonly timestampLow: number;
  readonly timestampHigh: number;
  readonly startLow: number;
  readonly startHigh: number;
}

/** A `Sample` message. One object is filled again and again. */
export class SampleMessage implements Sample {
  valueLow = 0;
  valueHigh = 0;
  timestampLow = 0;
  timestampHigh = 0;
  startLow = 0;
  startHigh = 0;
  readonly #hasStart: boolean;

  /** @param hasStart whether field 3 is a start timestamp, as in version 2.0 */
  constructor(hasStart: boolean) {
    this.#hasStart = hasStart;
  }

  read(reader: ProtobufReader, end: number): void {
    this.valueLow = this.valueHigh = 0;
    this.timestampLow = this.timestampHigh = 0;
    this.startLow = this.startHigh = 0;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === valueField) {
        reader.fixed64(end);
        this.valueLow = reader.low;
        this.valueHigh = reader.high;
      } else if (tag === timestampField) {
        reader.varint64(end);
        this.timestampLow = reader.low;
        this.timestampHigh = reader.high;
      } else if (tag === startTimestampField && this.#hasStart) {
        reader.varint64(end);
        this.startLow = reader.low;
        this.startHigh = reader.high;
      } else {
        reader.skip(tag, end);
      }
    }
  }
}

/** Rows of `samples`. */
export class SampleColumns {
  readonly points: PointColumns;
  readonly #value: Column64;
  readonly #start = new StartTimestampColumn();

  constructor(expectedRows: number) {
    this.points = new PointColumns(expectedRows);
    this.#value = new Column64('value', 'Float64', expectedRows);
  }

  append(sample: Sample): void {
    this.#start.append(this.points.rows, sample.startLow, sample.startHigh);
    this.points.timestamp.append(sample.timestampLow, sample.timestampHigh);
    this.#value.append(sample.valueLow, sample.valueHigh);
  }

  /** Takes back the samples from that row on. */
  truncate(rows: number): void {
    this.points.truncate(rows);
    this.#value.rows = rows;
    this.#start.truncate(rows);
  }

  finish(): TableBlock {
    const columns = [...this.points.columns, this.#value, ...this.#start.columns];
    return encodeTableBlock('samples', columns, this.points.rows);
  }
}
