import { ByteWriter } from '../lib/byte-writer.ts';

/** The block has its own keys (0x200), which replace any dictionary that was read before (0x400). */
const keysInBlock = 0x600;
/** Slots of the cache of recent keys. Power of two. */
const recentPlaces = 512;

/**
 * The data part of `LowCardinality(String)` in the layout of the `Native` format
 * (`SerializationLowCardinality.cpp` of ClickHouse), absent without values:
 *
 *     UInt64 0x600 + index type (0, 1, 2 for 8, 16, 32 bits), UInt64 keys, the keys as strings,
 *     UInt64 values, an index into the keys for each value
 */
export class StringDictionary {
  readonly #keys = new ByteWriter();
  readonly #indexOf = new Map<string, number>();
  /** The bytes of key i in `#keys` are `[places[2 * i], places[2 * i + 1])`. */
  readonly #places: number[] = [];
  /** A small cache by length, first and last byte. Most keys repeat soon, and a hit makes no string. */
  readonly #recent = new Uint32Array(recentPlaces);
  #indexes = new Uint32Array(64);
  /** The number of values so far. */
  length = 0;

  constructor() {
    // ClickHouse keeps the default value at index 0.
    this.#add('', new Uint8Array(0), 0, 0);
  }

  /** The number of different keys, including the empty one. */
  get size(): number {
    return this.#indexOf.size;
  }

  /** The index of the key `source[start, end)`, valid UTF-8. */
  key(source: Buffer, start: number, end: number): number {
    if (start === end) return 0;
    const outer = ((source[start] as number) << 5) ^ ((source[end - 1] as number) << 2) ^ (end - start);
    const place = outer & (recentPlaces - 1);
    const recent = this.#recent[place] as number;
    if (this.matches(recent, source, start, end)) return recent;
    const text = source.toString('utf8', start, end);
    const index = this.#indexOf.get(text) ?? this.#add(text, source, start, end);
    this.#recent[place] = index;
    return index;
  }

  /** Whether the key with that index is `source[start, end)`. */
  matches(index: number, source: Uint8Array, start: number, end: number): boolean {
    const keyStart = this.#places[2 * index] as number;
    const length = (this.#places[2 * index + 1] as number) - keyStart;
    if (length !== end - start) return false;
    const { buffer } = this.#keys;
    for (let offset = 0; offset < length; offset++) {
      if (buffer[keyStart + offset] !== source[start + offset]) return false;
    }
    return true;
  }

  /** The bytes of a key. They share memory with the dictionary and are valid until a key is added. */
  bytesOf(index: number): Buffer {
    return this.#keys.buffer.subarray(this.#places[2 * index], this.#places[2 * index + 1]);
  }

  #add(text: string, source: Uint8Array, start: number, end: number): number {
    const index = this.#indexOf.size;
    this.#indexOf.set(text, index);
    this.#keys.bytesWithLength(source, start, end);
    this.#places.push(this.#keys.length - (end - start), this.#keys.length);
    return index;
  }

  /** Appends a value: the key with that index, `count` times. */
  push(index: number, count = 1): void {
    const end = this.length + count;
    if (end > this.#indexes.length) this.#grow(end);
    if (count === 1) this.#indexes[this.length] = index;
    else this.#indexes.fill(index, this.length, end);
    this.length = end;
  }

  /** Appends the values `[from, length)` again, `count` times. */
  repeatFrom(from: number, count: number): void {
    const values = this.length - from;
    const end = this.length + values * count;
    if (end > this.#indexes.length) this.#grow(end);
    for (let at = this.length; at < end; at += values) this.#indexes.copyWithin(at, from, from + values);
    this.length = end;
  }

  #grow(needed: number): void {
    const grown = new Uint32Array(Math.max(needed, 2 * this.#indexes.length));
    grown.set(this.#indexes.subarray(0, this.length));
    this.#indexes = grown;
  }

  get #indexBytes(): 1 | 2 | 4 {
    return this.#indexOf.size <= 0x100 ? 1 : this.#indexOf.size <= 0x1_0000 ? 2 : 4;
  }

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
    const indexes = this.#indexes.subarray(0, this.length);
    // All supported platforms are little-endian, like the format. The typed arrays truncate
    // values to their width.
    const narrow =
      indexBytes === 1 ? Uint8Array.from(indexes) : indexBytes === 2 ? Uint16Array.from(indexes) : indexes;
    out.copy(new Uint8Array(narrow.buffer, narrow.byteOffset, narrow.byteLength));
  }
}
