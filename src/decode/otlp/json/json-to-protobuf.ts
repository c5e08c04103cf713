/**
 * OTLP's JSON as the protobuf message that it stands for, so that both encodings of all signals are decoded
 * by the same code. It takes one pass over the text, in which no objects are made of it. Compared with
 * readers of JSON that fill the rows themselves, a warm worker spends up to 5 % more CPU on usual logs and
 * traces, and some 15 % more on records full of long, escaped and nested values, which are copied once more.
 * It is not more than that because the usual spelling of strings and attributes is copied in one go
 * (`plain-text.ts`), the memory of the message is used again, and its texts are not checked twice.
 *
 * Field names are in lowerCamelCase or snake_case, unknown fields are skipped, and null stands for a field
 * that is absent. Of several values for one field the last counts, and lists are joined, as protobuf has it.
 */

import { isUtf8 } from 'node:buffer';
import { AppError } from '../../../errors.ts';
import { limits } from '../../../limits/limits.ts';
import { highBits, lowBits } from '../../wire/double-bits.ts';
import { ascii, JsonReader } from '../../wire/json-reader.ts';
import { JsonTextCopier } from '../../wire/json-text-copier.ts';
import { fieldTag } from '../../wire/protobuf-reader.ts';
import type { Bits } from '../../wire/protobuf-values.ts';
import { ProtobufWriter } from '../../wire/protobuf-writer.ts';
import { anyValue, keyValue } from './common-descriptors.ts';
import { FieldNames } from './field-names.ts';
import {
  readBase64,
  readBool,
  readDouble,
  readEnum,
  readId,
  readSigned32,
  readSigned64,
  readUnsigned32,
  readUnsigned64,
} from './json-scalars.ts';
import type { FieldDescriptor, FieldType, MessageDescriptor } from './message-descriptor.ts';
import { copyPlainAttribute, copyPlainValue, copyShortString } from './plain-text.ts';

type FieldKind = Extract<FieldType, string> | 'enum' | 'message' | 'attribute' | 'value';

const wireTypes = {
  string: 'bytes',
  bytes: 'bytes',
  id: 'bytes',
  bool: 'varint',
  int64: 'varint',
  uint64: 'varint',
  uint32: 'varint',
  sint32: 'varint',
  fixed32: 'fixed32',
  fixed64: 'fixed64',
  sfixed64: 'fixed64',
  double: 'fixed64',
  enum: 'varint',
  message: 'bytes',
  attribute: 'bytes',
  value: 'bytes',
} as const satisfies Record<FieldKind, 'bytes' | 'varint' | 'fixed32' | 'fixed64'>;

const noEnum: ReadonlyMap<string, number> = new Map();

/** A field as the transcoder needs it. */
interface Field {
  readonly tag: number;
  readonly kind: FieldKind;
  readonly isRepeated: boolean;
  /** Of an enum. */
  readonly values: ReadonlyMap<string, number>;
  /** Of a message. */
  readonly message: Message | undefined;
}

/** A kind of message as the transcoder needs it. */
interface Message {
  readonly names: FieldNames;
  /** By the ids of their names. */
  readonly fields: readonly Field[];
  readonly lengthBytes: number;
  readonly isList: boolean;
}

/** @param known the messages that were made before, which may hold each other */
function messageOf(descriptor: MessageDescriptor, known: Map<MessageDescriptor, Message>): Message {
  const before = known.get(descriptor);
  if (before !== undefined) return before;
  const descriptors = Object.entries(descriptor.fields());
  const fields: Field[] = [];
  const message = {
    names: new FieldNames(descriptors.map(([name]) => name)),
    fields,
    lengthBytes: descriptor.lengthBytes ?? 1,
    isList: descriptor.isList === true,
  };
  known.set(descriptor, message);
  for (const [, field] of descriptors) fields.push(fieldOf(field, known));
  return message;
}

function fieldOf({ number, type, repeated }: FieldDescriptor, known: Map<MessageDescriptor, Message>): Field {
  const kind = kindOf(type);
  return {
    tag: fieldTag(number, wireTypes[kind]),
    kind,
    isRepeated: repeated === true,
    values: type instanceof Map ? type : noEnum,
    message:
      typeof type === 'string' || type instanceof Map
        ? undefined
        : messageOf(type as MessageDescriptor, known),
  };
}

