import fc from 'fast-check';

/** A change to the bytes of a message, mostly with values that mean something in protobuf. */
export const mutation = fc.record({
  kind: fc.constantFrom('overwrite', 'cut', 'insert'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 3 }),
    fc.constantFrom(0x00, 0x01, 0x09, 0x0a, 0x10, 0x12, 0x7f, 0x80, 0xff).map((byte) => Uint8Array.of(byte)),
  ),
});

export function mutated(
  body: Buffer,
  mutations: readonly { kind: string; at: number; bytes: Uint8Array }[],
): Buffer {
  let result = body;
  for (const { kind, at, bytes } of mutations) {
    const offset = Math.floor(at * result.length);
    const behind = kind === 'insert' ? offset : offset + bytes.length;
    const middle = kind === 'cut' ? [] : [bytes];
    result = Buffer.concat([result.subarray(0, offset), ...middle, result.subarray(behind)]);
  }
  return result;
}
