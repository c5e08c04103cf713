import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { datasetStatements, metadataStatements } from '../../../src/clickhouse/table-definitions.ts';
import { LowCardinalityColumn } from '../../../src/columnar/dictionary-columns.ts';
import { type BlockColumn, encodeNativeBlock } from '../../../src/columnar/native-block.ts';
import { UnreadableBlock } from '../../../src/columnar/native-reader.ts';
import { sliceNativeBlock } from '../../../src/columnar/native-slice.ts';
import { quoteString } from '../../../src/lib/quote.ts';
import { fieldColumnType } from '../../../src/model/column.ts';
import { type DatasetKind, tablesOfKind } from '../../../src/model/dataset.ts';
import { anyRow, buildColumns } from '../../support/clickhouse/any-rows.ts';
import { NativeFiles } from '../../support/clickhouse/native-file.ts';
import { packageRoot } from '../../support/lib/package-root.ts';

const files = new NativeFiles();
afterAll(() => files.close());

/** NaN has many bit patterns, which are equal in JSON only. */
const select = 'rowNumberInAllBlocks() AS row, * REPLACE (reinterpretAsUInt64(bits) AS bits)';

const someRows = fc.array(anyRow, { minLength: 1, maxLength: 40 });

describe('a slice of a block', () => {
  test('holds these rows and no others, as the engine reads them', async () => {
    await fc.assert(
      fc.asyncProperty(someRows, fc.nat(), fc.nat(), async (rows, start, length) => {
        const from = start % rows.length;
        const to = from + 1 + (length % (rows.length - from));
        const block = encodeNativeBlock(buildColumns(rows), rows.length);
        const slice = sliceNativeBlock(block, rows.length, from, to);
        const whole = await files.read([block], select);
        const expected = whole.slice(from, to).map((row, index) => ({ ...row, row: String(index) }));
        // Another block follows: were there a byte too many or too few, it could not be read.
        const onlyRow = buildColumns(rows.slice(0, 1));
        const read = await files.read([slice, encodeNativeBlock(onlyRow, 1)], select);
        expect(read.slice(0, -1)).toEqual(expected);
        expect(read.at(-1)).toEqual({ ...whole[0], row: String(to - from) });
      }),
      { numRuns: 100 },
    );
  });

  test('of everything is the block itself', () => {
    fc.assert(
      fc.property(someRows, (rows) => {
        const block = encodeNativeBlock(buildColumns(rows), rows.length);
        expect(Buffer.compare(sliceNativeBlock(block, rows.length, 0, rows.length), block)).toBe(0);
      }),
    );
  });

  test('of a slice is the same as of the block', () => {
    fc.assert(
      fc.property(fc.array(anyRow, { minLength: 4, maxLength: 20 }), (rows) => {
        const block = encodeNativeBlock(buildColumns(rows), rows.length);
        const middle = sliceNativeBlock(block, rows.length, 1, rows.length);
        const inner = sliceNativeBlock(middle, rows.length - 1, 1, 2);
        expect(Buffer.compare(inner, sliceNativeBlock(block, rows.length, 2, 3))).toBe(0);
      }),
    );
  });

  test.each([
    ['Array(String)', ['a', 'b,c']],
    ['Array(Nullable(UInt64))', ['7', null]],
    ['Array(Array(Int32))', [[1], [2, 3]]],
    ['Map(String, Array(LowCardinality(String)))', { k: ['x', 'x', 'y'] }],
    ['Map(LowCardinality(String), Array(UInt8))', { k: [1], l: [] }],
    ['LowCardinality(Nullable(String))', null],
    ["DateTime64(3, 'Europe/Berlin')", '2024-05-06 07:08:09.123'],
  ])('of the type %s, which is nested or has arguments, is read by the engine', async (type, value) => {
    const values = [value, value, value];
    const json = values.map((raw) => JSON.stringify({ raw })).join('\n');
    const bytes = await files.nativeBlock(
      `SELECT raw FROM format(JSONEachRow, ${quoteString(`raw ${type}`)}, ${quoteString(json)})`,
    );
    expect(await files.read([sliceNativeBlock(bytes, 3, 1, 3)])).toEqual([{ raw: value }, { raw: value }]);
  });

  test('keeps a dictionary index that points nowhere with its row', async () => {
    const column = new LowCardinalityColumn('word');
    for (const word of ['a', 'b', 'c']) column.append(Buffer.from(word));
    const block = encodeNativeBlock([column], 3);
    // The indexes of three rows are the last three bytes.
    block[block.length - 2] = 99;
    for (const [row, word] of [
      [0, 'a'],
      [2, 'c'],
    ] as const) {
      expect(await files.read([sliceNativeBlock(block, 3, row, row + 1)])).toEqual([{ word }]);
    }
    await expect(files.read([sliceNativeBlock(block, 3, 1, 2)])).rejects.toThrow('out of range');
  });
});

describe('what is no block', () => {
  const columns = buildColumns(fc.sample(anyRow, { numRuns: 5, seed: 1 }));
  const block = encodeNativeBlock(columns, 5);

  test('is refused at any length', () => {
    for (let length = 0; length < block.length; length += 1) {
      expect(() => sliceNativeBlock(block.subarray(0, length), 5, 0, 1)).toThrow(UnreadableBlock);
    }
    expect(() => sliceNativeBlock(Buffer.concat([block, Buffer.alloc(1)]), 5, 0, 1)).toThrow(
      '1 bytes follow the block',
    );
  });

  test('is refused, or cut somehow, whatever its bytes are', () => {
    fc.assert(
      fc.property(fc.nat(block.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(block);
        changed[at] = byte;
        try {
          sliceNativeBlock(changed, 5, 1, 3);
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableBlock);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('another number of rows than was said is refused', () => {
    expect(() => sliceNativeBlock(block, 4, 0, 1)).toThrow('the block has 5 rows, not 4');
  });

  test('a type that nobody writes is refused by its name', () => {
    const tuple: BlockColumn = {
      name: 'raw',
      type: 'Tuple(String)',
      byteLength: () => 2,
      writeTo: (out) => out.copy(Buffer.from([1, 65])),
    };
    const strange = encodeNativeBlock([tuple], 1);
    expect(() => sliceNativeBlock(strange, 1, 0, 1)).toThrow('Tuple(String)');
  });
});

test('every type in the tables of the service can be cut', async () => {
  const templates = readdirSync(join(packageRoot(), 'schema/clickhouse'));
  const kinds = (Object.keys(tablesOfKind) as DatasetKind[]).filter((kind) =>
    templates.includes(`${kind}.sql`),
  );
  expect(kinds.length).toBe(templates.length - 1);
  const statements = kinds.flatMap((kind) => datasetStatements('default', kind, kind));
  for (const statement of [...metadataStatements(), ...statements]) await files.command(statement);
  const types = await files.query("SELECT DISTINCT type FROM system.columns WHERE database = 't_default'");
  expect(types.length).toBeGreaterThan(5);
  for (const type of [...types.map((row) => String(row['type'])), ...Object.values(fieldColumnType)]) {
    const bytes = await files.nativeBlock(`SELECT defaultValueOfTypeName(${quoteString(type)}) AS raw`);
    expect(sliceNativeBlock(bytes, 1, 0, 1).length, type).toBe(bytes.length);
  }
});
