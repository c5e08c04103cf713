import { fieldTag, type ProtobufReader } from '../wire/protobuf-reader.ts';
import type { LabelFields } from './label-list.ts';

const valueField = fieldTag(2, 'fixed64');
const timestampField = fieldTag(3, 'varint');

/** An `Exemplar` message of Remote Write, the halves of each value. One object is filled again and again. */
export class ExemplarMessage {
  timestampLow = 0;
  timestampHigh = 0;
  valueLow = 0;
  valueHigh = 0;
  readonly labels: LabelFields;

  /** @param labels of the exemplar itself */
  constructor(labels: LabelFields) {
    this.labels = labels;
  }

  /** @throws AppError `bad_protobuf` */
  read(reader: ProtobufReader, end: number): void {
    const { labels } = this;
    labels.begin();
    this.timestampLow = this.timestampHigh = 0;
    this.valueLow = this.valueHigh = 0;
    while (reader.position < end) {
      const fieldStart = reader.position;
      const tag = reader.tag(end);
      if (tag === valueField) {
        reader.fixed64(end);
        this.valueLow = reader.low;
        this.valueHigh = reader.high;
      } else if (tag === timestampField) {
        reader.varint64(end);
        this.timestampLow = reader.low;
        this.timestampHigh = reader.high;
      } else if (!labels.take(reader, tag, fieldStart, end)) {
        reader.skip(tag, end);
      }
    }
  }
}
