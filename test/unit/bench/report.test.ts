import { expect, it } from 'vitest';
import type { Measurement } from '../../../bench/measure.ts';
import { resultBars, resultTable } from '../../../bench/report.ts';

const measured = (cpuSecondsPerMillion: number): Measurement => ({
  cpuSecondsPerMillion,
  itemsPerSecond: 1000,
  ackP50Ms: 1,
  ackP99Ms: 2,
  idleRssBytes: 3e6,
  peakRssBytes: 4e6,
  diskBytesPerItem: 5,
});
const cases = [
  {
    name: 'known',
    results: [
      { receiver: 'ours', outcome: measured(0.5) },
      { receiver: 'peer', outcome: measured(1.25) },
      { receiver: 'other', outcome: 'not on the PATH' },
    ],
  },
];

it('compares the CPU of each receiver with our own', () => {
  const lines = resultTable(cases, 'ours').split('\n');
  const cells = lines.map((line) => line.split('|').map((cell) => cell.trim()));
  const column = cells[0]?.indexOf('against ours') ?? -1;
  expect(cells[2]?.[column]).toBe('1.00 x');
  expect(cells[3]?.[column]).toBe('2.50 x');
});

it('says in the row of a receiver why it has no figures', () => {
  const [head = '', , , , row = ''] = resultTable(cases, 'ours').split('\n');
  expect(row).toContain('not on the PATH');
  expect(row.split('|')).toHaveLength(head.split('|').length);
  expect(resultBars(cases)[0]?.bars[2]).toEqual({ name: 'other', value: 'not on the PATH' });
});
