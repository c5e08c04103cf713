import { limits } from '../../limits/limits.ts';
import { WireError } from '../protocol/wire-error.ts';

/**
 * Reads rows of ClickHouse's format TabSeparated as they arrive: cells end with a tab, rows with a line feed,
 * NULL is `\N`, and within a cell a backslash stands before what would be mistaken
 * (https://clickhouse.com/docs/interfaces/formats/TabSeparated). Where the cells of a row are is found in one
 * pass over its bytes, however many parts it comes in. Nothing is copied but a row that is in several parts.
 */
export class TabSeparatedRows {
  /** Of the cells of the current row. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** What each cell is. */
  readonly kinds: Uint8Array;
  #bytes: Buffer = Buffer.alloc(0);
  /** Where the bytes end. */
  #end = 0;
  /** Where the row begins that comes next. */
  #rowStart = 0;
  /** How far it was looked at: the place, and the cell that the place is in. */
  #at = 0;
  #column = 0;
  #cellStart = 0;
  #kind: number = cellKind.plain;
  /** The bytes are in memory of this object, with room for more. */
  #isOwn = false;

  constructor(columns: number) {
    this.starts = new Int32Array(columns);
    this.ends = new Int32Array(columns);
    this.kinds = new Uint8Array(columns);
  }

  /** What `starts` and `ends` point into. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** @throws WireError for a row of more than `pgMaxRowBytes` */
  push(part: Uint8Array): void {
    const rest = this.#end - this.#rowStart;
    this.#requireShort(rest);
    if (rest === 0) {
      this.#bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      this.#end = part.byteLength;
      this.#isOwn = false;
      this.#moveTo(0);
      return;
    }
    if (!this.#isOwn || this.#end + part.byteLength > this.#bytes.length) this.#makeRoom(part.byteLength);
    this.#bytes.set(part, this.#end);
    this.#end += part.byteLength;
  }

  /** Goes on to the next row; false if it is not complete. @throws WireError likewise */
  next(): boolean {
    const bytes = this.#bytes;
    const { starts, ends, kinds } = this;
    const length = this.#end;
    let at = this.#at;
    let column = this.#column;
    let start = this.#cellStart;
    let kind = this.#kind;
    while (at < length) {
      const byte = bytes[at];
      if (byte === backslash) {
        // What it stands before may be in the next part.
        if (at + 1 === length) break;
        kind = at === start && bytes[at + 1] === letterN ? cellKind.null : cellKind.escaped;
        at += 2;
        continue;
      }
      if (byte === tab || byte === lineFeed) {
        starts[column] = start;
        ends[column] = at;
        kinds[column] = kind;
        column += 1;
        if (byte === lineFeed) {
          this.#requireShort(at - this.#rowStart);
          this.#at = this.#rowStart = this.#cellStart = at + 1;
          this.#column = 0;
          this.#kind = cellKind.plain;
          return true;
        }
        start = at + 1;
        kind = cellKind.plain;
      }
      at += 1;
    }
    this.#at = at;
    this.#column = column;
    this.#cellStart = start;
    this.#kind = kind;
    return false;
  }

  #requireShort(bytes: number): void {
    if (bytes <= limits.pgMaxRowBytes) return;
    throw new WireError('54000', `a row of more than ${limits.pgMaxRowBytes} bytes is not allowed`, {
      hint: 'Results over HTTP have no such limit.',
    });
  }

  /** Memory of its own, which grows by doubling: each byte of a long row is copied twice at most. */
  #makeRoom(bytes: number): void {
    const rest = this.#end - this.#rowStart;
    const larger = Buffer.allocUnsafe(2 * (rest + bytes));
    this.#bytes.copy(larger, 0, this.#rowStart, this.#end);
    this.#bytes = larger;
    this.#end = rest;
    this.#isOwn = true;
    this.#moveTo(0);
  }

  /** The row that comes next begins there now. */
  #moveTo(rowStart: number): void {
    const by = rowStart - this.#rowStart;
    this.#rowStart = rowStart;
    this.#at += by;
    this.#cellStart += by;
    for (let cell = 0; cell < this.#column; cell++) {
      this.starts[cell] = (this.starts[cell] ?? 0) + by;
      this.ends[cell] = (this.ends[cell] ?? 0) + by;
    }
  }
}

export const cellKind = { plain: 0, escaped: 1, null: 2 } as const;

const tab = 0x09;
const lineFeed = 0x0a;
const backslash = 0x5c;
const letterN = 0x4e;

/** A cell without its backslashes. */
export function unescaped(bytes: Buffer, start: number, end: number): Buffer {
  const out = Buffer.allocUnsafe(end - start);
  let length = 0;
  for (let at = start; at < end; at++) {
    let byte = bytes[at] ?? 0;
    if (byte === backslash) {
      at += 1;
      const letter = bytes[at] ?? 0;
      byte = escapes.get(letter) ?? letter;
    }
    out[length++] = byte;
  }
  return out.subarray(0, length);
}

const escapes: ReadonlyMap<number, number> = new Map(
  Object.entries({ b: 8, f: 12, n: 10, r: 13, t: 9, '0': 0, a: 7, v: 11, e: 27 }).map(([letter, byte]) => [
    letter.charCodeAt(0),
    byte,
  ]),
);
