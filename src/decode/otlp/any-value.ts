/** `AnyValue` and `KeyValue` from protobuf. */
import { limits } from '../../limits/limits.ts';
import { fieldTag, type ProtobufReader } from '../wire/protobuf-reader.ts';
import { doubleOf } from '../wire/protobuf-values.ts';
import type { AttributeList } from './attribute-list.ts';
import { type Draft, DraftText } from './draft.ts';
import type { HexId } from './hex-id.ts';
import { writeAscii, writeBase64, writeDouble, writeInteger, writeJsonString } from './value-text.ts';

const stringValue = fieldTag(1, 'bytes');
const boolValue = fieldTag(2, 'varint');
const intValue = fieldTag(3, 'varint');
const doubleValue = fieldTag(4, 'fixed64');
const arrayValue = fieldTag(5, 'bytes');
const kvlistValue = fieldTag(6, 'bytes');
const bytesValue = fieldTag(7, 'bytes');
/** `string_value_strindex` and `key_strindex`: the number of a text in the dictionary that profiles have. */
const valueReference = fieldTag(8, 'varint');
const keyReference = fieldTag(3, 'varint');
/** `values` of `ArrayValue` and `KeyValueList`. */
const values = fieldTag(1, 'bytes');
const pairKey = fieldTag(1, 'bytes');
const pairValue = fieldTag(2, 'bytes');

const comma = 0x2c;
const colon = 0x3a;

/** Reads the values of one draft. Of several values for one field, the last counts. */
export class ProtobufValues {
  readonly #reader: ProtobufReader;
  readonly #draft: Draft;
  readonly #key = new DraftText();
  readonly #value = new DraftText();
  readonly #nested = new DraftText();
  /** Where the key and the value of the pair read last are; a value that is missing is empty. */
  #keyStart = 0;
  #keyEnd = 0;
  #valueStart = 0;
  #valueEnd = 0;

  constructor(reader: ProtobufReader, draft: Draft) {
    this.#reader = reader;
    this.#draft = draft;
  }

  /** A string field: its length and its bytes. */
  readString(into: DraftText, end: number): void {
    const reader = this.#reader;
    const fieldEnd = reader.lengthEnd(end);
    this.#draft.takeUnchecked(into, reader.position, fieldEnd);
    reader.position = fieldEnd;
  }

  /** A field with the id of a trace or a span. */
  readId(id: HexId, end: number): void {
    const reader = this.#reader;
    const fieldEnd = reader.lengthEnd(end);
    id.setBytes(reader.bytes, reader.position, fieldEnd);
    reader.position = fieldEnd;
  }

  /** A field that is a `KeyValue` message. */
  readAttribute(list: AttributeList, end: number): void {
    this.readPair(this.#key, this.#value, this.#reader.lengthEnd(end));
    list.add(this.#key, this.#value);
  }

  /** A `KeyValue` message that ends at `end`. */
  readPair(key: DraftText, value: DraftText, end: number): void {
    const reader = this.#reader;
    this.#findPair(end);
    this.#draft.takeUnchecked(key, this.#keyStart, this.#keyEnd);
    reader.position = this.#valueStart;
    this.readValue(value, this.#valueEnd);
    reader.position = end;
  }

  #findPair(end: number): void {
    const reader = this.#reader;
    const { bytes, position } = reader;
    const keyLength = bytes[position + 1] as number;
    const valueField = position + 2 + keyLength;
    if (
      valueField + 2 <= end &&
      keyLength < 0x80 &&
      bytes[position] === pairKey &&
      bytes[valueField] === pairValue &&
      valueField + 2 + (bytes[valueField + 1] as number) === end
    ) {
      this.#keyStart = position + 2;
      this.#keyEnd = valueField;
      this.#valueStart = valueField + 2;
      this.#valueEnd = end;
      return;
    }
    this.#keyStart = 0;
    this.#keyEnd = 0;
    this.#valueStart = end;
    this.#valueEnd = end;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === pairKey) {
        this.#keyEnd = reader.lengthEnd(end);
        this.#keyStart = reader.position;
        reader.position = this.#keyEnd;
      } else if (tag === pairValue) {
        this.#valueEnd = reader.lengthEnd(end);
        this.#valueStart = reader.position;
        reader.position = this.#valueEnd;
      } else this.#skip(tag, end, keyReference);
    }
  }

