import type { StringColumn } from '../../columnar/columns.ts';

const digitsOf = Buffer.from('0123456789abcdef');
const zero = digitsOf[0] as number;

/** A hexadecimal digit in lower case, by the digit in any case; zero for other bytes. */
const lowerCase = new Uint8Array(256);
for (const digit of digitsOf) {
  lowerCase[digit] = digit;
  lowerCase[Buffer.from(String.fromCharCode(digit).toUpperCase())[0] as number] = digit;
}

/** The id of a trace or a span: its bytes in lower-case hexadecimal, or nothing. */
export class HexId {
  readonly #digits: Buffer;
  #length = 0;

  /** @param bytes that such an id has: 16 for a trace, 8 for a span */
  constructor(bytes: 8 | 16) {
    this.#digits = Buffer.alloc(2 * bytes);
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  clear(): void {
    this.#length = 0;
  }

  /** The bytes `source[start, end)`. An id of another length, or of zeros, is none. */
  setBytes(source: Uint8Array, start: number, end: number): void {
    this.#length = 0;
    if (2 * (end - start) !== this.#digits.length) return;
    let any = 0;
    for (let at = start, to = 0; at < end; at++) {
      const byte = source[at] as number;
      any |= byte;
      this.#digits[to++] = digitsOf[byte >> 4] as number;
      this.#digits[to++] = digitsOf[byte & 15] as number;
    }
    if (any !== 0) this.#length = this.#digits.length;
  }

  /**
   * The hexadecimal digits that begin at `start`, in any case. An id of another length, or of zeros, is none.
   * @returns where they end
   */
  setDigits(source: Uint8Array, start: number): number {
    const digits = this.#digits;
    let any = 0;
    let at = start;
    for (; at < source.length; at++) {
      const digit = lowerCase[source[at] as number] as number;
      if (digit === 0) break;
      any |= digit ^ zero;
      if (at - start < digits.length) digits[at - start] = digit;
    }
    this.#length = at - start === digits.length && any !== 0 ? digits.length : 0;
    return at;
  }

  appendTo(column: StringColumn): void {
    column.append(this.#digits, 0, this.#length);
  }
}
