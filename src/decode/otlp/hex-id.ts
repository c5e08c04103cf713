import type { StringColumn } from '../../columnar/columns.ts';

const digitsOf = Buffer.from('0123456789abcdef');

/** The id of a trace or a span: its bytes in lower-case hexadecimal, or nothing. */
export class HexId {
  readonly #digits: Buffer;
  #length = 0;

  /** @param bytes that such an id has: 16 for a trace, 8 for a span */
  constructor(bytes: 8 | 16) {
    this.#digits = Buffer.alloc(2 * bytes);
  }

  clear(): void {
    this.#length = 0;
  }

  /** The bytes `source[start, end)`. An id of another length, or of zeros, is none. */
  setBytes(source: Uint8Array, start: number, end: number): void {
    const digits = this.#digits;
    this.#length = 0;
    if (2 * (end - start) !== digits.length) return;
    let any = 0;
    for (let at = start, to = 0; at < end; at++) {
      const byte = source[at] as number;
      any |= byte;
      digits[to++] = digitsOf[byte >> 4] as number;
      digits[to++] = digitsOf[byte & 15] as number;
    }
    if (any !== 0) this.#length = digits.length;
  }

  appendTo(column: StringColumn): void {
    column.append(this.#digits, 0, this.#length);
  }
}
