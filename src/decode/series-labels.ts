/**
 * The labels of one series: read from Remote Write's `Label` messages, checked, and brought into the one order
 * that gives the series its identity.
 *
 * The canonical encoding, from which `series_id` is made, is for each label in ascending byte order of the
 * names, `__name__` among them: varint length of the name, name, varint length of the value, value. A label
 * with an empty value is the same as no label (as in Prometheus) and left out. `series_id` is the xxHash64 with
 * seed 0 of these bytes, `metric_id` the xxHash32 with seed 0 of the metric's name: the same on every node
 * and in every version, since stored samples refer to them.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { ByteWriter } from '../lib/bytes.ts';
import { limits } from '../limits.ts';
import { fieldTag, type ProtobufReader } from './protobuf-reader.ts';

/** Where a label's name and value are in the message. */
export interface LabelRange {
  nameStart: number;
  nameEnd: number;
  valueStart: number;
  valueEnd: number;
}

/** The field of a `TimeSeries` that holds a label. */
export const seriesLabel = fieldTag(1, 'bytes');

const labelName = fieldTag(1, 'bytes');
const labelValue = fieldTag(2, 'bytes');
const metricNameLabel = Buffer.from('__name__');

const errorTextMaxLength = 300;

export class SeriesLabels {
  /** Labels of the series read last, in canonical order, without empty values. */
  readonly ranges: LabelRange[] = [];
  /** The one of them that holds the metric's name. */
  metricName: LabelRange = { nameStart: 0, nameEnd: 0, valueStart: 0, valueEnd: 0 };
  #bytes: Buffer = Buffer.alloc(0);
  readonly #canonical = new ByteWriter(1024);

  /**
   * Reads the labels among the fields in `[start, end)` of the reader's message.
   * @throws AppError `bad_protobuf`
   * @returns why the series cannot be stored, or undefined
   */
  read(reader: ProtobufReader, start: number, end: number): string | undefined {
    this.#bytes = reader.bytes;
    this.ranges.length = 0;
    let count = 0;
    reader.position = start;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag !== seriesLabel) {
        reader.skip(tag, end);
        continue;
      }
      const range = readLabel(reader, reader.lengthEnd(end));
      if (range.valueStart < range.valueEnd && ++count <= limits.maxLabelsPerSeries) this.ranges.push(range);
    }
    if (count > limits.maxLabelsPerSeries) {
      return `it has ${count} labels, at most ${limits.maxLabelsPerSeries} are allowed`;
    }
    return this.#checkEach(start, end) ?? this.#sort() ?? this.#findMetricName();
  }

  #checkEach(start: number, end: number): string | undefined {
    const bytes = this.#bytes;
    // Nearly all labels are ASCII, which one look at the whole region tells.
    const ascii = isAscii(bytes.subarray(start, end));
    for (const range of this.ranges) {
      const nameBytes = range.nameEnd - range.nameStart;
      const valueBytes = range.valueEnd - range.valueStart;
      if (nameBytes === 0) return 'it has a label without a name';
      if (nameBytes > limits.maxLabelNameBytes) {
        return `a label name has ${nameBytes} bytes, at most ${limits.maxLabelNameBytes} are allowed`;
      }
      if (valueBytes > limits.maxLabelValueBytes) {
        return `the value of label ${this.#nameOf(range)} has ${valueBytes} bytes, at most ${limits.maxLabelValueBytes} are allowed`;
      }
      if (ascii) continue;
      if (!isUtf8(bytes.subarray(range.nameStart, range.nameEnd))) return 'a label name is not valid UTF-8';
      if (!isUtf8(bytes.subarray(range.valueStart, range.valueEnd))) {
        return `the value of label ${this.#nameOf(range)} is not valid UTF-8`;
      }
    }
    return undefined;
  }

  #sort(): string | undefined {
    const bytes = this.#bytes;
    const compare = (a: LabelRange, b: LabelRange): number =>
      bytes.compare(bytes, b.nameStart, b.nameEnd, a.nameStart, a.nameEnd);
    const firstNotAscending = (): LabelRange | undefined =>
      this.ranges.find((range, index) => {
        const before = this.ranges[index - 1];
        return before !== undefined && compare(before, range) >= 0;
      });
    // Senders are supposed to sort, and most do.
    if (firstNotAscending() === undefined) return undefined;
    this.ranges.sort(compare);
    const duplicate = firstNotAscending();
    return duplicate === undefined ? undefined : `it has the label ${this.#nameOf(duplicate)} twice`;
  }

  #findMetricName(): string | undefined {
    const { length } = metricNameLabel;
    const found = this.ranges.find(
      ({ nameStart, nameEnd }) =>
        nameEnd - nameStart === length &&
        this.#bytes.compare(metricNameLabel, 0, length, nameStart, nameEnd) === 0,
    );
    if (found === undefined) return 'it has no metric name (label __name__)';
    this.metricName = found;
    return undefined;
  }

  /** The canonical encoding; valid until the next call. */
  canonical(): Uint8Array {
    const out = this.#canonical;
    out.length = 0;
    for (const { nameStart, nameEnd, valueStart, valueEnd } of this.ranges) {
      out.bytesWithLength(this.#bytes, nameStart, nameEnd);
      out.bytesWithLength(this.#bytes, valueStart, valueEnd);
    }
    return out.view();
  }

  /** For error messages: `{__name__="up", job="x"}`, shortened. */
  describe(): string {
    let text = '{';
    for (const range of this.ranges) {
      if (text.length > errorTextMaxLength) return `${text.slice(0, errorTextMaxLength)}…}`;
      const valueEnd = Math.min(range.valueEnd, range.valueStart + errorTextMaxLength);
      const value = this.#bytes.toString('utf8', range.valueStart, valueEnd);
      text += `${text === '{' ? '' : ', '}${this.#nameOf(range)}=${JSON.stringify(value)}`;
    }
    return `${text}}`;
  }

  #nameOf({ nameStart, nameEnd }: LabelRange): string {
    return this.#bytes.toString('utf8', nameStart, Math.min(nameEnd, nameStart + errorTextMaxLength));
  }
}

function readLabel(reader: ProtobufReader, end: number): LabelRange {
  const range: LabelRange = { nameStart: 0, nameEnd: 0, valueStart: 0, valueEnd: 0 };
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === labelName) {
      range.nameEnd = reader.lengthEnd(end);
      range.nameStart = reader.position;
      reader.position = range.nameEnd;
    } else if (tag === labelValue) {
      range.valueEnd = reader.lengthEnd(end);
      range.valueStart = reader.position;
      reader.position = range.valueEnd;
    } else {
      reader.skip(tag, end);
    }
  }
  return range;
}
