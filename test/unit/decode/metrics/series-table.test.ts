import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LabelHash } from '../../../../src/decode/metrics/label-hash.ts';
import { noDay, SeriesTable, slotField } from '../../../../src/decode/metrics/series-table.ts';

describe('the table', () => {
  const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

  test('finds what was inserted, whatever the keys, and nothing else', () => {
    // Few different low halves, so that probes collide; zero and the largest keys among them.
    const low = fc.oneof(fc.integer({ min: -3, max: 3 }), int32);
    const keys = fc.uniqueArray(fc.tuple(low, fc.oneof(fc.integer({ min: -40, max: 40 }), int32)), {
      selector: ([a, b]) => `${a} ${b === 1 && a === 0 ? 0 : b}`,
      maxLength: 200,
    });
    fc.assert(
      fc.property(keys, ([...present]) => {
        const absent = present.splice(0, Math.floor(present.length / 2));
        const table = new SeriesTable(1000);
        for (const [index, [a, b]] of present.entries()) {
          const slot = table.insert(a, b);
          expect(table.words[slot + slotField.day]).toBe(noDay);
          table.words[slot + slotField.metricId] = index;
        }
        expect(table.size).toBe(present.length);
        for (const [index, [a, b]] of present.entries()) {
          expect(table.words[table.find(a, b) + slotField.metricId]).toBe(index);
        }
        for (const [a, b] of absent) expect(table.find(a, b)).toBe(-1);
      }),
      { numRuns: 300 },
    );
  });

  test('keeps all fields of all slots as it grows', () => {
    const table = new SeriesTable(20_000);
    for (let key = 1; key <= 10_000; key++) {
      const slot = table.insert(key, -key);
      for (const offset of Object.values(slotField)) table.words[slot + offset] = key * 10 + offset;
    }
    for (let key = 1; key <= 10_000; key++) {
      const slot = table.find(key, -key);
      for (const offset of Object.values(slotField))
        expect(table.words[slot + offset]).toBe(key * 10 + offset);
    }
  });

  test('starts over when it is full', () => {
    const table = new SeriesTable(3000);
    for (let key = 1; key <= 3001; key++) table.insert(key, key);
    expect(table.size).toBe(1);
    expect(table.find(3000, 3000)).toBe(-1);
    expect(table.find(3001, 3001)).toBeGreaterThanOrEqual(0);
  });
});

describe('the hash', () => {
  const hashOf = (scope: string, text: string, offset = 0): string => {
    const bytes = Buffer.from(' '.repeat(offset) + text);
    const hash = new LabelHash(scope);
    hash.compute(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), offset, bytes.length);
    return `${hash.low} ${hash.high}`;
  };

  test('depends on every byte, the length and the scope, and not on the place in memory', () => {
    const text = 'a label region of 31 characters';
    const hashes = new Set<string>();
    for (let length = 0; length <= text.length; length++) {
      hashes.add(hashOf('scope', text.slice(0, length)));
      hashes.add(hashOf('scope', `${text.slice(0, length)}\u0000`));
      hashes.add(hashOf('other', text.slice(0, length)));
      if (length < text.length)
        hashes.add(hashOf('scope', `${text.slice(0, length)}~${text.slice(length + 1)}`));
    }
    expect(hashes.size).toBe(4 * text.length + 3);
    for (let offset = 1; offset < 8; offset++)
      expect(hashOf('scope', text, offset)).toBe(hashOf('scope', text));
  });

  test('has no collision in half of it among 20,000 labels that differ in a digit', () => {
    const halves = [new Set<string>(), new Set<string>()];
    for (let index = 0; index < 20_000; index++) {
      const [low = '', high = ''] = hashOf('scope', `pod-${index} container="api" zone="eu-west-1"`).split(
        ' ',
      );
      halves[0]?.add(low);
      halves[1]?.add(high);
    }
    // A random function of 32 bits has 0.05 collisions here on average.
    for (const half of halves) expect(half.size).toBeGreaterThan(20_000 - 4);
  });
});
