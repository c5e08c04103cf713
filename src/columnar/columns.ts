/** Columns without nulls, filled by appending. */
import { ByteWriter } from '../lib/byte-writer.ts';
import type { BlockColumn } from './native-block.ts';

type UIntArray = Uint8Array | Uint16Array | Uint32Array;

/** The bytes of the first `count` elements. All supported platforms are little-endian, like the format. */
const bytesOf = (values: UIntArray, count: number): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, count * values.BYTES_PER_ELEMENT);

/**
 * 64-bit values as two 32-bit halves, since a double cannot hold all of them: `UInt64`, `Int64`,
 * `DateTime64`, and `Float64` whose bits must survive (a NaN in a JavaScript number may lose its payload).
 */
export class Column64 implements BlockColumn {
  readonly name: string;
  readonly type: string;
  rows = 0;
  #halves: Uint32Array;
  #kept = 0;

  constructor(name: string, type: string, expectedRows: number) {
    this.name = name;
    this.type = type;
    this.#halves = new Uint32Array(2 * expectedRows);
  }

  /** The low and high half of the value. Only their lowest 32 bits are used. */
  append(low: number, high: number): void {
    const at = 2 * this.rows++;
    if (at === this.#halves.length) this.#grow(at + 2);
    this.#halves[at] = low;
    this.#halves[at + 1] = high;
  }

  /** An integer with an absolute value of at most 2^53. */
  appendInteger(value: number): void {
    this.append(value, Math.floor(value / 0x1_0000_0000));
  }

  /** Appends the same value `count` times. */
  appendRepeated(low: number, high: number, count: number): void {
    const start = 2 * this.rows;
    const end = start + 2 * count;
    if (end > this.#halves.length) this.#grow(end);
    for (let at = start; at < end; at += 2) {
      this.#halves[at] = low;
      this.#halves[at + 1] = high;
    }
    this.rows += count;
  }

  keep(): void {
    this.#kept = this.rows;
  }

  revert(): void {
    this.rows = this.#kept;
  }

  #grow(needed: number): void {
    const grown = new Uint32Array(Math.max(needed, 2 * this.#halves.length));
    grown.set(this.#halves);
    this.#halves = grown;
  }

  byteLength(rows: number): number {
    return 8 * rows;
  }

  writeTo(out: ByteWriter, rows: number): void {
    out.copy(bytesOf(this.#halves, 2 * rows));
  }
}

const arrayOfBits = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array } as const;

/**
 * Integers of up to 32 bits: `UInt8`, `Int8`, `Bool`, `Date` (days since 1970 in 16 bits), `UInt32`, `Int32`.
 * Only the lowest bits of a value are kept, which is right for negative values too.
 */
export class UIntColumn implements BlockColumn {
  readonly name: string;
  readonly type: string;
  rows = 0;
  #values: UIntArray;
  #kept = 0;

  constructor(name: string, type: string, bits: 8 | 16 | 32, expectedRows: number) {
    this.name = name;
    this.type = type;
    this.#values = new arrayOfBits[bits](expectedRows);
  }

  append(value: number): void {
    if (this.rows === this.#values.length) this.#grow(this.rows + 1);
    this.#values[this.rows++] = value;
  }

  /** Appends the same value `count` times. */
  appendRepeated(value: number, count: number): void {
    const end = this.rows + count;
    if (end > this.#values.length) this.#grow(end);
    for (let row = this.rows; row < end; row++) this.#values[row] = value;
    this.rows = end;
  }

  keep(): void {
    this.#kept = this.rows;
  }

  revert(): void {
    this.rows = this.#kept;
  }

  #grow(needed: number): void {
    const length = Math.max(needed, 2 * this.#values.length);
    const bits = (8 * this.#values.BYTES_PER_ELEMENT) as keyof typeof arrayOfBits;
    const grown = new arrayOfBits[bits](length);
    grown.set(this.#values);
    this.#values = grown;
  }

  byteLength(rows: number): number {
    return this.#values.BYTES_PER_ELEMENT * rows;
  }

  writeTo(out: ByteWriter, rows: number): void {
    out.copy(bytesOf(this.#values, rows));
  }
}

/** `String`: any bytes, UTF-8 by convention. */
export class StringColumn implements BlockColumn {
  readonly name: string;
  readonly type = 'String';
  rows = 0;
  readonly #data: ByteWriter;
  #keptRows = 0;
  #keptBytes = 0;

  constructor(name: string, expectedRows: number) {
    this.name = name;
    this.#data = new ByteWriter(16 * expectedRows);
  }

  /** Appends the bytes `source[start, end)`. */
  append(source: Uint8Array, start = 0, end = source.length): void {
    this.#data.bytesWithLength(source, start, end);
    this.rows++;
  }

  keep(): void {
    this.#keptRows = this.rows;
    this.#keptBytes = this.#data.length;
  }

  revert(): void {
    this.rows = this.#keptRows;
    this.#data.length = this.#keptBytes;
  }

  byteLength(): number {
    return this.#data.length;
  }

  writeTo(out: ByteWriter): void {
    out.copy(this.#data.view());
  }
}
