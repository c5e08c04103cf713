import fc from 'fast-check';
import { compressSync } from 'snappy';
import { describe, expect, test } from 'vitest';
import { Decoder } from '../../../../src/decode/decoder.ts';
import { DecodeOutcomes } from '../../../../src/decode/outcomes.ts';
import { limits } from '../../../../src/limits/limits.ts';
import { bytesField } from '../../../support/decode/wire.ts';
import {
  dayMs,
  fillTable,
  hashes,
  kernel,
  label,
  newDataset,
  noonMs,
  one,
  Pair,
  runs,
  sample,
  series,
  seriesRows,
  taskOf,
} from '../../../support/remote-write/kernel-pair.ts';

describe('of series that are new, the kernel', () => {
  const plain = (...labels: readonly Buffer[]): Buffer => series(...labels, sample(one, noonMs));
  const metric = label('__name__', 'up');
  const text = (length: number): string => 'n'.repeat(length);
  /** A label whose value has a length in one byte more than it needs. */
  const padded = bytesField(1, Buffer.from([0x0a, 1, 0x61, 0x12, 0x81, 0x00, 0x76]));
  const wide = (count: number): Buffer[] =>
    Array.from({ length: count }, (_, n) => label(`l${String(n).padStart(3, '0')}`, 'v'));

  test.each([
    ['the metric name alone', [metric]],
    ['a label before it', [label('A', 'v'), metric]],
    ['the longest name', [metric, label(text(127), 'v')]],
    ['a value with the longest length of one byte', [metric, label('a', text(127))]],
    ['a value with the shortest length of two', [metric, label('a', text(128))]],
    ['a long value', [metric, label('a', text(16_000))]],
    ['the longest metric name', [label('__name__', text(127))]],
    ['a name that begins like the one before', [metric, label('ab', 'v'), label('abc', 'v')]],
    ['as many labels as it has room for', [metric, ...wide(64)]],
  ])('takes %s', (_, labels) => {
    const pair = new Pair();
    expect(pair.taken(plain(...labels))).toBe(1);
    expect(pair.taken(plain(...labels))).toBe(0);
  });

  test.each([
    ['an empty value', [metric, label('a', '')]],
    ['a name without bytes', [metric, label('', 'v')]],
    ['names that do not ascend', [metric, label('b', 'v'), label('a', 'v')]],
    ['a name twice', [metric, label('a', 'v'), label('a', 'v')]],
    ['a name after one that it begins', [metric, label('abc', 'v'), label('ab', 'v')]],
    ['a name that is too long', [metric, label(text(128), 'v')]],
    ['a value that is too long', [metric, label('a', text(17_000))]],
    ['a metric name that is too long', [label('__name__', text(128))]],
    ['no metric name', [label('a', 'v')]],
    ['a name beyond ASCII', [metric, label('ä', 'v')]],
    ['a value beyond ASCII', [metric, label('a', 'ä')]],
    ['bytes that are no text', [metric, bytesField(1, Buffer.from([0x0a, 1, 0x61, 0x12, 1, 0xff]))]],
    ['a length of more bytes than it needs', [metric, padded]],
    ['the value first', [metric, bytesField(1, Buffer.from([0x12, 1, 0x76, 0x0a, 1, 0x61]))]],
    ['a third field', [metric, bytesField(1, Buffer.from([0x0a, 1, 0x61, 0x12, 1, 0x76, 0x18, 1]))]],
    ['a label without fields', [metric, bytesField(1, Buffer.alloc(0))]],
    ['more labels than it has room for', [metric, ...wide(65)]],
  ])('leaves %s', (_, labels) => {
    expect(new Pair().taken(plain(...labels))).toBe(0);
  });

  test('leaves samples of two days, and takes those of one', () => {
    const at = (...times: readonly number[]): number =>
      new Pair().taken(series(metric, ...times.map((ms) => sample(one, ms))));
    expect(at(noonMs, noonMs + 1, noonMs - 1)).toBe(3);
    expect(at(noonMs, noonMs + dayMs)).toBe(0);
    expect(at(0)).toBe(1);
    expect(at(limits.maxSampleTimestampMs)).toBe(1);
    expect(at(limits.maxSampleTimestampMs + 1)).toBe(0);
  });

  test('leaves the one for which the table would have to grow', () => {
    const pair = new Pair();
    fillTable();
    expect(pair.taken(plain(metric))).toBe(0);
    expect(kernel.table.room).toBeGreaterThan(0);
    expect(pair.taken(plain(metric, label('a', 'v')))).toBe(1);
  });

  test('makes of labels of any length the ids and the rows that the decoder makes', () => {
    const ascii = (minLength: number, maxLength: number) =>
      fc.string({ minLength, maxLength, unit: 'binary-ascii' });
    const labels = fc.uniqueArray(fc.tuple(ascii(1, 40), fc.oneof(ascii(1, 60), ascii(1, 300))), {
      selector: ([name]) => name,
      maxLength: 20,
    });
    fc.assert(
      fc.property(ascii(1, 127), fc.array(labels, { minLength: 1, maxLength: 8 }), (name, lists) => {
        const all = lists.map((list) => {
          const pairs = [['__name__', name] as const, ...list.filter(([one]) => one !== '__name__')];
          const sorted = pairs.toSorted(([a], [b]) => (a < b ? -1 : 1));
          return sorted.map(([one, value]) => label(one, value));
        });
        const message = Buffer.concat(all.map((list) => plain(...list)));
        const pair = new Pair();
        pair.decode(message);
        expect(kernel.samples).toBe(new Set(all.map((l) => Buffer.concat(l).toString('latin1'))).size);
      }),
      runs(400),
    );
  });

  test('has room for some thousand names, and leaves what has more', () => {
    const some = (from: number, count: number): Buffer =>
      Buffer.concat(
        Array.from({ length: count }, (_, n) =>
          plain(label('__name__', `m${from + n}`), label(`l${from + n}`, 'v')),
        ),
      );
    expect(new Pair().taken(some(0, 300))).toBeGreaterThan(290);
    const taken = new Pair().taken(some(0, 9000));
    expect(taken).toBeGreaterThan(8000);
    expect(taken).toBeLessThan(8192);
    expect(new Pair().taken(some(9000, 300))).toBeGreaterThan(290);
  });

  test('has room for some ten thousand series, and leaves the rest', () => {
    const message = Buffer.concat(
      Array.from({ length: 70_000 }, (_, n) => plain(metric, label('n', String(n)))),
    );
    const decoder = new Decoder(new DecodeOutcomes(), hashes, kernel);
    const result = decoder.decode(taskOf(newDataset(), 1, compressSync(message)));
    expect(kernel.samples).toBe(65_536);
    const rows = result.ok ? result.blocks.filter(({ table }) => table === 'series') : [];
    expect(rows.reduce((sum, block) => sum + block.rows, 0)).toBe(70_000);
    expect(result).toMatchObject({ counts: { samples: 70_000 } });
  });

  test('does not take for stored what a refused request had', () => {
    const pair = new Pair();
    const bad = plain(metric, label('a', 'v'), label('a', 'v'));
    const fresh = plain(metric, label('fresh', '1'));
    expect(pair.decode(Buffer.concat([fresh, bad]))).toMatchObject({ ok: false, code: 'bad_series' });
    expect(seriesRows(pair.decode(fresh))).toHaveLength(1);
    pair.commit();
    expect(seriesRows(pair.decode(fresh))).toHaveLength(0);
  });
});
