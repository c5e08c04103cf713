/** Up to this length bytes are copied one by one: a call of `set` costs as much as some 60 assignments. */
const shortCopyBytes = 64;

/** The length of `value` as an unsigned LEB128 varint. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

/**
 * A growing buffer to write to. All integers are little-endian.
 *
 * `buffer` and `length` are public for hot loops, which call `reserve` once and then store bytes themselves.
 * `reserve` may replace `buffer`, so a reference to it is valid only until the next write.
 */
export class ByteWriter {
  buffer: Buffer;
  length = 0;

  constructor(capacity = 64) {
    // Never from Node's shared pool: the memory is transferred to another thread as a whole.
    this.buffer = Buffer.allocUnsafeSlow(capacity);
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed > this.buffer.length) this.#grow(needed);
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.buffer.length * 2));
    grown.set(this.buffer.subarray(0, this.length));
    this.buffer = grown;
  }

  byte(value: number): void {
    this.reserve(1);
    this.buffer[this.length++] = value;
  }

  /** An unsigned LEB128 varint. `value` is an integer from 0 to 2^53. */
  varint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      // Within 32 bits a shift is much faster than a division, and lengths are nearly always that small.
      this.buffer[this.length++] = (rest & 0x7f) | 0x80;
      rest = rest < 0x8000_0000 ? rest >>> 7 : Math.floor(rest / 0x80);
    }
    this.buffer[this.length++] = rest;
  }

  /** `value` is an integer from 0 to 2^53. */
  uint64(value: number): void {
    this.reserve(8);
    this.length = this.buffer.writeUInt32LE(value >>> 0, this.length);
    this.length = this.buffer.writeUInt32LE(Math.floor(value / 0x1_0000_0000), this.length);
  }

  /** Appends `source[start, end)`. */
  copy(source: Uint8Array, start = 0, end = source.length): void {
    const count = end - start;
    this.reserve(count);
    const { buffer, length } = this;
    if (count <= shortCopyBytes) {
      for (let index = 0; index < count; index++) buffer[length + index] = source[start + index] as number;
    } else {
      buffer.set(source.subarray(start, end), length);
    }
    this.length = length + count;
  }

  /** Writes the same byte `count` times. */
  fill(value: number, count: number): void {
    this.reserve(count);
    this.buffer.fill(value, this.length, this.length + count);
    this.length += count;
  }

  /** The length in bytes as a varint, then the bytes, as ClickHouse and protobuf write strings. */
  bytesWithLength(source: Uint8Array, start = 0, end = source.length): void {
    this.varint(end - start);
    this.copy(source, start, end);
  }

  /** The length in bytes as a varint, then the text in UTF-8; lone surrogates become U+FFFD. */
  string(text: string): void {
    const count = Buffer.byteLength(text);
    this.varint(count);
    this.reserve(count);
    this.length += this.buffer.write(text, this.length);
  }

  /** The bytes written so far. They share memory with the writer. */
  view(): Buffer {
    return this.buffer.subarray(0, this.length);
  }
}
