/** The protobuf wire format by hand, for messages that no encoder would make. */

/** A varint; a negative number as its 64-bit two's complement, as `int64` has it. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  // Fuzzing makes very many, nearly all of them small; BigInts are slow.
  if (value >= 0 && value < 2 ** 31) {
    let small = value;
    for (; small >= 128; small >>>= 7) bytes.push((small & 127) | 128);
    bytes.push(small);
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
export const bytesField = (field: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([tag(field, 2), varint(bytes.length), bytes]);
/** A packed repeated field. */
export const packed = (field: number, values: readonly Buffer[]): Buffer =>
  bytesField(field, Buffer.concat(values));
export const message = (fields: readonly Buffer[]): Buffer => Buffer.concat(fields);
