import type { BarGroup } from './chart.ts';
import { markdownTable } from './markdown-table.ts';
import type { Measurement } from './measure.ts';

/** The result of all receivers with one workload: figures, or why there are none. */
export interface CaseResults {
  readonly name: string;
  readonly results: ReadonlyArray<{ readonly receiver: string; readonly outcome: Measurement | string }>;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

/** The figures that the table shows, in its order; the first is shown against that of `own` besides. */
const columns: ReadonlyArray<readonly [string, (measured: Measurement) => string]> = [
  ['items / s', ({ itemsPerSecond }) => itemsPerSecond.toFixed(0)],
  ['ack p50 ms', ({ ackP50Ms }) => ackP50Ms.toFixed(1)],
  ['ack p99 ms', ({ ackP99Ms }) => ackP99Ms.toFixed(1)],
  ['idle RSS MB', ({ idleRssBytes }) => megabytes(idleRssBytes)],
  ['peak RSS MB', ({ peakRssBytes }) => megabytes(peakRssBytes)],
  ['disk B / item', ({ diskBytesPerItem }) => diskBytesPerItem.toFixed(1)],
];

/**
 * One row for each workload and receiver. @param own the receiver with whose CPU that of the others is
 * compared
 */
export function resultTable(cases: readonly CaseResults[], own: string): string {
  const rows = cases.flatMap(({ name, results }) => {
    const ownCpu = cpuOf(results.find(({ receiver }) => receiver === own)?.outcome);
    return results.map(({ receiver, outcome }) => [
      name,
      receiver,
      ...(typeof outcome === 'string' ? [outcome] : figures(outcome, ownCpu)),
    ]);
  });
  const header = [
    'workload',
    'receiver',
    'CPU s / 1 M',
    `against ${own}`,
    ...columns.map(([title]) => title),
  ];
  return markdownTable(
    header,
    rows.map((row) => [...row, ...Array.from({ length: header.length - row.length }, () => '')]),
  );
}

const figures = (measured: Measurement, ownCpu: number): string[] => [
  measured.cpuSecondsPerMillion.toFixed(2),
  `${(measured.cpuSecondsPerMillion / ownCpu).toFixed(2)} x`,
  ...columns.map(([, format]) => format(measured)),
];

const cpuOf = (outcome: Measurement | string | undefined): number =>
  outcome === undefined || typeof outcome === 'string' ? Number.NaN : outcome.cpuSecondsPerMillion;

/** The CPU of each receiver, by workload. */
export const resultBars = (cases: readonly CaseResults[]): BarGroup[] =>
  cases.map(({ name, results }) => ({
    label: name,
    bars: results.map(({ receiver, outcome }) => ({
      name: receiver,
      value: typeof outcome === 'string' ? outcome : outcome.cpuSecondsPerMillion,
    })),
  }));
