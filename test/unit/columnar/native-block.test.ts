import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { LowCardinalityColumn, MapColumn } from '../../../src/columnar/dictionary-columns.ts';
import { encodeNativeBlock } from '../../../src/columnar/native-block.ts';
import {
  NullableBoolColumn,
  NullableFloat64Column,
  NullableStringColumn,
} from '../../../src/columnar/nullable-columns.ts';
import { anyRow, buildColumns } from '../../support/clickhouse/any-rows.ts';
import { NativeFiles } from '../../support/clickhouse/native-file.ts';

const files = new NativeFiles();
afterAll(() => files.close());

describe('Native blocks, read back by the engine', () => {
  const select = `toUInt16(day) AS day, id, tiny, wides, offsets, wide, reinterpretAsUInt64(bits) AS bits,
    toUnixTimestamp64Micro(micros) AS micros, text, word, map, num, str, bool`;

  test('every type holds what was put in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 300 }), async (rows) => {
        const block = encodeNativeBlock(buildColumns(rows), rows.length);
        const read = await files.read([block], select);
        const expected = rows.map(([dense, sparse]) => ({
          ...dense,
          wides: dense.wides.map(String),
          wide: String(dense.wide),
          bits: String(dense.bits),
          micros: String(dense.micros),
          map: { ...dense.map },
          ...sparse,
        }));
        expect(read).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test('the types are those that were declared', async () => {
    const [first] = await files.read(
      [encodeNativeBlock(buildColumns(fc.sample(anyRow, 2)), 2)],
      'toTypeName(tuple(*)) AS types',
    );
    expect(first?.['types']).toBe(
      "Tuple(Date, UInt32, Int8, Array(UInt64), Array(Int32), UInt64, Float64, DateTime64(6, 'UTC'), String, LowCardinality(String), " +
        'Map(LowCardinality(String), String), Nullable(Float64), Nullable(String), Nullable(Bool))',
    );
  });

  test('a dictionary of more than 65,535 strings takes wider indexes', async () => {
    for (const count of [255, 256, 65_535, 65_536]) {
      const column = new LowCardinalityColumn('word');
      for (let index = 0; index < count; index++) column.append(Buffer.from(`w${index}`));
      const [first] = await files.read(
        [encodeNativeBlock([column], count)],
        "count() AS rows, uniqExact(word) AS words, countIf(word = 'w' || toString(rowNumberInAllBlocks())) AS right",
      );
      expect(first).toEqual({ rows: String(count), words: String(count), right: String(count) });
    }
  });

  test('a map column without a single pair is read', async () => {
    const map = new MapColumn('map');
    map.endRow();
    map.endRow();
    expect(await files.read([encodeNativeBlock([map], 2)])).toEqual([{ map: {} }, { map: {} }]);
  });

  test('a block goes into columns of the same types by INSERT', async () => {
    const rows = fc.sample(anyRow, 50);
    const block = encodeNativeBlock(buildColumns(rows), rows.length);
    await files.command(
      'CREATE TABLE m (word LowCardinality(String), map Map(LowCardinality(String), String)) ENGINE = Memory',
    );
    const read = await files.read([block], 'word, map');
    await files.insert('m', 'word, map');
    expect(await files.query('SELECT word, map FROM m')).toEqual(read);
  });
});

describe('sparse columns', () => {
  test('a column that begins late is null before, one that ends early is null after', async () => {
    const str = new NullableStringColumn('str', 4);
    const num = new NullableFloat64Column('num', 4);
    const bool = new NullableBoolColumn('bool', 4);
    str.set(5000, Buffer.from('x'), 0, 1);
    num.set(5000, 1.5);
    bool.set(5000, true);
    const read = await files.read(
      [encodeNativeBlock([str, num, bool], 6000)],
      'rowNumberInAllBlocks() AS row, *',
    );
    expect(read).toHaveLength(6000);
    expect(read.filter(({ str, num, bool }) => str !== null || num !== null || bool !== null)).toEqual([
      { row: '5000', str: 'x', num: 1.5, bool: true },
    ]);
  });

  test('taking back a value that the row does not have changes nothing', async () => {
    const str = new NullableStringColumn('str', 4);
    const num = new NullableFloat64Column('num', 4);
    const bool = new NullableBoolColumn('bool', 4);
    str.set(0, Buffer.from('x'), 0, 1);
    num.set(0, 1);
    bool.set(0, true);
    for (const column of [str, num, bool]) column.unset(2);
    const nulls = { str: null, num: null, bool: null };
    expect(await files.read([encodeNativeBlock([str, num, bool], 3)])).toEqual([
      { str: 'x', num: 1, bool: true },
      nulls,
      nulls,
    ]);
  });

  test('a value that was taken back is null, and the row can be set again', async () => {
    const str = new NullableStringColumn('str', 4);
    const num = new NullableFloat64Column('num', 4);
    const bool = new NullableBoolColumn('bool', 4);
    for (const row of [0, 2, 3]) {
      str.set(row, Buffer.from('old'), 0, 3);
      num.set(row, 1);
      bool.set(row, true);
      if (row === 0) continue;
      for (const column of [str, num, bool]) column.unset(row);
      // Nothing is left to take back: an earlier row stays.
      for (const column of [str, num, bool]) column.unset(row);
    }
    str.set(3, Buffer.from('new'), 0, 3);
    num.set(3, 2);
    bool.set(3, false);
    expect(await files.read([encodeNativeBlock([str, num, bool], 5)])).toEqual([
      { str: 'old', num: 1, bool: true },
      { str: null, num: null, bool: null },
      { str: null, num: null, bool: null },
      { str: 'new', num: 2, bool: false },
      { str: null, num: null, bool: null },
    ]);
  });
});