function kindOf(type: FieldType): FieldKind {
  if (typeof type === 'string') return type;
  if (type instanceof Map) return 'enum';
  if (type === keyValue) return 'attribute';
  return type === anyValue ? 'value' : 'message';
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** A cursor at the beginning of a JSON document. @throws AppError `bad_json` */
function openJson(body: Buffer): JsonReader {
  if (!isUtf8(body)) throw new AppError('bad_json', 'The body is not valid UTF-8');
  const hasMark = body.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  return new JsonReader(body, hasMark ? byteOrderMark.length : 0);
}

/**
 * Converts messages of one kind. Made once for each thread: it learns in which order fields come, and keeps
 * the memory of the message for the next one.
 */
export class JsonToProtobuf {
  readonly #request: Message;
  readonly #skipped = new JsonTextCopier();
  readonly #bits: Bits = { low: 0, high: 0 };
  #reader = new JsonReader(Buffer.alloc(0));
  #out = new ProtobufWriter();
  /** Lists that the cursor is in. */
  #depth = 0;

  constructor(request: MessageDescriptor) {
    this.#request = messageOf(request, new Map());
  }

  /**
   * Converts a JSON document.
   * @returns the message, good until the next call; its texts are valid UTF-8
   * @throws AppError `bad_json`
   */
  convert(body: Buffer): Buffer {
    const reader = openJson(body);
    this.#reader = reader;
    if (this.#out.buffer.length > limits.maxKeptMessageBytes) this.#out = new ProtobufWriter();
    this.#out.length = 0;
    // A message is seldom longer than its JSON.
    this.#out.reserve(reader.end);
    this.#depth = 0;
    this.#fields(this.#request);
    if (reader.peek() !== -1) throw reader.syntaxError('expected nothing after the request');
    return this.#out.view();
  }

  /** A message with its length before it. */
  #message(message: Message): void {
    const { lengthBytes } = message;
    const start = this.#out.beginMessage(lengthBytes);
    if (message.isList) this.#list(message);
    else this.#fields(message);
    this.#out.endMessage(start, lengthBytes);
  }

  /**
   * Reads lists in lists up to one level more than the decoder takes, which will say so; what is deeper is
   * passed over without recursion.
   */
  #list(message: Message): void {
    if (this.#depth > limits.maxAttributeDepth) {
      this.#skipped.copy(this.#reader);
      return;
    }
    this.#depth++;
    this.#fields(message);
    this.#depth--;
  }

  /** The fields of an object, or null. */
  #fields({ names, fields }: Message): void {
    const reader = this.#reader;
    if (!this.#open(ascii.openBrace, 'an object') || reader.take(ascii.closeBrace)) return;
    let name = names.start;
    do {
      name = names.read(reader, name);
      if (reader.peek() === ascii.lowerN) reader.readLiteral('null');
      else {
        const field = fields[name.id];
        if (field === undefined) this.#skipped.copy(reader);
        else if (field.isRepeated) this.#array(field);
        else this.#field(field);
      }
    } while (reader.take(ascii.comma));
    if (!reader.take(ascii.closeBrace)) throw reader.syntaxError('expected "," or "}"');
  }

  /** An array, or null. */
  #array(field: Field): void {
    const reader = this.#reader;
    if (!this.#open(ascii.openBracket, 'an array') || reader.take(ascii.closeBracket)) return;
    do this.#field(field);
    while (reader.take(ascii.comma));
    if (!reader.take(ascii.closeBracket)) throw reader.syntaxError('expected "," or "]"');
  }

  /** Consumes the opening byte; false if there is null instead, which is consumed. */
  #open(byte: number, what: string): boolean {
    const reader = this.#reader;
    if (reader.take(byte)) return true;
    if (reader.peek() !== ascii.lowerN) throw reader.syntaxError(`expected ${what}`);
    reader.readLiteral('null');
    return false;
  }

  /** A field with its tag: the value at the cursor. */
  #field(field: Field): void {
    const reader = this.#reader;
    const out = this.#out;
    out.tag(field.tag);
    switch (field.kind) {
      case 'attribute':
        if (!copyPlainAttribute(reader, out)) this.#message(field.message as Message);
        break;
      case 'message':
        this.#message(field.message as Message);
        break;
      case 'value':
        if (!copyPlainValue(reader, out)) this.#message(field.message as Message);
        break;
      case 'string':
        this.#string();
        break;
      case 'id':
        readId(reader, out);
        break;
      case 'enum':
        out.int32(readEnum(reader, field.values));
        break;
      case 'bytes':
        out.bytesWithLength(readBase64(reader));
        break;
      default:
        this.#number(field.kind);
    }
  }

  #number(
    kind: Exclude<FieldKind, 'attribute' | 'value' | 'message' | 'string' | 'id' | 'enum' | 'bytes'>,
  ): void {
    const reader = this.#reader;
    const out = this.#out;
    const bits = this.#bits;
    switch (kind) {
      case 'fixed64':
        readUnsigned64(reader, bits);
        out.fixed64(bits.low, bits.high);
        break;
      case 'sfixed64':
        readSigned64(reader, bits);
        out.fixed64(bits.low, bits.high);
        break;
      case 'double': {
        const value = readDouble(reader);
        out.fixed64(lowBits(value), highBits(value));
        break;
      }
      case 'int64':
        readSigned64(reader, bits);
        out.varint64(bits.low, bits.high);
        break;
      case 'uint64':
        readUnsigned64(reader, bits);
        out.varint64(bits.low, bits.high);
        break;
      case 'uint32':
        out.varint(readUnsigned32(reader));
        break;
      case 'sint32':
        out.sint32(readSigned32(reader));
        break;
      case 'fixed32':
        out.fixed32(readUnsigned32(reader));
        break;
      case 'bool':
        out.byte(readBool(reader) ? 1 : 0);
        break;
    }
  }

  #string(): void {
    const reader = this.#reader;
    const out = this.#out;
    reader.openString('a string');
    if (copyShortString(reader, out)) return;
    const start = reader.position;
    const close = reader.closeString();
    if (reader.escaped) out.bytesWithLength(reader.unescape(start, close).view());
    else out.bytesWithLength(reader.bytes, start, close);
  }
}
