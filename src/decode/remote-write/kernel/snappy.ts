/**
 * Snappy's block format: https://github.com/google/snappy/blob/main/format_description.txt. After the length
 * of the whole, which the caller reads, a block is literals and copies of what is there already. The lowest
 * two bits of an element's first byte tell which, and how many bytes the offset of a copy takes.
 */
import { copyWords } from './bytes';
import { bodyAddress, messageAddress } from './memory-layout';

const literal: u32 = 0;
const copyOffset1: u32 = 1;
const copyOffset2: u32 = 2;
const copyOffset4: u32 = 3;

/**
 * Decompresses the body, `bodyLength` bytes, into the message, which its head declares to have
 * `declaredLength` bytes. Both lengths are within their capacity.
 * @returns whether the body is a valid block of that length
 */
export function unsnappy(bodyLength: u32, declaredLength: u32): bool {
  const end = bodyAddress + bodyLength;
  const outEnd = messageAddress + declaredLength;
  let at = bodyAddress;
  while (at < end && load<u8>(at) >= 0x80) at++;
  at++;
  let out = messageAddress;
  while (at < end) {
    const tag: u32 = load<u8>(at++);
    const kind = tag & 3;
    if (kind === literal) {
      const lengthBytes = max<i32>((tag >> 2) - 59, 0);
      const length = lengthBytes === 0 ? (tag >> 2) + 1 : longLength(at, lengthBytes);
      at += lengthBytes;
      // A length of 2^32 has become zero: less one it is the largest number again.
      if (at >= end || length - 1 >= end - at || length > outEnd - out) return false;
      copyWords(out, at, length);
      at += length;
      out += length;
    } else {
      const length = kind === copyOffset1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
      const offset = copyOffset(kind, tag, at);
      at += kind === copyOffset4 ? 4 : kind;
      if (at > end || offset - 1 >= out - messageAddress || length > outEnd - out) return false;
      copyBack(out, offset, length);
      out += length;
    }
  }
  return out === outEnd;
}

/** The length of a long literal: one less stands in `count` bytes, one to four. */
function longLength(at: u32, count: u32): u32 {
  return (load<u32>(at) & (0xffff_ffff >> (32 - 8 * count))) + 1;
}

/** How far back the source of a copy lies; its low bytes, or all of them, are at `at`. */
function copyOffset(kind: u32, tag: u32, at: u32): u32 {
  if (kind === copyOffset1) return ((tag & 0xe0) << 3) | load<u8>(at);
  return kind === copyOffset2 ? <u32>load<u16>(at) : load<u32>(at);
}

/** Copies from `offset` bytes back. A copy from nearby repeats what it has just written. */
function copyBack(to: u32, offset: u32, length: u32): void {
  const from = to - offset;
  if (offset >= 16) copyWords(to, from, length);
  else for (let index: u32 = 0; index < length; index++) store<u8>(to + index, load<u8>(from + index));
}
