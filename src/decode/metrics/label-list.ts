import { isUtf8 } from 'node:buffer';
import { limits } from '../../limits/limits.ts';
import type { ProtobufReader } from '../wire/protobuf-reader.ts';
import type { LabelHash } from './label-hash.ts';

/** Where a label's name and value are in the message. */
export interface LabelRange {
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** Where labels come from: those of a series, or an exemplar's own. */
export interface LabelSource {
  /** What the ranges of `readInto` refer to: the message, or what was made of it by `readInto`. */
  readonly bytes: Buffer;
  /** What makes it impossible even to hash them; undefined if there is nothing. */
  problem(): string | undefined;
  /** Whether all of them are ASCII, which nearly all labels are and one look at many tells. */
  isAscii(): boolean;
  /** Adds each of them, as far as they can be read. */
  readInto(list: LabelList): void;
}

/** The labels of a series as they are encoded in a message. */
export interface EncodedLabels extends LabelSource {
  /** A key for the labels as they are encoded: equal only if they are equal. */
  hash(hash: LabelHash): void;
}

/** Labels as both versions of Remote Write have them: in field 1, as messages or as references to symbols. */
export interface LabelFields extends EncodedLabels {
  /** Forgets the labels taken before. */
  begin(): void;
  /** Takes a field if it is one with labels; the cursor is behind its tag, and then behind the field. */
  take(reader: ProtobufReader, tag: number, fieldStart: number, end: number): boolean;
}

const errorTextMaxLength = 300;

/**
 * Labels in canonical order: ascending byte order of the names, without empty values, which mean no label.
 */
export class LabelList {
  /** In the message; in canonical order once `read` has returned no problem. */
  readonly ranges: LabelRange[] = [];
  /** Bytes of all names and values. */
  byteLength = 0;
  /** How many were looked at to find them, and their bytes. */
  examined = 0;
  examinedBytes = 0;
  protected bytes: Buffer = Buffer.alloc(0);
  #count = 0;

  /**
   * Replaces the labels by those of the fields.
   * @throws AppError `bad_protobuf`
   * @returns why they cannot be stored, or undefined
   */
  read(fields: LabelSource): string | undefined {
    this.ranges.length = 0;
    this.#count = 0;
    this.byteLength = this.examined = this.examinedBytes = 0;
    fields.readInto(this);
    // Only now: fields that make their bytes make them when they are read.
    this.bytes = fields.bytes;
    const problem = fields.problem();
    if (problem !== undefined) return problem;
    if (this.#count > limits.maxLabelsPerSeries) {
      return `it has ${this.#count} labels, at most ${limits.maxLabelsPerSeries} are allowed`;
    }
    return this.#checkEach(fields) ?? this.#sort();
  }

  /** Called by `LabelSource`. */
  add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    this.examine(nameEnd - nameStart + (valueEnd - valueStart));
    if (valueStart === valueEnd) return;
    if (++this.#count > limits.maxLabelsPerSeries) return;
    this.ranges.push({ nameStart, nameEnd, valueStart, valueEnd });
    this.byteLength += nameEnd - nameStart + (valueEnd - valueStart);
  }

  /** Called by `LabelSource` for one that is not added. */
  examine(bytes: number): void {
    this.examined++;
    this.examinedBytes += bytes;
  }

  #checkEach(fields: LabelSource): string | undefined {
    const { bytes } = this;
    const ascii = fields.isAscii();
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
    const { bytes } = this;
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

  /** For error messages: `{__name__="up", job="x"}`, shortened. */
  describe(): string {
    let text = '{';
    for (const range of this.ranges) {
      if (text.length > errorTextMaxLength) return `${text.slice(0, errorTextMaxLength)}…}`;
      const valueEnd = Math.min(range.valueEnd, range.valueStart + errorTextMaxLength);
      const value = this.bytes.toString('utf8', range.valueStart, valueEnd);
      text += `${text === '{' ? '' : ', '}${this.#nameOf(range)}=${JSON.stringify(value)}`;
    }
    return `${text}}`;
  }

  #nameOf({ nameStart, nameEnd }: LabelRange): string {
    return this.bytes.toString('utf8', nameStart, Math.min(nameEnd, nameStart + errorTextMaxLength));
  }
}
