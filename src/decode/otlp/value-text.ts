/**
 * Values that are not strings, as the text under which they are stored. Integers and doubles as in JSON,
 * `NaN` and `Infinity` by these names; bytes in base64; arrays and maps as JSON text, in which such names,
 * base64 and strings are in quotes; a value that is not there as `null`.
 */
import type { ByteWriter } from '../../lib/byte-writer.ts';
import { type Bits, signedOf } from '../wire/protobuf-values.ts';

const quote = 0x22;
const backslash = 0x5c;

/** ASCII text. */
export function writeAscii(out: ByteWriter, text: string): void {
  out.reserve(text.length);
  const { buffer, length } = out;
  for (let index = 0; index < text.length; index++) buffer[length + index] = text.charCodeAt(index);
  out.length = length + text.length;
}

/** A signed integer of 64 bits, with all its digits. */
export function writeInteger(out: ByteWriter, bits: Readonly<Bits>): void {
  const near = signedOf(bits);
  if (Number.isSafeInteger(near)) writeAscii(out, String(near));
  else writeAscii(out, String((BigInt(bits.high) << 32n) | BigInt(bits.low >>> 0)));
}

/** @param inJson whether it is part of JSON text, which knows no NaN */
export function writeDouble(out: ByteWriter, value: number, inJson: boolean): void {
  // String() makes the zeros alike.
  const text = Object.is(value, -0) ? '-0' : String(value);
  writeAscii(out, inJson && !Number.isFinite(value) ? `"${text}"` : text);
}

export function writeBase64(out: ByteWriter, bytes: Buffer, start: number, end: number): void {
  writeAscii(out, bytes.toString('base64', start, end));
}

/** Letters of the short escapes of control characters, by the character; others are written as \u00xx. */
const shortEscapes: ReadonlyMap<number, string> = new Map([
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
]);

/** The text `source[start, end)`, valid UTF-8, as a JSON string. `source` may be what `out` writes into. */
export function writeJsonString(out: ByteWriter, source: Buffer, start: number, end: number): void {
  out.byte(quote);
  for (let at = start; at < end; at++) {
    const byte = source[at] as number;
    if (byte === quote || byte === backslash) {
      out.byte(backslash);
      out.byte(byte);
    } else if (byte < 0x20) {
      writeAscii(out, shortEscapes.get(byte) ?? `\\u${byte.toString(16).padStart(4, '0')}`);
    } else out.byte(byte);
  }
  out.byte(quote);
}
