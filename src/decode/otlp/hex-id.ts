import type { StringColumn } from '../../columnar/columns.ts';

const digitsOf = Buffer.from('0123456789abcdef');
const zero = digitsOf[0] as number;

/** The value of a hexadecimal digit, 255 for other bytes. */
const digitValues = new Uint8Array(256).fill(255);
for (const [value, digit] of digitsOf.entries()) {
  digitValues[digit] = value;
  digitValues[Buffer.from(String.fromCharCode(digit).toUpperCase())[0] as number] = value;
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
   * The hexadecimal digits `source[start, end)`, in any case. An id of another length, or of zeros, is none.
   * @returns false if there is something else than pairs of digits
   */
  setDigits(source: Uint8Array, start: number, end: number): boolean {
    this.#length = 0;
    const fits = end - start === this.#digits.length;
    let any = 0;
    for (let at = start; at < end; at++) {
      const value = digitValues[source[at] as number] as number;
      if (value === 255) return false;
      any |= value;
      if (fits) this.#digits[at - start] = digitsOf[value] ?? zero;
    }
    if (fits && any !== 0) this.#length = this.#digits.length;
    return (end - start) % 2 === 0;
  }

  appendTo(column: StringColumn): void {
    column.append(this.#digits, 0, this.#length);
  }
}
