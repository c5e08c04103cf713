/**
 * `LowCardinality(String)` and `Map(LowCardinality(String), String)` in the layout of the `Native` format
 * (`SerializationLowCardinality.cpp` of ClickHouse):
 *
 *     prefix, once for the column:  UInt64 1 (keys come with each block)
 *     data, absent without values:  UInt64 0x600 + index type (0, 1, 2 for 8, 16, 32 bits), UInt64 keys, the keys
 *                                   as strings, UInt64 values, an index into the keys for each value
 */
import { ByteWriter } from '../lib/bytes.ts';
import type { BlockColumn } from './native-block.ts';

/** The block brings its own keys (0x200), and they replace any dictionary that was read before (0x400). */
const keysInBlock = 0x600;

/** Strings as indexes into a dictionary of those that occur. */
class Dictionary {
  readonly #keys = new ByteWriter();
  readonly #indexOf = new Map<string, number>();
  readonly #indexes = new ByteWriter(256);
  /** Values so far. */
  length = 0;

  constructor() {
    // ClickHouse keeps the default value at index 0.
    this.#add('', new Uint8Array(0), 0, 0);
  }

  /** The bytes `source[start, end)`, valid UTF-8. */
  append(source: Buffer, start: number, end: number): void {
    const key = source.toString('utf8', start, end);
    const index = this.#indexOf.get(key) ?? this.#add(key, source, start, end);
    this.#indexes.reserve(4);
    this.#indexes.length = this.#indexes.buffer.writeUInt32LE(index, this.#indexes.length);
    this.length++;
  }

  #add(key: string, source: Uint8Array, start: number, end: number): number {
    const index = this.#indexOf.size;
    this.#indexOf.set(key, index);
    this.#keys.bytesWithLength(source, start, end);
    return index;
  }

  get #indexBytes(): 1 | 2 | 4 {
    return this.#indexOf.size <= 0x100 ? 1 : this.#indexOf.size <= 0x1_0000 ? 2 : 4;
  }

  /** Bytes of the data part. */
  byteLength(): number {
    return this.length === 0 ? 0 : 24 + this.#keys.length + this.length * this.#indexBytes;
  }

  writeTo(out: ByteWriter): void {
    if (this.length === 0) return;
    const indexBytes = this.#indexBytes;
    out.uint64(keysInBlock + (indexBytes >> 1));
    out.uint64(this.#indexOf.size);
    out.copy(this.#keys.view());
    out.uint64(this.length);
    out.reserve(this.length * indexBytes);
    for (let at = 0; at < this.#indexes.length; at += 4) {
      out.length = out.buffer.writeUIntLE(this.#indexes.buffer.readUInt32LE(at), out.length, indexBytes);
    }
  }
}

/** The prefix of a column that holds a dictionary: version 1, keys come with each block. */
const dictionaryVersion = 1;

export class LowCardinalityColumn implements BlockColumn {
  readonly name: string;
  readonly type = 'LowCardinality(String)';
  readonly #values = new Dictionary();

  constructor(name: string) {
    this.name = name;
  }

  /** The bytes `source[start, end)`, valid UTF-8. */
  append(source: Buffer, start = 0, end = source.length): void {
    this.#values.append(source, start, end);
  }

  byteLength(): number {
    return 8 + this.#values.byteLength();
  }

  writeTo(out: ByteWriter): void {
    out.uint64(dictionaryVersion);
    this.#values.writeTo(out);
  }
}

/** A map is an array of pairs: the end of each row's pairs as UInt64, then all keys, then all values. */
export class MapColumn implements BlockColumn {
  readonly name: string;
  readonly type = 'Map(LowCardinality(String), String)';
  readonly #ends = new ByteWriter(256);
  readonly #keys = new Dictionary();
  readonly #values = new ByteWriter(1024);

  constructor(name: string) {
    this.name = name;
  }

  /** A pair of the row under way: two ranges of `source`, valid UTF-8. */
  appendPair(source: Buffer, keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): void {
    this.#keys.append(source, keyStart, keyEnd);
    this.#values.bytesWithLength(source, valueStart, valueEnd);
  }

  endRow(): void {
    this.#ends.uint64(this.#keys.length);
  }

  byteLength(): number {
    return 8 + this.#ends.length + this.#keys.byteLength() + this.#values.length;
  }

  writeTo(out: ByteWriter): void {
    out.uint64(dictionaryVersion);
    out.copy(this.#ends.view());
    this.#keys.writeTo(out);
    out.copy(this.#values.view());
  }
}
