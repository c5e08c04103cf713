import fc from 'fast-check';
import { ArrayColumn } from '../../../src/columnar/array-column.ts';
import { Column64, StringColumn, UIntColumn } from '../../../src/columnar/columns.ts';
import { LowCardinalityColumn, MapColumn } from '../../../src/columnar/dictionary-columns.ts';
import type { BlockColumn } from '../../../src/columnar/native-block.ts';
import {
  NullableBoolColumn,
  NullableFloat64Column,
  NullableStringColumn,
} from '../../../src/columnar/nullable-columns.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 200 });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
/** A row for append-only columns. */
const denseRow = fc.record({
  day: fc.nat(0xffff),
  id: fc.nat(0xffff_ffff),
  tiny: fc.integer({ min: -128, max: 127 }),
  wides: fc.array(uint64, { maxLength: 4 }),
  offsets: fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 4 }),
  wide: uint64,
  bits: uint64,
  micros: fc.bigInt({ min: 0n, max: 4_102_444_800_000_000n }),
  text,
  word: fc.constantFrom('', 'up', 'down', 'größer', '漢字'),
  map: fc.dictionary(fc.string({ minLength: 1, maxLength: 12 }), text, { maxKeys: 5 }),
});
const sparseRow = fc.record({
  num: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  str: fc.option(text),
  bool: fc.option(fc.boolean()),
});
/** A row of a block that has a column of each type that decoders write. */
export const anyRow = fc.tuple(denseRow, sparseRow);
export type AnyRow = typeof anyRow extends fc.Arbitrary<infer T> ? T : never;

const half = (value: bigint, shift: bigint): number => Number(BigInt.asIntN(32, value >> shift));

export function buildColumns(rows: readonly AnyRow[]): BlockColumn[] {
  const day = new UIntColumn('day', 'Date', 16, 1);
  const id = new UIntColumn('id', 'UInt32', 32, 1);
  const tiny = new UIntColumn('tiny', 'Int8', 8, 1);
  const wides = new ArrayColumn(new Column64('wides', 'UInt64', 1));
  const offsets = new ArrayColumn(new UIntColumn('offsets', 'Int32', 32, 1));
  const wide = new Column64('wide', 'UInt64', 1);
  const bits = new Column64('bits', 'Float64', 1);
  const micros = new Column64('micros', "DateTime64(6, 'UTC')", 1);
  const string = new StringColumn('text', 1);
  const word = new LowCardinalityColumn('word');
  const map = new MapColumn('map');
  const num = new NullableFloat64Column('num', 1);
  const str = new NullableStringColumn('str', 1);
  const bool = new NullableBoolColumn('bool', 1);
  for (const [index, [dense, sparse]] of rows.entries()) {
    day.append(dense.day);
    id.append(dense.id);
    tiny.append(dense.tiny);
    for (const value of dense.wides) wides.elements.append(half(value, 0n), half(value, 32n));
    wides.endRow();
    for (const value of dense.offsets) offsets.elements.append(value);
    offsets.endRow();
    wide.append(half(dense.wide, 0n), half(dense.wide, 32n));
    bits.append(half(dense.bits, 0n), half(dense.bits, 32n));
    micros.appendInteger(Number(dense.micros));
    string.append(Buffer.from(dense.text));
    word.append(Buffer.from(dense.word));
    for (const [key, value] of Object.entries(dense.map)) {
      const pair = Buffer.from(key + value);
      const split = Buffer.byteLength(key);
      map.appendPair(pair, 0, split, split, pair.length);
    }
    map.endRow();
    if (sparse.num !== null) num.set(index, sparse.num);
    if (sparse.str !== null) {
      const bytes = Buffer.from(sparse.str);
      str.set(index, bytes, 0, bytes.length);
    }
    if (sparse.bool !== null) bool.set(index, sparse.bool);
  }
  return [day, id, tiny, wides, offsets, wide, bits, micros, string, word, map, num, str, bool];
}
