/**
 * OTLP's JSON as the protobuf message that it stands for, so that both encodings are decoded by the same code. It takes
 * one pass over the text, in which no objects are made of it.
 */
import { ByteWriter, varintLength } from '../../../lib/byte-writer.ts';
import { limits } from '../../../limits/limits.ts';
import { JsonReader } from '../../wire/json-reader.ts';
import { JsonTextCopier } from '../../wire/json-text.ts';
import { fieldTag } from '../../wire/protobuf-reader.ts';
import type { Bits } from '../../wire/protobuf-values.ts';
import { JsonFields, readArray } from './json-fields.ts';
import {
  readBase64,
  readBool,
  readDouble,
  readEnum,
  readHex,
  readSigned32,
  readSigned64,
  readUnsigned32,
  readUnsigned64,
} from './json-scalars.ts';
import type { FieldShape, FieldType, MessageShape } from './message-shape.ts';

/** Reads what is at the cursor and writes it. */
type Step = () => void;

/** A length that is not known yet takes as many bytes as the largest: a varint may have zeros at its end. */
const largeLengthBytes = 5;

const wireTypes = {
  string: 'bytes',
  bytes: 'bytes',
  id: 'bytes',
  bool: 'varint',
  int64: 'varint',
  uint64: 'varint',
  uint32: 'varint',
  sint32: 'varint',
  fixed64: 'fixed64',
  sfixed64: 'fixed64',
  double: 'fixed64',
} as const satisfies Record<Extract<FieldType, string>, 'bytes' | 'varint' | 'fixed64'>;

const doubles = new Float64Array(1);
const halves = new Int32Array(doubles.buffer);

/** Converts messages of one kind. Made once: the steps for each field are put together when it is made. */
export class JsonToProtobuf {
  readonly #convert: Step;
  readonly #messages = new Map<MessageShape, Step>();
  readonly #skipped = new JsonTextCopier();
  readonly #bits: Bits = { low: 0, high: 0 };
  #reader = new JsonReader(Buffer.alloc(0));
  #out = new ByteWriter();
  /** Lists that the cursor is in. */
  #depth = 0;

  constructor(shape: MessageShape) {
    this.#convert = this.#message(shape);
  }

  /**
   * Converts the document at the cursor, up to the end of the text.
   * @throws AppError `bad_json`
   */
  convert(reader: JsonReader): Buffer {
    this.#reader = reader;
    this.#out = new ByteWriter(reader.end);
    this.#depth = 0;
    this.#convert();
    if (reader.peek() !== -1) throw reader.syntaxError('expected nothing after the request');
    return this.#out.view();
  }

  /** The fields of a message, without its length. */
  #message(shape: MessageShape): Step {
    const known = this.#messages.get(shape);
    if (known !== undefined) return known;
    const steps: Step[] = [];
    let json: JsonFields | undefined;
    const onField = (id: number): void => steps[id]?.();
    const read = (): void => json?.read(this.#reader, onField);
    const message = shape.isList === true ? this.#bounded(read) : read;
    this.#messages.set(shape, message);
    const fields = Object.entries(shape.fields());
    json = new JsonFields(Object.fromEntries(fields.map(([name], id) => [name, id])));
    for (const [, field] of fields) steps.push(this.#field(field));
    return message;
  }

  /**
   * Reads lists in lists up to one level more than the decoder takes, which will say so; what is deeper is passed over
   * without recursion.
   */
  #bounded(read: Step): Step {
    return () => {
      if (this.#depth > limits.maxAttributeDepth) {
        this.#skipped.copy(this.#reader);
        return;
      }
      this.#depth++;
      read();
      this.#depth--;
    };
  }

  #field({ number, type, repeated }: FieldShape): Step {
    const wire = typeof type === 'string' ? wireTypes[type] : type instanceof Map ? 'varint' : 'bytes';
    const tag = fieldTag(number, wire);
    const write = this.#value(type);
    const writeField = (): void => {
      this.#out.varint(tag);
      write();
    };
    return repeated === true ? () => readArray(this.#reader, writeField) : writeField;
  }

