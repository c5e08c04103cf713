import { ByteWriter, varintLength } from '../../lib/byte-writer.ts';

/** Writes protobuf messages (https://protobuf.dev/programming-guides/encoding/). */
export class ProtobufWriter extends ByteWriter {
  /** A tag, or another number below 2^14. */
  tag(tag: number): void {
    this.reserve(2);
    const { buffer } = this;
    if (tag < 0x80) {
      buffer[this.length++] = tag;
      return;
    }
    buffer[this.length++] = (tag & 0x7f) | 0x80;
    buffer[this.length++] = tag >>> 7;
  }

  /** A varint of 64 bits from its halves. */
  varint64(lowBits: number, highBits: number): void {
    this.reserve(10);
    const { buffer } = this;
    let at = this.length;
    let low = lowBits >>> 0;
    let high = highBits >>> 0;
    while (high !== 0 || low >= 0x80) {
      buffer[at++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    buffer[at++] = low;
    this.length = at;
  }

  /** An integer of 32 bits; a negative one takes ten bytes, as protobuf has it. */
  int32(value: number): void {
    this.varint64(value, value >> 31);
  }

  /** A `sint32`: small magnitudes of either sign are small numbers. */
  sint32(value: number): void {
    this.varint(((value << 1) ^ (value >> 31)) >>> 0);
  }

  fixed32(value: number): void {
    this.reserve(4);
    const { buffer, length } = this;
    buffer[length] = value;
    buffer[length + 1] = value >>> 8;
    buffer[length + 2] = value >>> 16;
    buffer[length + 3] = value >>> 24;
    this.length = length + 4;
  }

  /** Eight bytes from their halves. */
  fixed64(low: number, high: number): void {
    this.fixed32(low);
    this.fixed32(high);
  }

  /**
   * Leaves room for the length of a message that is written next.
   * @param lengthBytes that the length is expected to take
   * @returns what `endMessage` is to be called with
   */
  beginMessage(lengthBytes: number): number {
    this.reserve(lengthBytes);
    const start = this.length;
    this.length += lengthBytes;
    return start;
  }

  /**
   * Writes the length of what was written since `beginMessage`. One that takes less than the room for it is
   * padded with zeros, as a varint may be; for one that takes more, the message is moved.
   */
  endMessage(start: number, lengthBytes: number): void {
    const length = this.length - start - lengthBytes;
    if (lengthBytes === 1 && length < 0x80) {
      this.buffer[start] = length;
      return;
    }
    const needed = Math.max(lengthBytes, varintLength(length));
    if (needed > lengthBytes) {
      this.reserve(needed - lengthBytes);
      this.buffer.copyWithin(start + needed, start + lengthBytes, this.length);
      this.length += needed - lengthBytes;
    }
    let rest = length;
    for (let index = 1; index < needed; index++) {
      this.buffer[start + index - 1] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.buffer[start + needed - 1] = rest;
  }
}