  /**
   * Passes over a field that is not read. Of a reference into a dictionary, which only profiles have, it
   * warns: receivers of other signals should (opentelemetry/proto/common/v1/common.proto).
   */
  #skip(tag: number, end: number, reference: number): void {
    if (tag === reference) this.#draft.warn('a text that is a reference into a dictionary is left out');
    this.#reader.skip(tag, end);
  }

  /** An `AnyValue` message that ends at `end`, as text. */
  readValue(into: DraftText, end: number): void {
    const reader = this.#reader;
    const draft = this.#draft;
    let found = false;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === stringValue) this.readString(into, end);
      else {
        const start = draft.own.length;
        if (!this.#writeScalar(tag, end, false) && !this.#writeContainer(tag, end, 1)) {
          this.#skip(tag, end, valueReference);
          continue;
        }
        draft.takeOwn(into, start);
      }
      found = true;
    }
    if (found) return;
    const start = draft.own.length;
    writeAscii(draft.own, 'null');
    draft.takeOwn(into, start);
  }

  /** @returns false, with nothing read, if the field is another one */
  #writeScalar(tag: number, end: number, inJson: boolean): boolean {
    const reader = this.#reader;
    const { own, body } = this.#draft;
    if (tag === intValue) {
      reader.varint64(end);
      writeInteger(own, reader);
    } else if (tag === boolValue) {
      reader.varint64(end);
      writeAscii(own, (reader.low | reader.high) === 0 ? 'false' : 'true');
    } else if (tag === doubleValue) {
      reader.fixed64(end);
      writeDouble(own, doubleOf(reader), inJson);
    } else if (tag === bytesValue) {
      const fieldEnd = reader.lengthEnd(end);
      if (inJson) writeAscii(own, '"');
      writeBase64(own, body, reader.position, fieldEnd);
      if (inJson) writeAscii(own, '"');
      reader.position = fieldEnd;
    } else return false;
    return true;
  }

  /** @param depth of the container. @returns false, with nothing read, if the field is another one */
  #writeContainer(tag: number, end: number, depth: number): boolean {
    if (tag !== arrayValue && tag !== kvlistValue) return false;
    const reader = this.#reader;
    const { own } = this.#draft;
    const fieldEnd = reader.lengthEnd(end);
    if (depth > limits.maxAttributeDepth) {
      this.#draft.refuse(`a value is nested deeper than ${limits.maxAttributeDepth} levels`);
      reader.position = fieldEnd;
      return true;
    }
    writeAscii(own, tag === arrayValue ? '[' : '{');
    let first = true;
    let innerEnd = reader.nextField(values, fieldEnd);
    while (innerEnd >= 0) {
      if (!first) own.byte(comma);
      first = false;
      if (tag === arrayValue) this.#writeElement(innerEnd, depth);
      else this.#writePair(innerEnd, depth);
      innerEnd = reader.nextField(values, fieldEnd);
    }
    writeAscii(own, tag === arrayValue ? ']' : '}');
    return true;
  }

  #writePair(end: number, depth: number): void {
    const reader = this.#reader;
    this.#findPair(end);
    const valueEnd = this.#valueEnd;
    this.#writeText(this.#keyStart, this.#keyEnd);
    this.#draft.own.byte(colon);
    reader.position = this.#valueStart;
    this.#writeElement(valueEnd, depth);
    reader.position = end;
  }

  /** The value up to `end` as JSON text. */
  #writeElement(end: number, depth: number): void {
    const reader = this.#reader;
    const { own } = this.#draft;
    const start = own.length;
    while (reader.position < end) {
      const tag = reader.tag(end);
      const before = own.length;
      if (tag === stringValue) {
        const fieldEnd = reader.lengthEnd(end);
        own.length = start;
        this.#writeText(reader.position, fieldEnd);
        reader.position = fieldEnd;
      } else if (this.#writeScalar(tag, end, true) || this.#writeContainer(tag, end, depth + 1)) {
        // A later value takes the place of an earlier one.
        own.buffer.copyWithin(start, before, own.length);
        own.length -= before - start;
      } else this.#skip(tag, end, valueReference);
    }
    if (own.length === start) writeAscii(own, 'null');
  }

  #writeText(start: number, end: number): void {
    const { own } = this.#draft;
    const text = this.#nested;
    const before = own.length;
    this.#draft.takeUnchecked(text, start, end);
    if (text.inBody) {
      writeJsonString(own, this.#draft.body, start, end);
      return;
    }
    const repaired = Buffer.from(own.buffer.subarray(text.start, text.end));
    own.length = before;
    writeJsonString(own, repaired, 0, repaired.length);
  }
}
