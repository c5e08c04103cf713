/** `AnyValue` and `KeyValue` from OTLP's JSON. */
import { limits } from '../../../limits/limits.ts';
import { ascii, type JsonReader } from '../../wire/json-reader.ts';
import { JsonTextCopier } from '../../wire/json-text.ts';
import type { Bits } from '../../wire/protobuf-values.ts';
import type { AttributeList } from '../attribute-list.ts';
import { type Draft, DraftText } from '../draft.ts';
import { writeAscii, writeBase64, writeDouble, writeInteger, writeJsonString } from '../value-text.ts';
import { JsonFields, readArray } from './json-fields.ts';
import {
  readBase64,
  readBool,
  readDouble,
  readPlainInteger,
  readSigned64,
  readText,
} from './json-scalars.ts';

const anyValue = {
  stringValue: 1,
  boolValue: 2,
  intValue: 3,
  doubleValue: 4,
  arrayValue: 5,
  kvlistValue: 6,
  bytesValue: 7,
} as const;
const keyValue = { key: 1, value: 2 } as const;
const anyFields = new JsonFields(anyValue);
const pairFields = new JsonFields(keyValue);
const containerFields = new JsonFields({ values: 1 });
/** How everybody writes an attribute and a string: read in one go, since nearly all of a request is made of these. */
const keyOpening = Buffer.from('{"key":"');
const valueOpening = Buffer.from(',"value":');
const stringOpening = Buffer.from('{"stringValue":"');
const emptyString = Buffer.from('""');
const nullText = Buffer.from('null');

/** Reads the values of one draft. Of several values for one field, the last counts. */
export class JsonValues {
  readonly #reader: JsonReader;
  readonly #draft: Draft;
  readonly #skipped = new JsonTextCopier();
  readonly #bits: Bits = { low: 0, high: 0 };
  readonly #key = new DraftText();
  readonly #value = new DraftText();
  readonly #nested = new DraftText();
  #list: AttributeList | undefined;
  #into = this.#value;
  #found = false;

  constructor(reader: JsonReader, draft: Draft) {
    this.#reader = reader;
    this.#draft = draft;
  }

