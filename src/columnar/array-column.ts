import { ByteWriter } from '../lib/byte-writer.ts';
import type { BlockColumn } from './native-block.ts';

/** A column whose values can be array elements. */
export interface ElementColumn extends BlockColumn {
  /** The number of values so far. */
  readonly rows: number;
  /** Makes everything appended so far permanent. */
  keep(): void;
  /** Drops everything appended since `keep`. */
  revert(): void;
  /** For columns with a dictionary: the part of `writeTo` that comes before the data of the whole column. */
  writePrefixTo?(out: ByteWriter): void;
  /** The rest of `writeTo`. */
  writeDataTo?(out: ByteWriter): void;
}

/**
 * `Array(T)`: the prefix of T, if it has one; the end offset of each row's elements as UInt64; then all
 * elements.
 *
 * Elements of the current row are appended to `elements`. `endRow` completes the row,
 * `discardRow` drops its elements.
 */
export class ArrayColumn<Elements extends ElementColumn> implements BlockColumn {
  readonly name: string;
  readonly type: string;
  readonly elements: Elements;
  readonly #ends = new ByteWriter(256);
  #lastEnd = 0;

  /** @param elements has the name of the column and the type of an element */
  constructor(elements: Elements) {
    this.name = elements.name;
    this.type = `Array(${elements.type})`;
    this.elements = elements;
  }

  /** The number of elements in the current row. */
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
