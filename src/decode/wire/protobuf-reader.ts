import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';

/** Wire types of the protobuf encoding (https://protobuf.dev/programming-guides/encoding/). */
export const wireType = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** The tag of a field: its number and its wire type. */
export const fieldTag = (fieldNumber: number, type: keyof typeof wireType): number =>
  (fieldNumber << 3) | wireType[type];

/** Where a string is in a message. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * A cursor over a protobuf message. Every read is checked against `end`, the end of the message that the
 * caller is in, and refuses with `bad_protobuf` and the offset. Nothing is allocated.
 */
export class ProtobufReader {
  readonly bytes: Buffer;
  readonly view: DataView;
  position = 0;
  /**
   * The halves of the last 64-bit value that was read, as signed integers: V8 keeps these out of the heap.
   */
  low = 0;
  high = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The tag of the next field. */
  tag(end: number): number {
    const start = this.position;
    const tag = this.uint32(end);
    if (tag < 8) throw this.corrupt('a field number of zero', start);
    return tag;
  }

  /**
   * Passes over the fields before the next one that has that tag and a length; the cursor is then at its
   * first byte. A loop sets the cursor to the end of the field before it calls again.
   * @returns where that field ends; -1 if there is none up to `end`
   */
  nextField(tag: number, end: number): number {
    while (this.position < end) {
      const found = this.tag(end);
      if (found === tag) return this.lengthEnd(end);
      this.skip(found, end);
    }
    return -1;
  }

  /** A varint of at most 32 bits. */
  uint32(end: number): number {
    const start = this.position;
    if (start < end) {
      const byte = this.bytes[start] as number;
      if (byte < 0x80) {
        this.position = start + 1;
        return byte;
      }
    }
    this.varint64(end);
    if (this.high !== 0) throw this.corrupt('a number beyond 32 bits', start);
    return this.low >>> 0;
  }

  /** Reads a length and returns where the field ends; the cursor is then at its first byte. */
  lengthEnd(end: number): number {
    const start = this.position;
    const fieldEnd = this.uint32(end) + this.position;
    if (fieldEnd > end) throw this.corrupt('a length beyond the end of the message', start);
    return fieldEnd;
  }

  /** A varint of at most 64 bits, into `low` and `high`. */
  varint64(end: number): void {
    const start = this.position;
    const { bytes } = this;
    let at = start;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) throw this.corrupt('a number that is cut off', start);
      const byte = bytes[at++] as number;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) {
        this.position = at;
        this.low = low;
        this.high = high;
        return;
      }
    }
    throw this.corrupt('a number of more than ten bytes', start);
  }

  /** Eight bytes, into `low` and `high`. */
  fixed64(end: number): void {
    const start = this.position;
    if (start + 8 > end) throw this.corrupt('a 64-bit value that is cut off', start);
    this.low = this.view.getInt32(start, true);
    this.high = this.view.getInt32(start + 4, true);
    this.position = start + 8;
  }

  /** Four bytes as an unsigned integer. */
  fixed32(end: number): number {
    const start = this.position;
    if (start + 4 > end) throw this.corrupt('a 32-bit value that is cut off', start);
    this.position = start + 4;
    return this.view.getUint32(start, true);
  }

  /**
   * The lowest 32 bits of a varint, signed: what protobuf makes of a varint that is too large for its field.
   */
  int32(end: number): number {
    this.varint64(end);
    return this.low;
  }

  /** Skips the value of a field that nobody asked for. */
  skip(tag: number, end: number): void {
    if ((tag & 7) === wireType.startGroup) this.#skipGroup(tag, end);
    else this.#skipValue(tag, end);
  }

  /** A group has no length: it is skipped field by field up to the tag that ends it, and groups nest. */
  #skipGroup(tag: number, end: number): void {
    const open = [tag >>> 3];
    while (open.length > 0) {
      const start = this.position;
      const next = this.tag(end);
      if ((next & 7) === wireType.startGroup) {
        if (open.length === limits.maxProtobufGroupDepth)
          throw this.corrupt('groups nested too deeply', start);
        open.push(next >>> 3);
      } else if ((next & 7) === wireType.endGroup) {
        if (open.pop() !== next >>> 3)
          throw this.corrupt('the end of another group than the one open', start);
      } else {
        this.#skipValue(next, end);
      }
    }
  }

  #skipValue(tag: number, end: number): void {
    switch (tag & 7) {
      case wireType.varint:
        this.varint64(end);
        break;
      case wireType.fixed64:
        this.#advance(8, end);
        break;
      case wireType.bytes:
        this.position = this.lengthEnd(end);
        break;
      case wireType.fixed32:
        this.#advance(4, end);
        break;
      default:
        throw this.corrupt(`a field of wire type ${tag & 7} where none can be`, this.position);
    }
  }

  #advance(count: number, end: number): void {
    if (this.position + count > end) throw this.corrupt('a value that is cut off', this.position);
    this.position += count;
  }

  corrupt(what: string, offset: number): AppError {
    return new AppError(
      'bad_protobuf',
      `The protobuf message holds ${what} at byte ${offset} of ${this.bytes.length}`,
    );
  }
}
