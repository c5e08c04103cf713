/**
 * A cursor over JSON text (RFC 8259) in UTF-8, which the caller has checked to be valid UTF-8.
 *
 * Bytes are read, never characters: structure is ASCII, and what is not ASCII lies inside strings, which are
 * copied as they are. Nothing recurses, so no nesting overflows the stack. Everything that JSON forbids is
 * refused with `bad_json`, the line and the column.
 */
import { AppError } from '../../errors.ts';
import { ByteWriter } from '../../lib/byte-writer.ts';

export const ascii = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quote: 0x22,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  upperE: 0x45,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  lowerE: 0x65,
  lowerF: 0x66,
  lowerN: 0x6e,
  lowerT: 0x74,
  lowerU: 0x75,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

const literals = {
  true: Buffer.from('true'),
  false: Buffer.from('false'),
  null: Buffer.from('null'),
} as const;

/** What the single-character escapes stand for, by the byte after the backslash; zero for others. */
const shortEscapes = new Uint8Array(256);
for (const [letter, meaning] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'].map((pair) =>
  Buffer.from(pair),
)) {
  shortEscapes[letter as number] = meaning as number;
}

const isDigit = (byte: number): boolean => byte >= ascii.zero && byte <= ascii.nine;

/** Decimal digits that a double holds exactly, whatever they are; and the powers of ten to go with them. */
const exactDigits = 15;
const exactPowersOfTen = Float64Array.from({ length: exactDigits + 1 }, (_, exponent) =>
  Number(`1e${exponent}`),
);

export class JsonReader {
  readonly bytes: Buffer;
  readonly end: number;
  position: number;
  /** Whether the string read last has escapes. */
  escaped = false;
  /**
   * The number read last; NaN if a double cannot hold it: an integer beyond 2^53, or anything beyond 1.8e308.
   */
  number = 0;
  readonly #unescaped = new ByteWriter(256);

  constructor(bytes: Buffer, position = 0) {
    this.bytes = bytes;
    this.end = bytes.length;
    this.position = position;
  }

  /** Skips white space and returns the byte that follows, without consuming it; -1 at the end of the text. */
  peek(): number {
    const { bytes, end } = this;
    let at = this.position;
    while (at < end) {
      const byte = bytes[at] as number;
      if (byte > ascii.space || !isWhitespace(byte)) {
        this.position = at;
        return byte;
      }
      at++;
    }
    this.position = at;
    return -1;
  }

  /** Consumes the byte that `peek` would return if it is this one. */
  take(expected: number): boolean {
    if (this.peek() !== expected) return false;
    this.position++;
    return true;
  }

  /** Consumes these bytes if they are what comes next, to the letter. */
  takeBytes(expected: Buffer): boolean {
    const { bytes, position } = this;
    for (let index = 0; index < expected.length; index++) {
      if (bytes[position + index] !== expected[index]) return false;
    }
    this.position = position + expected.length;
    return true;
  }

  /** Consumes the opening quote of a string or says that it is missing. */
  openString(what: string): void {
    if (!this.take(ascii.quote)) throw this.syntaxError(`expected ${what}`);
  }

  /** Reads a string whose opening quote was consumed, and returns where its closing quote is. */
  closeString(): number {
    const { bytes, end } = this;
    let at = this.position;
    this.escaped = false;
    while (at < end) {
      const byte = bytes[at] as number;
      if (byte === ascii.quote) {
        this.position = at + 1;
        return at;
      }
      if (byte === ascii.backslash) {
        this.escaped = true;
        at += this.#escapeLength(at);
      } else if (byte < ascii.space) {
        throw this.syntaxError('a control character in a string must be escaped', at);
      } else at++;
    }
    throw this.syntaxError('the text ends within a string', end);
  }

  #escapeLength(at: number): number {
    const letter = this.bytes[at + 1];
    if (letter === undefined) throw this.syntaxError('the text ends within a string', this.end);
    if (shortEscapes[letter] !== 0) return 2;
    if (letter === ascii.lowerU && this.#codeUnit(at + 2) >= 0) return 6;
    throw this.syntaxError('this escape is not allowed in a string', at);
  }

  /** The value of four hexadecimal digits, or -1. */
  #codeUnit(at: number): number {
    const digits = this.bytes.toString('latin1', at, at + 4);
    return /^[0-9A-Fa-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
  }

  /**
   * The UTF-8 of a string with escapes that lies in `[start, end)`; surrogates without a partner become
   * U+FFFD. The writer is reused by the next call.
   */
  unescape(start: number, end: number): ByteWriter {
    const { bytes } = this;
    const out = this.#unescaped;
    out.length = 0;
    let at = start;
    while (at < end) {
      const backslash = bytes.indexOf(ascii.backslash, at);
      const plainEnd = backslash < 0 || backslash > end ? end : backslash;
      out.copy(bytes, at, plainEnd);
      if (plainEnd === end) break;
      const letter = bytes[plainEnd + 1] as number;
      if (letter !== ascii.lowerU) {
        out.byte(shortEscapes[letter] as number);
        at = plainEnd + 2;
      } else {
        at = this.#unescapeUnicode(plainEnd, end, out);
      }
    }
    return out;
  }

