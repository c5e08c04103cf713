/** Values of 64 bits as their halves, read from a message without loss and without garbage. */
import { fieldTag, type ProtobufReader } from './protobuf-reader.ts';

/** The halves of a 64-bit value, as signed integers. */
export interface Bits {
  low: number;
  high: number;
}

/** Something to write that is zero in every type. */
export const zeroBits: Readonly<Bits> = { low: 0, high: 0 };

export function clear(bits: Bits): void {
  bits.low = 0;
  bits.high = 0;
}

/** Keeps the value that the reader read last. */
export function keep(bits: Bits, reader: ProtobufReader): void {
  bits.low = reader.low;
  bits.high = reader.high;
}

/** Adds to a value, in 64 bits: beyond them it begins again, as in languages that have such integers. */
export function addTo(sum: Bits, { low, high }: Readonly<Bits>): void {
  const newLow = (sum.low + low) | 0;
  const carry = newLow >>> 0 < low >>> 0 ? 1 : 0;
  sum.low = newLow;
  sum.high = (sum.high + high + carry) | 0;
}

const scratch = new DataView(new ArrayBuffer(8));

/** The double with these bits. */
export function doubleOf({ low, high }: Readonly<Bits>): number {
  scratch.setInt32(0, low, true);
  scratch.setInt32(4, high, true);
  return scratch.getFloat64(0, true);
}

/** The signed integer with these bits; beyond 2^53 the nearest double. */
export const signedOf = ({ low, high }: Readonly<Bits>): number => high * 0x1_0000_0000 + (low >>> 0);

/** The unsigned integer with these bits; beyond 2^53 the nearest double. */
export const unsignedOf = ({ low, high }: Readonly<Bits>): number =>
  (high >>> 0) * 0x1_0000_0000 + (low >>> 0);

/** A `sint32`: small magnitudes of either sign are small numbers on the wire. */
export const zigzag32 = (encoded: number): number => (encoded >>> 1) ^ -(encoded & 1);

/** Decodes the `sint64` that the reader read last, in place. */
export function zigzag64(reader: ProtobufReader): void {
  const { low, high } = reader;
  const sign = -(low & 1);
  reader.low = ((low >>> 1) | (high << 31)) ^ sign;
  reader.high = (high >>> 1) ^ sign;
}

/** Which of two unsigned integers is the larger one: below zero if it is the second. */
export const compareUnsigned = (first: Readonly<Bits>, second: Readonly<Bits>): number =>
  (first.high >>> 0) - (second.high >>> 0) || (first.low >>> 0) - (second.low >>> 0);

/** An unsigned integer in decimal digits, exactly. */
export const unsignedText = ({ low, high }: Readonly<Bits>): string =>
  ((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)).toString();

/**
 * Reads a field of a repeated number, packed or not; each value is in the reader's halves when
 * `onValue` is called.
 * @param element the wire type of a single value
 * @returns false, with nothing read, if the tag is that of another field
 */
export function readRepeated(
  reader: ProtobufReader,
  tag: number,
  fieldNumber: number,
  element: 'varint' | 'fixed64',
  end: number,
  onValue: () => void,
): boolean {
  const isSingle = tag === fieldTag(fieldNumber, element);
  if (!isSingle && tag !== fieldTag(fieldNumber, 'bytes')) return false;
  const valuesEnd = isSingle ? end : reader.lengthEnd(end);
  while (reader.position < valuesEnd) {
    if (element === 'varint') reader.varint64(valuesEnd);
    else reader.fixed64(valuesEnd);
    onValue();
    if (isSingle) return true;
  }
  // A field that is cut off behind its tag.
  if (isSingle) throw reader.corrupt('a number that is cut off', reader.position);
  return true;
}