  /** An array of `KeyValue`. */
  readAttributes(list: AttributeList): void {
    this.#list = list;
    readArray(this.#reader, this.#readAttribute);
  }

  readonly #readAttribute = (): void => {
    const start = this.#reader.position;
    if (!this.#readUsualPair()) {
      this.#reader.position = start;
      this.#key.clear();
      this.#value.clear();
      this.#found = false;
      pairFields.read(this.#reader, this.#readPairField);
      if (!this.#found) this.#takeNull(this.#value);
    }
    this.#list?.add(this.#key, this.#value);
  };

  /** @returns false if it is not the usual pair; then some of it may have been consumed */
  #readUsualPair(): boolean {
    const reader = this.#reader;
    if (!reader.takeBytes(keyOpening)) return false;
    const start = reader.position;
    const close = reader.closeString();
    if (reader.escaped || !reader.takeBytes(valueOpening)) return false;
    this.#draft.take(this.#key, start, close);
    this.readValue(this.#value);
    if (reader.bytes[reader.position] !== ascii.closeBrace) return false;
    reader.position++;
    return true;
  }

  /** @returns false, with nothing consumed, if it is not a string without escapes in the usual spelling */
  #readUsualString(into: DraftText): boolean {
    const reader = this.#reader;
    if (!reader.takeBytes(stringOpening)) return false;
    const start = reader.position;
    const close = reader.closeString();
    if (reader.escaped || reader.bytes[reader.position] !== ascii.closeBrace) {
      reader.position = start - stringOpening.length;
      return false;
    }
    reader.position++;
    this.#draft.take(into, start, close);
    return true;
  }

  readonly #readPairField = (id: number): void => {
    if (id === keyValue.key) readText(this.#reader, this.#draft, this.#key);
    else this.readValue(this.#value);
  };

  /** An `AnyValue` as text. */
  readValue(into: DraftText): void {
    this.#found = true;
    if (this.#readUsualString(into)) return;
    this.#into = into;
    this.#found = false;
    anyFields.read(this.#reader, this.#readAny);
    if (!this.#found) this.#takeNull(into);
    this.#found = true;
  }

  #takeNull(into: DraftText): void {
    const start = this.#draft.own.length;
    writeAscii(this.#draft.own, 'null');
    this.#draft.takeOwn(into, start);
  }

  readonly #readAny = (id: number): void => {
    this.#found = true;
    if (id === anyValue.stringValue) {
      readText(this.#reader, this.#draft, this.#into);
      return;
    }
    if (id === anyValue.intValue && readPlainInteger(this.#reader, this.#draft, this.#into)) return;
    const start = this.#draft.own.length;
    if (id === anyValue.arrayValue || id === anyValue.kvlistValue) this.#writeContainer(id, 1);
    else this.#writeScalar(id, false);
    this.#draft.takeOwn(this.#into, start);
  };

  #writeScalar(id: number, inJson: boolean): void {
    const reader = this.#reader;
    const { own } = this.#draft;
    if (id === anyValue.intValue) {
      readSigned64(reader, this.#bits);
      writeInteger(own, this.#bits);
    } else if (id === anyValue.boolValue) writeAscii(own, readBool(reader) ? 'true' : 'false');
    else if (id === anyValue.doubleValue) writeDouble(own, readDouble(reader), inJson);
    else {
      if (inJson) own.byte(ascii.quote);
      const bytes = readBase64(reader);
      writeBase64(own, bytes, 0, bytes.length);
      if (inJson) own.byte(ascii.quote);
    }
  }

  /** @param depth of the container */
  #writeContainer(id: number, depth: number): void {
    const reader = this.#reader;
    const { own } = this.#draft;
    if (depth > limits.maxAttributeDepth) {
      this.#draft.refuse(`a value is nested deeper than ${limits.maxAttributeDepth} levels`);
      this.#skipped.copy(reader);
      return;
    }
    const isArray = id === anyValue.arrayValue;
    const start = own.length;
    let first = true;
    writeAscii(own, isArray ? '[' : '{');
    const readElement = (): void => {
      if (!first) own.byte(ascii.comma);
      first = false;
      if (isArray) this.#writeElement(depth);
      else this.#writePair(depth);
    };
    containerFields.read(reader, () => {
      own.length = start + 1;
      first = true;
      readArray(reader, readElement);
    });
    writeAscii(own, isArray ? ']' : '}');
  }

  #writePair(depth: number): void {
    const reader = this.#reader;
    const { own } = this.#draft;
    const start = own.length;
    // The key may come behind the value.
    let key: Uint8Array = emptyString;
    let value: Uint8Array = nullText;
    const take = (): Uint8Array => {
      const taken = Buffer.from(own.buffer.subarray(start, own.length));
      own.length = start;
      return taken;
    };
    pairFields.read(reader, (id) => {
      if (id === keyValue.key) {
        this.#writeText();
        key = take();
      } else {
        this.#writeElement(depth);
        value = take();
      }
    });
    own.copy(key);
    own.byte(ascii.colon);
    own.copy(value);
  }

  /** A value as JSON text. */
  #writeElement(depth: number): void {
    const { own } = this.#draft;
    const start = own.length;
    anyFields.read(this.#reader, (id) => {
      own.length = start;
      if (id === anyValue.stringValue) this.#writeText();
      else if (id === anyValue.arrayValue || id === anyValue.kvlistValue) this.#writeContainer(id, depth + 1);
      else this.#writeScalar(id, true);
    });
    if (own.length === start) writeAscii(own, 'null');
  }

  #writeText(): void {
    const { own, body } = this.#draft;
    const text = this.#nested;
    const before = own.length;
    readText(this.#reader, this.#draft, text);
    if (text.inBody) {
      writeJsonString(own, body, text.start, text.end);
      return;
    }
    const unescaped = Buffer.from(own.buffer.subarray(text.start, text.end));
    own.length = before;
    writeJsonString(own, unescaped, 0, unescaped.length);
  }
}
