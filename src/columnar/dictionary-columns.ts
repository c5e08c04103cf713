/**
 * `LowCardinality(String)` and `Map(LowCardinality(String), String)` in the layout of the `Native`
 * format. If a column contains a dictionary, all its data follows a prefix: UInt64 1, which says that
 * each block has its own keys.
 */
import { ByteWriter } from '../lib/byte-writer.ts';
import { Column64 } from './columns.ts';
import type { BlockColumn } from './native-block.ts';
import { StringDictionary } from './string-dictionary.ts';

/** The prefix of a column with a dictionary: version 1, each block has its own keys. */
const dictionaryVersion = 1;
const prefixBytes = 8;

export class LowCardinalityColumn implements BlockColumn {
  readonly name: string;
  readonly type = 'LowCardinality(String)';
  readonly #values = new StringDictionary();
  #kept = 0;

  constructor(name: string) {
    this.name = name;
  }

  get rows(): number {
    return this.#values.length;
  }

  /** Appends the bytes `source[start, end)`, valid UTF-8, `count` times. */
  append(source: Buffer, start = 0, end = source.length, count = 1): void {
    this.#values.push(this.#values.key(source, start, end), count);
  }

  keep(): void {
    this.#kept = this.#values.length;
  }

  revert(): void {
    this.#values.length = this.#kept;
  }

  byteLength(): number {
    return prefixBytes + this.#values.byteLength();
  }

  writePrefixTo(out: ByteWriter): void {
    out.uint64(dictionaryVersion);
  }

  writeDataTo(out: ByteWriter): void {
    this.#values.writeTo(out);
  }

  writeTo(out: ByteWriter): void {
    this.writePrefixTo(out);
    this.writeDataTo(out);
  }
}

/**
 * A map is an array of pairs: the end offset of each row's pairs as UInt64, then all keys, then all values.
 */
export class MapColumn implements BlockColumn {
  readonly name: string;
  readonly type = 'Map(LowCardinality(String), String)';
  readonly keys = new StringDictionary();
  readonly #ends: Column64;
  readonly #values = new ByteWriter(1024);
  /** Where the pairs of the last complete row begin. */
  #rowPairs = 0;
  #rowValues = 0;
  /** Where the pairs of the current row begin. */
  #openPairs = 0;
  #openValues = 0;
  #keptRows = 0;
  #keptPairs = 0;
  #keptValues = 0;

  constructor(name: string, expectedRows = 64) {
    this.name = name;
    this.#ends = new Column64(name, 'UInt64', expectedRows);
  }

  get rows(): number {
    return this.#ends.rows;
  }

  /** Appends a pair to the current row: two ranges of `source`, valid UTF-8. */
  appendPair(source: Buffer, keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): void {
    this.appendValue(this.keys.key(source, keyStart, keyEnd), source, valueStart, valueEnd);
  }

  /**
   * Appends a pair to the current row: the index of a key in `keys`, and a range of `source`, valid UTF-8.
   */
  appendValue(key: number, source: Uint8Array, start: number, end: number): void {
    this.keys.push(key);
    this.#values.bytesWithLength(source, start, end);
  }

  endRow(): void {
    this.#ends.append(this.keys.length, 0);
    this.#rowPairs = this.#openPairs;
    this.#rowValues = this.#openValues;
    this.#openPairs = this.keys.length;
    this.#openValues = this.#values.length;
  }

  /** The bytes of the last complete row: its values with their lengths, and its keys. */
  get rowBytes(): number {
    return this.#openValues - this.#rowValues + 4 * (this.#openPairs - this.#rowPairs);
  }

  /** Appends the last complete row again, `count` times. */
  repeatRow(count: number): void {
    if (count === 0) return;
    const pairs = this.#openPairs - this.#rowPairs;
    const bytes = this.#openValues - this.#rowValues;
    for (let row = 1; row <= count; row++) this.#ends.append(this.keys.length + row * pairs, 0);
    if (pairs > 0) this.keys.repeatFrom(this.#rowPairs, count);
    this.#values.reserve(bytes * count);
    const { buffer } = this.#values;
    for (let row = 0; row < count; row++) {
      buffer.copyWithin(this.#openValues + row * bytes, this.#rowValues, this.#openValues);
    }
    this.#values.length += bytes * count;
    this.#rowPairs = this.keys.length - pairs;
    this.#rowValues = this.#values.length - bytes;
    this.#openPairs = this.keys.length;
    this.#openValues = this.#values.length;
  }

  keep(): void {
    this.#keptRows = this.#ends.rows;
    this.#keptPairs = this.keys.length;
    this.#keptValues = this.#values.length;
  }

  revert(): void {
    this.#ends.rows = this.#keptRows;
    this.keys.length = this.#keptPairs;
    this.#values.length = this.#keptValues;
    this.#openPairs = this.#keptPairs;
    this.#openValues = this.#keptValues;
  }

  byteLength(): number {
    return (
      prefixBytes + this.#ends.byteLength(this.#ends.rows) + this.keys.byteLength() + this.#values.length
    );
  }

  writePrefixTo(out: ByteWriter): void {
    out.uint64(dictionaryVersion);
  }

  writeDataTo(out: ByteWriter): void {
    this.#ends.writeTo(out, this.#ends.rows);
    this.keys.writeTo(out);
    out.copy(this.#values.view());
  }

  writeTo(out: ByteWriter): void {
    this.writePrefixTo(out);
    this.writeDataTo(out);
  }
}
