import type { StringColumn } from '../../columnar/columns.ts';

const digitsOf = Buffer.from('0123456789abcdef');

/** The id of a trace or a span: its bytes in lower-case hexadecimal, or nothing. */
export class HexId {
  readonly #digits: Buffer;
  readonly #what: string;
  #length = 0;
  /** How many bytes it was given, where it cannot have so many; else 0. */
  #wrongBytes = 0;

  /**
   * @param bytes that such an id has: 16 for a trace, 8 for a span
   * @param what it is called, for messages
   */
  constructor(bytes: 8 | 16, what: string) {
    this.#digits = Buffer.alloc(2 * bytes);
    this.#what = what;
  }

  clear(): void {
    this.#length = 0;
    this.#wrongBytes = 0;
  }

  /** Why what was sent is no id, or undefined if it is one, or none. */
  get problem(): string | undefined {
    if (this.#wrongBytes === 0) return undefined;
    return `${this.#what} has ${this.#wrongBytes} bytes and not ${this.#digits.length / 2}`;
  }

  /**
   * The bytes `source[start, end)`. An id of zeros or of no length is none, which senders mean by it; one of
   * another length is none either, and a problem.
   */
  setBytes(source: Uint8Array, start: number, end: number): void {
    const digits = this.#digits;
    this.#length = 0;
    this.#wrongBytes = 0;
    if (2 * (end - start) !== digits.length) {
      this.#wrongBytes = end - start;
      return;
    }
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
