import { ByteWriter } from '../../lib/byte-writer.ts';
import { ascii, type JsonReader } from './json-reader.ts';

/**
 * Copies a JSON value as text, without the white space between its tokens: numbers, escapes, the order of
 * keys and repeated keys stay as they were sent. The nesting may be as deep as the body allows.
 */
export class JsonTextCopier {
  readonly #out = new ByteWriter(256);
  /** The closing bytes of the containers that are open. */
  readonly #open = new ByteWriter(64);

  /** Copies the value at the cursor. The writer is reused by the next call. */
  copy(reader: JsonReader): ByteWriter {
    this.#out.length = 0;
    this.#open.length = 0;
    do {
      // A container that was opened goes on with its first value; anything else has ended, and maybe more
      // with it.
      if (!this.#beginValue(reader)) this.#endValues(reader);
    } while (this.#open.length > 0);
    return this.#out;
  }

  /** Copies a scalar or an empty container, or the beginning of a container; true for the latter. */
  #beginValue(reader: JsonReader): boolean {
    const out = this.#out;
    const first = reader.peek();
    if (first === ascii.openBrace || first === ascii.openBracket) {
      const close = first === ascii.openBrace ? ascii.closeBrace : ascii.closeBracket;
      reader.position++;
      out.byte(first);
      if (reader.take(close)) {
        out.byte(close);
        return false;
      }
      this.#open.byte(close);
      if (close === ascii.closeBrace) this.#copyKey(reader);
      return true;
    }
    const start = reader.position;
    if (first === ascii.quote) {
      reader.position++;
      reader.closeString();
    } else if (first === ascii.lowerT) reader.readLiteral('true');
    else if (first === ascii.lowerF) reader.readLiteral('false');
    else if (first === ascii.lowerN) reader.readLiteral('null');
    else reader.readNumber();
    out.copy(reader.bytes, start, reader.position);
    return false;
  }

  /** After a value: copies the comma before the next one, or closes containers until there is one. */
  #endValues(reader: JsonReader): void {
    const out = this.#out;
    const open = this.#open;
    while (open.length > 0) {
      const close = open.buffer[open.length - 1] as number;
      if (reader.take(ascii.comma)) {
        out.byte(ascii.comma);
        if (close === ascii.closeBrace) this.#copyKey(reader);
        return;
      }
      if (!reader.take(close)) {
        throw reader.syntaxError(`expected "," or "${String.fromCharCode(close)}"`);
      }
      out.byte(close);
      open.length--;
    }
  }

  #copyKey(reader: JsonReader): void {
    reader.openString('a field name in double quotes');
    const start = reader.position - 1;
    reader.closeString();
    this.#out.copy(reader.bytes, start, reader.position);
    if (!reader.take(ascii.colon)) throw reader.syntaxError('expected ":" after the field name');
    this.#out.byte(ascii.colon);
  }
}
