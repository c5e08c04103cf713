import { timestampEpochMs } from './times.ts';

/**
 * What cells of the store are, read from their bytes: to make a text of each of millions of cells costs more
 * than all else of a large result.
 */

/** Digits and a sign of numbers that a double surely holds. */
export const safeDigits = 15;

/** A whole number of at most `safeDigits` digits and a sign. */
export function integerOf(bytes: Buffer, start: number, end: number): number {
  const isNegative = bytes[start] === minus;
  let value = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at++) value = value * 10 + (bytes[at] ?? 0) - zero;
  return isNegative ? -value : value;
}

/**
 * Whether PostgreSQL writes a double as the store does: both write the shortest digits that bring it back,
 * but begin and end to use an exponent elsewhere (`double-text.ts`).
 */
export function isPlainDouble(bytes: Buffer, start: number, end: number): boolean {
  let at = bytes[start] === minus ? start + 1 : start;
  // Below 1e-4 there is 0.0000; nothing shorter than that needs a look.
  if (bytes[at] === zero && end - at > 5 && isZeros(bytes, at + 2, at + 6)) return false;
  const first = at;
  while (at < end && isDigit(bytes[at])) at += 1;
  if (at === first || at - first > safeDigits) return false;
  if (at === end) return true;
  if (bytes[at] !== point) return false;
  for (at += 1; at < end; at++) if (!isDigit(bytes[at])) return false;
  return true;
}

/** The end of the text of a time without zeros at the end of its fraction, and without a bare point. */
export function withoutZerosEnd(bytes: Buffer, start: number, end: number): number {
  if (end - start <= secondsLength) return end;
  let last = end;
  while (bytes[last - 1] === zero) last -= 1;
  return bytes[last - 1] === point ? last - 1 : last;
}

/**
 * `2024-03-01 10:00:00.500000` in microseconds since 2000; undefined where that is more than a double holds,
 * or the text has another length.
 */
export function cellMicros(bytes: Buffer, start: number, end: number): number | undefined {
  if (end - start !== microsLength) return undefined;
  const number = (from: number, to: number): number => integerOf(bytes, start + from, start + to);
  const days = Date.UTC(number(0, 4), number(5, 7) - 1, number(8, 10)) - timestampEpochMs;
  const ms = days + ((number(11, 13) * 60 + number(14, 16)) * 60 + number(17, 19)) * 1000;
  const micros = ms * 1000 + number(20, 26);
  return Number.isSafeInteger(micros) ? micros : undefined;
}

/** `2024-03-01 10:00:00`, and with a fraction. */
const secondsLength = 19;
const microsLength = 26;

const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte <= 0x39;

function isZeros(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] !== zero) return false;
  return true;
}
