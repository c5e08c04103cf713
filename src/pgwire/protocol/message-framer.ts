import { limits } from '../../limits/limits.ts';
import { protocolViolation } from './wire-error.ts';

/** One message of a client: its type and what follows the length. */
export interface Frame {
  readonly type: string;
  readonly body: Buffer;
}

/**
 * Cuts what a socket delivers into messages. A length is checked before anything is kept for it.
 */
export class MessageFramer {
  #chunks: Buffer[] = [];
  #size = 0;
  /** Of the message that is incomplete, it was said that it is long. */
  #isLong = false;

  /** Bytes that are kept. */
  get size(): number {
    return this.#size;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#size += chunk.length;
    let last = chunk;
    // As many pieces as their size has digits, and each byte is copied as often: they may have one byte each.
    for (let before = this.#chunks.at(-1); before !== undefined; before = this.#chunks.at(-1)) {
      if (before.length > last.length || before.length >= limits.pgSmallPieceBytes) break;
      this.#chunks.pop();
      last = Buffer.concat([before, last]);
    }
    this.#chunks.push(last);
  }

  /**
   * The packet that opens a connection, which has no type.
   * @returns its body; undefined while it is incomplete
   * @throws WireError
   */
  startup(maxBytes: number): Buffer | undefined {
    const length = this.#int32At(0);
    if (length === undefined) return undefined;
    if (length < 8 || length > maxBytes) throw protocolViolation('invalid length of startup packet');
    return this.#take(length)?.subarray(4);
  }

  /**
   * The next message.
   * @param onLong told once of a message of at least `pgLongMessageBytes` that is incomplete; it may throw
   * @returns undefined while it is incomplete
   * @throws WireError
   */
  next(maxBytes: number, onLong: (bytes: number) => void = () => undefined): Frame | undefined {
    const length = this.#int32At(1);
    if (length === undefined) return undefined;
    if (length < 4) throw protocolViolation('invalid message length');
    if (length > maxBytes)
      throw protocolViolation(`a message of ${length} bytes is too long; at most ${maxBytes} are allowed`);
    if (this.#size <= length && length >= limits.pgLongMessageBytes && !this.#isLong) {
      this.#isLong = true;
      onLong(length);
    }
    const message = this.#take(length + 1);
    if (message !== undefined) this.#isLong = false;
    return message && { type: String.fromCharCode(message[0] ?? 0), body: message.subarray(5) };
  }

  #int32At(offset: number): number | undefined {
    if (this.#size < offset + 4) return undefined;
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= offset + 4) return first.readInt32BE(offset);
    return this.#joined().readInt32BE(offset);
  }

  #take(length: number): Buffer | undefined {
    if (this.#size < length) return undefined;
    const first = this.#chunks[0];
    const all = first !== undefined && first.length >= length ? first : this.#joined();
    this.#size -= length;
    if (all.length === length) this.#chunks.shift();
    else this.#chunks[0] = all.subarray(length);
    return all.subarray(0, length);
  }

  /** Copies once for each message that arrives in pieces. */
  #joined(): Buffer {
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}
