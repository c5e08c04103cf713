import { expect, test } from 'vitest';
import { judge, type Sample } from '../../../bench/gauges.ts';

const base: Sample = {
  atSeconds: 0,
  cpuSeconds: 0,
  rssMb: 500,
  heapMb: 20,
  externalMb: 4,
  descriptors: 120,
  threads: 50,
  walSegments: 1,
  walKb: 80,
  lagSeconds: 0.5,
  parts: 300,
  replayKb: 1000,
};

/** A run of 400 samples, each as the base but for what `change` says of it. */
const run = (change: (index: number) => Partial<Sample>): Sample[] =>
  Array.from({ length: 400 }, (_, index) => ({ ...base, atSeconds: index, ...change(index) }));

const growing = (samples: readonly Sample[]): string[] =>
  judge(samples)
    .filter(({ isSteady }) => !isSteady)
    .map(({ title }) => title);

test('nothing grows in a run that stays as it is', () => {
  expect(growing(run(() => ({})))).toEqual([]);
});

test('what grows through the first half only has warmed up', () => {
  const warmUp = (index: number) => Math.min(1, index / 200);
  const samples = run((index) => ({ rssMb: 300 + 300 * warmUp(index), threads: 20 + 150 * warmUp(index) }));
  expect(growing(samples)).toEqual([]);
});

test('peaks are not growth', () => {
  const samples = run((index) => (index > 300 && index % 3 === 0 ? { rssMb: 900, walSegments: 9 } : {}));
  expect(growing(samples)).toEqual([]);
});

test.each([
  ['RSS MB', (index: number) => ({ rssMb: 400 + index / 2 })],
  ['descriptors', (index: number) => ({ descriptors: 100 + index / 5 })],
  ['threads', (index: number) => ({ threads: 50 + Math.floor(index / 10) })],
  ['WAL segments', (index: number) => ({ walSegments: 1 + Math.floor(index / 50) })],
  ['lag s', (index: number) => ({ lagSeconds: index / 50 })],
  ['replay journal kB', (index: number) => ({ replayKb: 10 * index })],
])('%s that grows to the end is seen, and nothing else', (title, change) => {
  expect(growing(run(change))).toEqual([title]);
});

test('what shrinks is steady', () => {
  expect(growing(run((index) => ({ parts: 2000 - 4 * index })))).toEqual([]);
});

test('a run of next to no samples is not judged', () => {
  expect(() => judge([base, base])).toThrow('2 samples are too few to judge by');
});
