import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteWriter, varintLength } from '../../../src/lib/byte-writer.ts';

/** What is written, and the bytes that it must become. */
const piece = fc.oneof(
  fc.maxSafeNat().map((value) => ({
    write: (out: ByteWriter) => {
      const before = out.length;
      out.varint(value);
      expect(out.length - before).toBe(varintLength(value));
    },
    bytes: leb128(value),
  })),
  fc.maxSafeNat().map((value) => ({
    write: (out: ByteWriter) => out.uint64(value),
    bytes: [...new Uint8Array(new BigUint64Array([BigInt(value)]).buffer)],
  })),
  fc.nat(255).map((value) => ({ write: (out: ByteWriter) => out.byte(value), bytes: [value] })),
  fc.tuple(fc.nat(255), fc.nat(300)).map(([value, count]) => ({
    write: (out: ByteWriter) => out.fill(value, count),
    bytes: Array<number>(count).fill(value),
  })),
  // On both sides of the length from which copying is left to the runtime.
  fc.uint8Array({ maxLength: 200 }).map((bytes) => ({
    write: (out: ByteWriter) =>
      out.copy(Buffer.concat([Buffer.from('<'), bytes, Buffer.from('>')]), 1, 1 + bytes.length),
    bytes: [...bytes],
  })),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => ({
    write: (out: ByteWriter) => out.bytesWithLength(bytes),
    bytes: [...leb128(bytes.length), ...bytes],
  })),
  fc.string({ unit: 'binary', maxLength: 80 }).map((text) => ({
    write: (out: ByteWriter) => out.string(text),
    bytes: [...leb128(Buffer.byteLength(text)), ...Buffer.from(text)],
  })),
);

function leb128(value: number): number[] {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
}

test('what was written is there in order, however the buffer grew', () => {
  fc.assert(
    fc.property(fc.array(piece), fc.nat(100), (pieces, capacity) => {
      const out = new ByteWriter(capacity);
      for (const { write } of pieces) write(out);
      expect([...out.view()]).toEqual(pieces.flatMap(({ bytes }) => bytes));
    }),
    { numRuns: 500 },
  );
});
