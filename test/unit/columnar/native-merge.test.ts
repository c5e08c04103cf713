import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { UIntColumn } from '../../../src/columnar/columns.ts';
import { LowCardinalityColumn, MapColumn } from '../../../src/columnar/dictionary-columns.ts';
import { type BlockColumn, encodeNativeBlock } from '../../../src/columnar/native-block.ts';
import { type CountedBlock, mergeNativeBlocks } from '../../../src/columnar/native-merge.ts';
import { UnreadableBlock } from '../../../src/columnar/native-reader.ts';
import { anyRow, buildColumns } from '../../support/clickhouse/any-rows.ts';
import { NativeFiles } from '../../support/clickhouse/native-file.ts';

const files = new NativeFiles();
afterAll(() => files.close());

/** NaN has many bit patterns, which are equal in JSON only. */
const select = '* REPLACE (reinterpretAsUInt64(bits) AS bits)';
const blockOf = (columns: readonly BlockColumn[], rows: number): CountedBlock => ({
  rows,
  bytes: encodeNativeBlock(columns, rows),
});
const columnsOf = (columns: readonly BlockColumn[]) => columns.map(({ name, type }) => ({ name, type }));
const anyColumns = columnsOf(buildColumns([]));
const words = (texts: readonly string[]): LowCardinalityColumn => {
  const column = new LowCardinalityColumn('word');
  for (const text of texts) column.append(Buffer.from(text));
  return column;
};

describe('blocks merged into one', () => {
  test('hold the rows of all in their order, as the engine reads them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyRow, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 5 }),
        async (requests) => {
          const blocks = requests.map((rows) => blockOf(buildColumns(rows), rows.length));
          const merged = mergeNativeBlocks(blocks, anyColumns);
          const separate = await files.read(
            blocks.map(({ bytes }) => bytes),
            select,
          );
          expect(await files.read([merged], select)).toEqual(separate);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('have one dictionary, however large it becomes', async () => {
    const names = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => `n${from + index}`);
    const requests = [['', 'n5'], names(0, 200), names(100, 300), names(0, 66_000)];
    const blocks = requests.map((texts) => blockOf([words(texts)], texts.length));
    const merged = mergeNativeBlocks(blocks, columnsOf([words([])]));
    expect((await files.read([merged])).map((row) => row['word'])).toEqual(requests.flat());
  });

  test('may have no value in a dictionary', async () => {
    const empty = new MapColumn('map');
    empty.endRow();
    const one = new MapColumn('map');
    const pair = Buffer.from('ab');
    one.appendPair(pair, 0, 1, 1, 2);
    one.endRow();
    const blocks = [blockOf([empty], 1), blockOf([one], 1), blockOf([empty], 1)];
    const merged = mergeNativeBlocks(blocks, columnsOf([one]));
    expect(await files.read([merged])).toEqual([{ map: {} }, { map: { a: 'b' } }, { map: {} }]);
  });
});

describe('a block that is not like the others is refused', () => {
  const good = blockOf([words(['a', 'b'])], 2);
  const columns = columnsOf([words([])]);
  const changed = (change: (bytes: Buffer) => void): CountedBlock => {
    const bytes = Buffer.from(good.bytes);
    change(bytes);
    return { rows: 2, bytes };
  };

  test.each([
    ['other columns', blockOf([new UIntColumn('word', 'UInt8', 8, 2)], 2)],
    ['another number of rows', { ...good, rows: 3 }],
    ['an index that points nowhere', changed((bytes) => bytes.writeUInt8(99, bytes.length - 1))],
    ['another number of values', changed((bytes) => bytes.writeUInt8(9, bytes.length - 10))],
    ['no keys of its own', changed((bytes) => bytes.writeUInt8(0x01, 33))],
    ['its end missing', { rows: 2, bytes: good.bytes.subarray(0, -1) }],
    ['something behind it', { rows: 2, bytes: Buffer.concat([good.bytes, Buffer.alloc(1)]) }],
  ])('%s', (_, bad) => {
    expect(() => mergeNativeBlocks([good, bad], columns)).toThrow(UnreadableBlock);
    expect(() => mergeNativeBlocks([bad, good], columns)).toThrow(UnreadableBlock);
  });

  test('bytes at random', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(100), (bytes, at) => {
        const cut = Buffer.concat([good.bytes.subarray(0, at % good.bytes.length), bytes]);
        try {
          mergeNativeBlocks([good, { rows: 2, bytes: cut }], columns);
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableBlock);
        }
      }),
    );
  });
});
