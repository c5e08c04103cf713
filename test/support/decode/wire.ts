/** The protobuf wire format by hand, for messages that no encoder would make. */

// Fuzzing makes very many fields, nearly all of them small: those are written straight into one
// buffer, or are there.
const oneByte = Array.from({ length: 128 }, (_, value) => Buffer.of(value));

/**
 * A varint; a negative number as its 64-bit two's complement, as `int64` has it. Nobody may write into it.
 */
export function varint(value: number): Buffer {
  const known = oneByte[value];
  if (known !== undefined) return known;
  const bytes: number[] = [];
  // BigInts are slow.
  if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
    return Buffer.from(bytes);
  }
  let rest = value < 0 ? BigInt.asUintN(64, BigInt(value)) : BigInt(value);
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** `sint32` and `sint64`. */
export const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);

export function fixed64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

const tag = (field: number, type: number): Buffer => varint(field * 8 + type);

export const varintField = (field: number, value: number): Buffer =>
  Buffer.concat([tag(field, 0), varint(value)]);
export const doubleField = (field: number, value: number): Buffer =>
  Buffer.concat([tag(field, 1), fixed64(value)]);
export function bytesField(field: number, bytes: Uint8Array): Buffer {
  const { length } = bytes;
  if (field >= 16 || length >= 128) return Buffer.concat([tag(field, 2), varint(length), bytes]);
  const out = Buffer.allocUnsafe(2 + length);
  out[0] = field * 8 + 2;
  out[1] = length;
  out.set(bytes, 2);
  return out;
}
/** A packed repeated field. */
export const packed = (field: number, values: readonly Buffer[]): Buffer =>
  bytesField(field, Buffer.concat(values));
export const message = (fields: readonly Buffer[]): Buffer => Buffer.concat(fields);
