/**
 * Writes messages of PostgreSQL's protocol 3 into one growing buffer: a type, a length that counts itself, a
 * body (PostgreSQL's documentation, "Message Formats").
 */
export class MessageWriter {
  #bytes: Buffer;
  #end = 0;
  /** Where the length of the message goes that is being written. */
  #lengthAt = 0;

  constructor(initialBytes = 512) {
    this.#bytes = Buffer.allocUnsafe(initialBytes);
  }

  /** Bytes written and not taken. */
  get size(): number {
    return this.#end;
  }

  /** @param type one character */
  begin(type: string): this {
    this.#reserve(5);
    this.#bytes[this.#end] = type.charCodeAt(0);
    this.#lengthAt = this.#end + 1;
    this.#end += 5;
    return this;
  }

  end(): this {
    this.#setInt32(this.#lengthAt, this.#end - this.#lengthAt);
    return this;
  }

  byte(value: number): this {
    this.#reserve(1);
    this.#bytes[this.#end++] = value;
    return this;
  }

  int16(value: number): this {
    this.#reserve(2);
    this.#end = this.#bytes.writeInt16BE(value, this.#end);
    return this;
  }

  /** Counts up to 65,535, which clients read without a sign. */
  uint16(value: number): this {
    this.#reserve(2);
    this.#end = this.#bytes.writeUInt16BE(value, this.#end);
    return this;
  }

  int32(value: number): this {
    this.#reserve(4);
    this.#setInt32(this.#end, value);
    this.#end += 4;
    return this;
  }

  int64(value: bigint): this {
    this.#reserve(8);
    this.#end = this.#bytes.writeBigInt64BE(value, this.#end);
    return this;
  }

  /** The same of a number without a fraction, up to `Number.MAX_SAFE_INTEGER`. */
  safeInt64(value: number): this {
    const high = Math.floor(value / 2 ** 32);
    return this.int32(high).int32(value - high * 2 ** 32);
  }

  double(value: number): this {
    this.#reserve(8);
    this.#end = this.#bytes.writeDoubleBE(value, this.#end);
    return this;
  }

  /** Text that ends with a zero byte; a zero within it would end it early. */
  string(text: string): this {
    return this.text(text.includes('\0') ? text.replaceAll('\0', '') : text).byte(0);
  }

  text(text: string): this {
    // UTF-8 has three bytes at most for each of JavaScript's characters.
    this.#reserve(text.length * 3);
    this.#end += this.#bytes.write(text, this.#end);
    return this;
  }

  bytes(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
    return this;
  }

  /** A part of a buffer, without a view of it in between. */
  slice(from: Buffer, start: number, end: number): this {
    this.#reserve(end - start);
    const bytes = this.#bytes;
    let to = this.#end;
    if (end - start > shortBytes) from.copy(bytes, to, start, end);
    else for (let at = start; at < end; at++) bytes[to++] = from[at] ?? 0;
    this.#end += end - start;
    return this;
  }

  /** Leaves room for a length that is known when what it counts is written: `setLength`. */
  lengthAhead(): number {
    this.int32(0);
    return this.#end;
  }

  /** @param start from `lengthAhead` */
  setLength(start: number): this {
    this.#setInt32(start - 4, this.#end - start);
    return this;
  }

  /** What was written since the last call, in memory of its own. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#end));
    this.#end = 0;
    if (this.#bytes.length > keptBytes) this.#bytes = Buffer.allocUnsafe(512);
    return taken;
  }

  #setInt32(at: number, value: number): void {
    const bytes = this.#bytes;
    bytes[at] = value >>> 24;
    bytes[at + 1] = value >>> 16;
    bytes[at + 2] = value >>> 8;
    bytes[at + 3] = value;
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#end + bytes));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** Up to here a loop takes less time than a call of `copy`. */
const shortBytes = 40;

/** A session that is idle holds no more. */
const keptBytes = 8192;
