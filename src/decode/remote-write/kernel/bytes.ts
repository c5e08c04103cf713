/** Copies at least `length` bytes, at most 15 more, from 16 or more bytes away. */
export function copyWords(to: u32, from: u32, length: u32): void {
  v128.store(to, v128.load(from));
  for (let index: u32 = 16; index < length; index += 16) {
    v128.store(to + index, v128.load(from + index));
  }
}

/**
 * Whether none of the bytes `[start, end)` has its high bit set; up to 7 bytes behind them are read and not
 * used.
 */
export function isAscii(start: u32, end: u32): bool {
  let at = start;
  let bits: u64 = 0;
  for (; end - at >= 8; at += 8) bits |= load<u64>(at);
  const rest = end - at;
  if (rest > 0) bits |= load<u64>(at) & (((<u64>1) << (8 * rest)) - 1);
  return (bits & 0x8080_8080_8080_8080) === 0;
}

/** Whether `length` bytes are the same in both places. */
export function areEqual(a: u32, b: u32, length: u32): bool {
  let at: u32 = 0;
  for (; length - at >= 8; at += 8) if (load<u64>(a + at) !== load<u64>(b + at)) return false;
  const rest = length - at;
  if (rest === 0) return true;
  return ((load<u64>(a + at) ^ load<u64>(b + at)) & (((<u64>1) << (8 * rest)) - 1)) === 0;
}

/** Whether the first bytes come before the others, and are not the same, in ascending order of bytes. */
export function isBefore(a: u32, aLength: u32, b: u32, bLength: u32): bool {
  const common = min(aLength, bLength);
  for (let at: u32 = 0; at < common; at++) {
    const left = load<u8>(a + at);
    const right = load<u8>(b + at);
    if (left !== right) return left < right;
  }
  return aLength < bLength;
}