  /** Decodes the escapes of one character at `at`; a surrogate pair takes two. Returns where they end. */
  #unescapeUnicode(at: number, end: number, out: ByteWriter): number {
    const unit = this.#codeUnit(at + 2);
    let text = String.fromCharCode(unit);
    let next = at + 6;
    if (unit >= 0xd800 && unit < 0xdc00 && next + 6 <= end && this.bytes[next + 1] === ascii.lowerU) {
      const low = this.bytes[next] === ascii.backslash ? this.#codeUnit(next + 2) : -1;
      if (low >= 0xdc00 && low < 0xe000) {
        text += String.fromCharCode(low);
        next += 6;
      }
    }
    out.reserve(4);
    out.length += out.buffer.write(text, out.length);
    return next;
  }

  /** Reads a number into `number`, and returns where it begins. */
  readNumber(): number {
    const { bytes, end } = this;
    const start = this.position;
    const negative = bytes[start] === ascii.minus;
    const firstDigit = negative ? start + 1 : start;
    let at = firstDigit;
    let mantissa = 0;
    while (at < end && isDigit(bytes[at] as number))
      mantissa = mantissa * 10 + ((bytes[at++] as number) - ascii.zero);
    const digits = at - firstDigit;
    if (digits === 0) throw this.syntaxError(negative ? 'expected a digit after "-"' : 'expected a value');
    if (digits > 1 && bytes[firstDigit] === ascii.zero) {
      throw this.syntaxError('a number must not begin with a zero', firstDigit);
    }
    this.position = at;
    const next = at < end ? (bytes[at] as number) : -1;
    if (next === ascii.dot || next === ascii.lowerE || next === ascii.upperE) {
      this.#readFraction(start, mantissa, digits, negative);
    } else if (digits > exactDigits && !isExactInteger(mantissa, bytes[at - 1] as number)) {
      this.number = Number.NaN;
    } else {
      this.number = negative ? -mantissa : mantissa;
    }
    return start;
  }

  /** The rest of a number that has a fraction or an exponent; the cursor is after the integer part. */
  #readFraction(start: number, integer: number, integerDigits: number, negative: boolean): void {
    const { bytes, end } = this;
    let at = this.position;
    let mantissa = integer;
    let fractionDigits = 0;
    let next = bytes[at] as number;
    if (next === ascii.dot) {
      const first = ++at;
      while (at < end && isDigit(bytes[at] as number)) {
        mantissa = mantissa * 10 + ((bytes[at++] as number) - ascii.zero);
      }
      fractionDigits = at - first;
      if (fractionDigits === 0) throw this.syntaxError('expected a digit after "."', at);
      next = at < end ? (bytes[at] as number) : -1;
    }
    this.position = at;
    if (next === ascii.lowerE || next === ascii.upperE) this.#skipExponent();
    else if (integerDigits + fractionDigits <= exactDigits) {
      // Both operands are exact, so the one rounding of the division gives the nearest double.
      const magnitude = mantissa / (exactPowersOfTen[fractionDigits] as number);
      this.number = negative ? -magnitude : magnitude;
      return;
    }
    const value = Number(bytes.toString('latin1', start, this.position));
    this.number = Number.isFinite(value) ? value : Number.NaN;
  }

  #skipExponent(): void {
    const { bytes, end } = this;
    let at = this.position + 1;
    if (at < end && (bytes[at] === ascii.plus || bytes[at] === ascii.minus)) at++;
    const first = at;
    while (at < end && isDigit(bytes[at] as number)) at++;
    if (at === first) throw this.syntaxError('expected a digit in the exponent', at);
    this.position = at;
  }

  /** Consumes `true`, `false` or `null`, of which the first letter was seen. */
  readLiteral(name: keyof typeof literals): void {
    const literal = literals[name];
    const start = this.position;
    for (let index = 1; index < literal.length; index++) {
      if (this.bytes[start + index] !== literal[index]) throw this.syntaxError('expected a value');
    }
    this.position = start + literal.length;
  }

  /** The line of an offset, counted from 1. */
  lineOf(offset: number): number {
    let line = 1;
    for (let at = this.bytes.indexOf(ascii.lineFeed); at >= 0 && at < offset; ) {
      line++;
      at = this.bytes.indexOf(ascii.lineFeed, at + 1);
    }
    return line;
  }

  syntaxError(what: string, offset = this.position): AppError {
    const lineStart = offset === 0 ? 0 : this.bytes.lastIndexOf(ascii.lineFeed, offset - 1) + 1;
    let column = 1;
    for (let at = lineStart; at < offset; at++) {
      // Characters, not bytes: those that continue a character do not count.
      if (((this.bytes[at] as number) & 0xc0) !== 0x80) column++;
    }
    const where = `line ${this.lineOf(offset)}, column ${column}`;
    const ends = offset >= this.end ? ', where the text ends' : '';
    return new AppError('bad_json', `The body is not valid JSON at ${where}${ends}: ${what}`);
  }
}

const isWhitespace = (byte: number): boolean =>
  byte === ascii.space || byte === ascii.lineFeed || byte === ascii.carriageReturn || byte === ascii.tab;

/**
 * Whether an integer of 16 or more digits, accumulated in a double, is at most 2^53. 2^53 + 1 accumulates to
 * 2^53 too, which the last digit tells.
 */
const isExactInteger = (accumulated: number, lastDigit: number): boolean =>
  accumulated < 2 ** 53 || (accumulated === 2 ** 53 && lastDigit === 0x32);
