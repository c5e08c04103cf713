const nanosPerMilli = 1_000_000;

/**
 * Nanoseconds since 1970 as the halves of an unsigned 64-bit integer, in whole milliseconds, rounded down. A
 * double does not hold such a number of nanoseconds: it is divided in two steps, of which each is exact.
 */
export function millisOfNanos(low: number, high: number): number {
  const unsignedHigh = high >>> 0;
  const quotient = Math.floor(unsignedHigh / nanosPerMilli);
  const rest = unsignedHigh - quotient * nanosPerMilli;
  return quotient * 0x1_0000_0000 + Math.floor((rest * 0x1_0000_0000 + (low >>> 0)) / nanosPerMilli);
}
