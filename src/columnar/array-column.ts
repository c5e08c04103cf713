import { ByteWriter } from '../lib/byte-writer.ts';
import type { BlockColumn } from './native-block.ts';

/** A column whose values can be elements of arrays. */
export interface ElementColumn extends BlockColumn {
  /** Values so far. */
  readonly rows: number;
  /** Keeps what is there. */
  keep(): void;
  /** Drops what was appended since `keep`. */
  revert(): void;
  /** Columns that hold a dictionary: the part of `writeTo` that comes before all of the column. */
  writePrefixTo?(out: ByteWriter): void;
  /** The rest of `writeTo`. */
  writeDataTo?(out: ByteWriter): void;
}

/**
 * `Array(T)`: the prefix of T, if it has one; the end of each row's elements as UInt64; then all elements.
 *
 * Elements of the row under way are appended to `elements`; `endRow` makes them a row, `discardRow` drops them.
 */
export class ArrayColumn<Elements extends ElementColumn> implements BlockColumn {
  readonly name: string;
  readonly type: string;
  readonly elements: Elements;
  readonly #ends = new ByteWriter(256);
  #lastEnd = 0;

  /** @param elements named like the column, with the type of an element */
  constructor(elements: Elements) {
    this.name = elements.name;
    this.type = `Array(${elements.type})`;
    this.elements = elements;
  }

  /** Elements of the row under way. */
  get pending(): number {
    return this.elements.rows - this.#lastEnd;
  }

  endRow(): void {
    this.#lastEnd = this.elements.rows;
    this.elements.keep();
    this.#ends.uint64(this.#lastEnd);
  }

  discardRow(): void {
    this.elements.revert();
  }

  byteLength(): number {
    return this.#ends.length + this.elements.byteLength(this.#lastEnd);
  }

  writeTo(out: ByteWriter): void {
    const { elements } = this;
    elements.writePrefixTo?.(out);
    out.copy(this.#ends.view());
    if (elements.writeDataTo === undefined) elements.writeTo(out, this.#lastEnd);
    else elements.writeDataTo(out);
  }
}