  #value(type: FieldType): Step {
    if (type instanceof Map) return () => this.#varint32(readEnum(this.#reader, type));
    switch (type) {
      case 'string':
        return () => this.#string();
      case 'bytes':
        return () => this.#out.bytesWithLength(readBase64(this.#reader));
      case 'id':
        return () => this.#out.bytesWithLength(readHex(this.#reader));
      case 'bool':
        return () => this.#out.byte(readBool(this.#reader) ? 1 : 0);
      case 'uint32':
        return () => this.#out.varint(readUnsigned32(this.#reader));
      case 'sint32':
        return () => this.#sint32();
      case 'int64':
      case 'uint64':
        return () => this.#varint64(type === 'int64');
      case 'fixed64':
      case 'sfixed64':
        return () => this.#fixed64(type === 'sfixed64');
      case 'double':
        return () => this.#double();
      default:
        return this.#nested(type as MessageShape);
    }
  }

  #nested(shape: MessageShape): Step {
    const message = this.#message(shape);
    const lengthBytes = shape.isLarge === true ? largeLengthBytes : 1;
    return () => {
      const start = this.#out.length;
      this.#out.reserve(lengthBytes);
      this.#out.length += lengthBytes;
      message();
      this.#writeLength(start, lengthBytes);
    };
  }

  /** Writes the length of what was written behind the room for it, and makes more room where it takes more. */
  #writeLength(start: number, lengthBytes: number): void {
    const out = this.#out;
    const length = out.length - start - lengthBytes;
    const needed = Math.max(lengthBytes, varintLength(length));
    if (needed > lengthBytes) {
      out.reserve(needed - lengthBytes);
      out.buffer.copyWithin(start + needed, start + lengthBytes, out.length);
      out.length += needed - lengthBytes;
    }
    let rest = length;
    for (let index = 1; index < needed; index++) {
      out.buffer[start + index - 1] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    out.buffer[start + needed - 1] = rest;
  }

  #string(): void {
    const reader = this.#reader;
    reader.openString('a string');
    const start = reader.position;
    const close = reader.closeString();
    if (reader.escaped) this.#out.bytesWithLength(reader.unescape(start, close).view());
    else this.#out.bytesWithLength(reader.bytes, start, close);
  }

  #double(): void {
    doubles[0] = readDouble(this.#reader);
    this.#halves(halves[0] as number, halves[1] as number);
  }

  #fixed64(isSigned: boolean): void {
    if (isSigned) readSigned64(this.#reader, this.#bits);
    else readUnsigned64(this.#reader, this.#bits);
    this.#halves(this.#bits.low, this.#bits.high);
  }

  #halves(low: number, high: number): void {
    const out = this.#out;
    out.reserve(8);
    out.length = out.buffer.writeInt32LE(low, out.length);
    out.length = out.buffer.writeInt32LE(high, out.length);
  }

  #sint32(): void {
    const value = readSigned32(this.#reader);
    this.#out.varint(((value << 1) ^ (value >> 31)) >>> 0);
  }

  /** An integer of 32 bits; a negative one has ten bytes, as protobuf has it. */
  #varint32(value: number): void {
    this.#varintBits(value, value >> 31);
  }

  #varint64(isSigned: boolean): void {
    if (isSigned) readSigned64(this.#reader, this.#bits);
    else readUnsigned64(this.#reader, this.#bits);
    this.#varintBits(this.#bits.low, this.#bits.high);
  }

  #varintBits(lowBits: number, highBits: number): void {
    const out = this.#out;
    let low = lowBits >>> 0;
    let high = highBits >>> 0;
    out.reserve(10);
    while (high !== 0 || low >= 0x80) {
      out.buffer[out.length++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    out.buffer[out.length++] = low;
  }
}
