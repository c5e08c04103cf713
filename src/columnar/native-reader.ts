/**
 * The bytes are not a block in the `Native` format, or contain a column type that this program does not
 * write.
 */
export class UnreadableBlock extends Error {
  override readonly name = 'UnreadableBlock';
}

/** Reads the primitives of the `Native` format in sequence, and never beyond the end. */
export class NativeReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  /** The next `count` bytes, without a copy. */
  take(count: number): Uint8Array {
    const end = this.#position + count;
    if (end > this.#bytes.length) {
      throw new UnreadableBlock(
        `the block ends at byte ${this.#bytes.length}; ${count} are needed from ${this.#position}`,
      );
    }
    const taken = this.#bytes.subarray(this.#position, end);
    this.#position = end;
    return taken;
  }

  /** An unsigned LEB128 varint. */
  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const [byte = 0] = this.take(1);
      value += (byte & 0x7f) * scale;
      if (value > Number.MAX_SAFE_INTEGER) throw new UnreadableBlock('a number in the block is too large');
      if (byte < 0x80) return value;
    }
  }

  uint64(): number {
    const at = this.#position;
    this.take(8);
    const value = this.#view.getUint32(at, true) + this.#view.getUint32(at + 4, true) * 0x1_0000_0000;
    if (value > Number.MAX_SAFE_INTEGER) throw new UnreadableBlock('a number in the block is too large');
    return value;
  }

  string(): string {
    return Buffer.from(this.take(this.varint())).toString('utf8');
  }

  /**
   * Skips `count` strings.
   * @returns their bytes, lengths included
   */
  strings(count: number): Uint8Array {
    const start = this.#position;
    const bytes = this.#bytes;
    let at = start;
    for (let index = 0; index < count; index += 1) {
      const length = bytes[at];
      // A fast path: nearly all strings are short.
      if (length !== undefined && length < 0x80) at += 1 + length;
      else {
        this.#position = at;
        const long = this.varint();
        at = this.#position + long;
      }
    }
    this.#position = start;
    return this.take(at - start);
  }
}
