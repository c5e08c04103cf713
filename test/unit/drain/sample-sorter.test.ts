import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Column64, UIntColumn } from '../../../src/columnar/columns.ts';
import { encodeTableBlock } from '../../../src/columnar/native-block.ts';
import { SampleSorter } from '../../../src/drain/sample-sorter.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { TableBlock } from '../../../src/model/block.ts';
import { nativeRows } from '../../support/clickhouse/native-rows.ts';
import { compileSorter } from '../../support/remote-write/compile-kernel.ts';

let turns = 0;
const turn = async (): Promise<void> => {
  turns += 1;
};
const sorter = new SampleSorter(compileSorter(), { turn });

/** metric_id, series_id, timestamp, bits of the value. */
type Sample = readonly [metric: number, series: bigint, timestamp: bigint, bits: bigint];

const low = (value: bigint): number => Number(BigInt.asUintN(32, value));
const high = (value: bigint): number => Number(BigInt.asUintN(32, value >> 32n));

/** @param withStart with a column that not all blocks have */
function blockOf(samples: readonly Sample[], withStart = false): TableBlock {
  const metric = new UIntColumn('metric_id', 'UInt32', 32, 1);
  const wide = (name: string, type: string) => new Column64(name, type, 1);
  const series = wide('series_id', 'UInt64');
  const timestamp = wide('timestamp', "DateTime64(3, 'UTC')");
  const value = wide('value', 'Float64');
  const start = wide('start_timestamp', "DateTime64(3, 'UTC')");
  for (const [metricId, ...rest] of samples) {
    metric.append(metricId);
    for (const [index, column] of [series, timestamp, value].entries()) {
      const bits = rest[index] ?? 0n;
      column.append(low(bits), high(bits));
    }
    start.append(1, 0);
  }
  const columns = [metric, series, timestamp, value, ...(withStart ? [start] : [])];
  return encodeTableBlock('samples', columns, samples.length);
}

/** Read by the bits: a NaN in a number may lose its payload. */
function samplesOf(block: TableBlock): Sample[] {
  const asBits = Buffer.from(block.bytes);
  const type = asBits.indexOf('Float64');
  // A type with as many letters.
  asBits.write('UInt64 ', type, 'latin1');
  asBits.writeUInt8(6, type - 1);
  const bytes = Buffer.concat([asBits.subarray(0, type + 6), asBits.subarray(type + 7)]);
  return nativeRows({ ...block, bytes }).map((row) => [
    Number(row['metric_id']),
    BigInt(String(row['series_id'])),
    BigInt(String(row['timestamp'])),
    BigInt(String(row['value'])),
  ]);
}

async function sorted(blocks: readonly TableBlock[]): Promise<Sample[]> {
  const bytes = await sorter.sort(blocks);
  if (bytes === undefined) throw new Error('It was left to the store');
  const rows = blocks.reduce((sum, block) => sum + block.rows, 0);
  return samplesOf({ table: 'samples', columns: [], rows, bytes });
}

const compare = (a: Sample, b: Sample): number => {
  for (let key = 0; key < a.length; key++) {
    const [left = 0, right = 0] = [a[key], b[key]];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
};
const bySeries = ([metric, series]: Sample, [otherMetric, otherSeries]: Sample): number =>
  compare([metric, series, 0n, 0n], [otherMetric, otherSeries, 0n, 0n]);

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
/** Few series, so that they repeat; some ids of which only a half differs. */
const anySample: fc.Arbitrary<Sample> = fc.tuple(
  fc.constantFrom(0, 1, 7, 0xffff_ffff),
  fc.oneof(fc.constantFrom(0n, 1n, 2n ** 63n, 2n ** 32n, 2n ** 32n + 1n), uint64),
  fc.bigInt({ min: 0n, max: 4_294_967_295_999n }),
  fc.oneof(fc.constant(0x7ff0_0000_0000_0002n), uint64),
);
const anyBlocks = fc.array(fc.array(anySample, { minLength: 1, maxLength: 40 }), {
  minLength: 1,
  maxLength: 12,
});

/** A scrape of these series, in requests of 30 samples. */
const scrape = (count: number, time: bigint): TableBlock[] => {
  const samples = Array.from({ length: count }, (_, index): Sample => {
    const id = BigInt.asUintN(64, BigInt(index) * 0x9e37_79b1_85eb_ca87n);
    return [(index * 7919) % 13, id, time, BigInt(index)];
  });
  return Array.from({ length: Math.ceil(count / 30) }, (_, part) =>
    blockOf(samples.slice(30 * part, 30 * part + 30)),
  );
};

describe('samples in order', () => {
  test('are the same samples, series by series', async () => {
    await fc.assert(
      fc.asyncProperty(anyBlocks, async (batch) => {
        const result = await sorted(batch.map((samples) => blockOf(samples)));
        expect(result).toEqual(result.toSorted(bySeries));
        expect(result.toSorted(compare)).toEqual(batch.flat().sort(compare));
      }),
      { numRuns: 200 },
    );
  });

  test('are in the whole order of the table, if each scrape sends its series in the same order', async () => {
    const result = await sorted([100n, 200n, 300n].flatMap((time) => scrape(1000, time)));
    expect(result).toHaveLength(3000);
    expect(result).toEqual(result.toSorted(compare));
  });

  test('are the same bytes each time, also of batches at the same time, and others have their turn', async () => {
    const few = scrape(100, 1n);
    const many = [1n, 2n].flatMap((time) => scrape(20_000, time));
    turns = 0;
    const [first, other, second] = await Promise.all([few, many, few].map((blocks) => sorter.sort(blocks)));
    const isSame = (a: Uint8Array | undefined, b: Uint8Array | undefined) =>
      a !== undefined && b !== undefined && Buffer.compare(a, b) === 0;
    expect(isSame(first, second)).toBe(true);
    expect(isSame(other, await sorter.sort(many))).toBe(true);
    // Twice 40,000 rows, each looked at twice.
    expect(turns).toBeGreaterThanOrEqual(Math.floor((4 * 40_000) / limits.sortedSamplesPerTurn) - 1);
  });

  test('are those of more blocks than a call takes arguments', async () => {
    const block = blockOf([[1, 2n, 3n, 4n]]);
    expect(await sorter.sort(Array.from({ length: 150_000 }, () => block))).toBeDefined();
  });

  test('is left to the store for other columns, and for too many series', async () => {
    const plain = blockOf([[1, 1n, 1n, 1n]]);
    expect(await sorter.sort([plain, blockOf([[1, 1n, 1n, 1n]], true)])).toBeUndefined();
    const cut = { ...plain, bytes: plain.bytes.subarray(0, -1) };
    expect(await sorter.sort([cut])).toBeUndefined();
    expect(await sorter.sort([])).toBeUndefined();
    const different = Array.from(
      { length: limits.maxSortedSeries + 1 },
      (_, id): Sample => [1, BigInt(id), 0n, 0n],
    );
    expect(await sorter.sort([blockOf(different)])).toBeUndefined();
    expect(await sorter.sort([plain])).toBeDefined();
  });
});
