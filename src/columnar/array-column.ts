import { ByteWriter } from '../lib/bytes.ts';
import type { Column64, UIntColumn } from './columns.ts';
import type { BlockColumn } from './native-block.ts';

/**
 * `Array(T)` for values of a fixed width: the end of each row's elements as UInt64, then all elements.
 *
 * Elements of the row under way are appended to `elements`; `endRow` makes them a row, `discardRow` drops them.
 */
export class ArrayColumn<Elements extends Column64 | UIntColumn> implements BlockColumn {
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
    this.#ends.uint64(this.#lastEnd);
  }

  discardRow(): void {
    this.elements.rows = this.#lastEnd;
  }

  byteLength(): number {
    return this.#ends.length + this.elements.byteLength(this.#lastEnd);
  }

  writeTo(out: ByteWriter): void {
    out.copy(this.#ends.view());
    this.elements.writeTo(out, this.#lastEnd);
  }
}
