/**
 * Nullable columns that are filled sparsely: `set(row, …)` names the row, and rows that are skipped are null.
 * Rows must come in ascending order. A column may begin at any row: the gap before it is filled at once.
 *
 * A nullable column is a null map (a byte per row, 1 for null) followed by the values, with a
 * default value in null rows.
 */
import { ByteWriter } from '../lib/byte-writer.ts';
import type { BlockColumn } from './native-block.ts';

class NullMap {
  /** The rows that have been set or skipped; all rows after them are null. */
  rows = 0;
  #flags: Uint8Array;

  constructor(expectedRows: number) {
    this.#flags = new Uint8Array(expectedRows);
  }

  /**
   * Sets `row` to not null, and all rows between the previous one and it to null.
   * @returns the number of these null rows
   */
  set(row: number): number {
    const gap = row - this.rows;
    if (row >= this.#flags.length) this.#grow(row + 1);
    if (gap > 0) this.#flags.fill(1, this.rows, row);
    this.#flags[row] = 0;
    this.rows = row + 1;
    return gap;
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, 2 * this.#flags.length));
    grown.set(this.#flags);
    this.#flags = grown;
  }

  writeTo(out: ByteWriter, rows: number): void {
    out.copy(this.#flags, 0, this.rows);
    out.fill(1, rows - this.rows);
  }
}

export class NullableFloat64Column implements BlockColumn {
  readonly name: string;
  readonly type = 'Nullable(Float64)';
  readonly #nulls: NullMap;
  #values: Float64Array;

  constructor(name: string, expectedRows: number) {
    this.name = name;
    this.#nulls = new NullMap(expectedRows);
    this.#values = new Float64Array(expectedRows);
  }

  set(row: number, value: number): void {
    this.#nulls.set(row);
    if (row >= this.#values.length) this.#grow(row + 1);
    this.#values[row] = value;
  }

  /** The value of `row`, if it is the last row that was set. */
  valueAt(row: number): number | undefined {
    return this.#nulls.rows === row + 1 ? this.#values[row] : undefined;
  }

  #grow(needed: number): void {
    const grown = new Float64Array(Math.max(needed, 2 * this.#values.length));
    grown.set(this.#values);
    this.#values = grown;
  }

  /** Sets `row` to null again, if it is the last row that was set. */
  unset(row: number): void {
    if (this.#nulls.rows !== row + 1) return;
    this.#nulls.rows = row;
    this.#values[row] = 0;
  }

  byteLength(rows: number): number {
    return 9 * rows;
  }

  writeTo(out: ByteWriter, rows: number): void {
    this.#nulls.writeTo(out, rows);
    out.copy(new Uint8Array(this.#values.buffer, 0, 8 * this.#nulls.rows));
    out.fill(0, 8 * (rows - this.#nulls.rows));
  }
}

export class NullableBoolColumn implements BlockColumn {
  readonly name: string;
  readonly type = 'Nullable(Bool)';
  readonly #nulls: NullMap;
  readonly #values: ByteWriter;

  constructor(name: string, expectedRows: number) {
    this.name = name;
    this.#nulls = new NullMap(expectedRows);
    this.#values = new ByteWriter(expectedRows);
  }

  set(row: number, value: boolean): void {
    this.#values.fill(0, this.#nulls.set(row));
    this.#values.byte(value ? 1 : 0);
  }

  /** Sets `row` to null again, if it is the last row that was set. */
  unset(row: number): void {
    if (this.#nulls.rows !== row + 1) return;
    this.#nulls.rows = row;
    this.#values.length = row;
  }

  byteLength(rows: number): number {
    return 2 * rows;
  }

  writeTo(out: ByteWriter, rows: number): void {
    this.#nulls.writeTo(out, rows);
    out.copy(this.#values.view());
    out.fill(0, rows - this.#nulls.rows);
  }
}

export class NullableStringColumn implements BlockColumn {
  readonly name: string;
  readonly type = 'Nullable(String)';
  readonly #nulls: NullMap;
  readonly #data: ByteWriter;
  /** Where the last value begins. */
  #lastStart = 0;
  #lastLength = 0;

  constructor(name: string, expectedRows: number) {
    this.name = name;
    this.#nulls = new NullMap(expectedRows);
    this.#data = new ByteWriter(16 * expectedRows);
  }

  /** Sets the bytes `source[start, end)`. */
  set(row: number, source: Uint8Array, start: number, end: number): void {
    // The value of a null row is an empty string: its length, zero.
    const gap = this.#nulls.set(row);
    if (gap > 0) this.#data.fill(0, gap);
    this.#lastStart = this.#data.length;
    this.#data.bytesWithLength(source, start, end);
    this.#lastLength = end - start;
  }

  /** The text of `row`, if it is the last row that was set. */
  valueAt(row: number): string | undefined {
    const { buffer, length } = this.#data;
    return this.#nulls.rows === row + 1
      ? buffer.toString('utf8', length - this.#lastLength, length)
      : undefined;
  }

  /** Sets `row` to null again, if it is the last row that was set. */
  unset(row: number): void {
    if (this.#nulls.rows !== row + 1) return;
    this.#nulls.rows = row;
    this.#data.length = this.#lastStart;
  }

  byteLength(rows: number): number {
    return rows + this.#data.length + (rows - this.#nulls.rows);
  }

  writeTo(out: ByteWriter, rows: number): void {
    this.#nulls.writeTo(out, rows);
    out.copy(this.#data.view());
    out.fill(0, rows - this.#nulls.rows);
  }
}
