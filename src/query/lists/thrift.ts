/**
 * Reads and writes Thrift's compact protocol, as far as the footer of Parquet needs it
 * (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). Structs and lists can
 * be changed; other values keep their bytes.
 */

/** A value with the type code that precedes it. */
export interface ThriftField {
  readonly type: number;
  value: ThriftValue;
}
export type ThriftStruct = Map<number, ThriftField>;
export interface ThriftList {
  readonly type: number;
  items: ThriftValue[];
}
/** Numbers, doubles and texts are kept as their bytes. */
export type ThriftValue = Buffer | boolean | ThriftList | ThriftStruct;

const types = { yes: 1, no: 2, byte: 3, double: 7, binary: 8, list: 9, set: 10, struct: 12 } as const;

export class ThriftReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  struct(): ThriftStruct {
    const fields: ThriftStruct = new Map();
    for (let id = 0; ; ) {
      const head = this.#byte();
      if (head === 0) return fields;
      const type = head & 15;
      id = head >> 4 === 0 ? zigzag(this.#number()) : id + (head >> 4);
      const isFlag = type === types.yes || type === types.no;
      fields.set(id, { type, value: isFlag ? type === types.yes : this.#value(type) });
    }
  }

  #value(type: number): ThriftValue {
    if (type === types.struct) return this.struct();
    if (type === types.list || type === types.set) return this.#list();
    const start = this.#at;
    if (type === types.binary) {
      const length = this.#number();
      return this.#take(length);
    }
    if (type === types.double) return this.#take(8);
    if (type === types.byte || type === types.yes || type === types.no) return this.#take(1);
    this.#number();
    return this.#bytes.subarray(start, this.#at);
  }

  #list(): ThriftList {
    const head = this.#byte();
    const type = head & 15;
    const length = head >> 4 === 15 ? this.#number() : head >> 4;
    const items: ThriftValue[] = [];
    for (let index = 0; index < length; index += 1) items.push(this.#value(type));
    return { type, items };
  }

  #take(length: number): Buffer {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error('BUG: a footer that ends early');
    this.#at += 1;
    return byte;
  }

  /** A varint. Numbers above 53 bits lose precision; they are only skipped. */
  #number(): number {
    let number = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte();
      number += (byte & 127) * factor;
      if (byte < 128) return number;
    }
  }
}

export function writeStruct(fields: ThriftStruct): Buffer {
  const parts: Buffer[] = [];
  addStruct(fields, parts);
  return Buffer.concat(parts);
}

function addStruct(fields: ThriftStruct, parts: Buffer[]): void {
  let last = 0;
  for (const [id, { type, value }] of fields) {
    const delta = id - last;
    last = id;
    if (delta > 0 && delta < 16) parts.push(Buffer.of((delta << 4) | type));
    else parts.push(Buffer.of(type), varint(id * 2));
    if (typeof value !== 'boolean') addValue(type, value, parts);
  }
  parts.push(Buffer.of(0));
}

function addValue(type: number, value: ThriftValue, parts: Buffer[]): void {
  if (value instanceof Map) addStruct(value, parts);
  else if (Buffer.isBuffer(value)) {
    if (type === types.binary) parts.push(varint(value.byteLength));
    parts.push(value);
  } else if (typeof value === 'object') {
    const { items } = value;
    if (items.length < 15) parts.push(Buffer.of((items.length << 4) | value.type));
    else parts.push(Buffer.of(0xf0 | value.type), varint(items.length));
    for (const item of items) addValue(value.type, item, parts);
  }
}

/** A number of at most 31 bits. */
export function varint(number: number): Buffer {
  const bytes: number[] = [];
  let rest = number;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.of(...bytes, rest);
}

const zigzag = (number: number): number => (number % 2 === 0 ? number / 2 : -(number + 1) / 2);
