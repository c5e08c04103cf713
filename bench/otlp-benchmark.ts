import { markdownTable } from './markdown-table.ts';
import { type Measurement, measure, medianOf } from './measure.ts';
import { metricCaseName, otlpMetricCases, otlpMetricWorkload } from './otlp-metric-workloads.ts';
import { missingPeers } from './otlp-peers.ts';
import { caseName, otlpCases, otlpWorkload } from './otlp-workloads.ts';
import { millrace } from './receivers.ts';

/** What is measured, by name. */
const cases = [
  ...otlpCases.map((kind) => ({
    name: caseName(kind),
    encoding: kind.encoding,
    make: (count: number) => otlpWorkload(kind, count),
  })),
  ...otlpMetricCases.map((kind) => ({
    name: metricCaseName(kind),
    encoding: kind.encoding,
    make: (count: number) => otlpMetricWorkload(kind, count),
  })),
];

/**
 * Records of a case in a round, not counting the warm-up: whole batches of either size. Workers compile their
 * code while they decode the first 100,000 records or so, which is not representative.
 */
const records = 8192 * 100;
/** The warm-up, as a share of the others. */
const warmUpPart = 0.25;

type OtlpWorkload = ReturnType<(typeof cases)[number]['make']>;

/** The same requests, split into warm-up and measurement. */
function warmedUp(workload: OtlpWorkload): OtlpWorkload {
  const { bodies, plain, items } = workload;
  const first = Math.round((bodies.length * warmUpPart) / (1 + warmUpPart));
  const warmUpItems = (items / bodies.length) * first;
  return {
    ...workload,
    warmUp: bodies.slice(0, first),
    warmUpItems,
    bodies: bodies.slice(first),
    plain: plain.slice(first),
    items: items - warmUpItems,
  };
}

/**
 * Logs, traces and metrics in each encoding, batch size and compression, until everything is stored. The cost
 * of JSON is also given relative to `JSON.parse`, measured in the same run on the same bodies: this ratio
 * hardly depends on the machine. The table is followed by the peers that are missing, and why.
 * @param part of the load, 1 for all of it
 * @param words parts of case names; empty for all cases
 */
export async function measureOtlp(rounds: number, part: number, words: readonly string[]): Promise<string> {
  const rows: string[][] = [];
  const chosen = cases.filter(({ name }) => words.every((word) => name.split(', ').includes(word)));
  if (chosen.length === 0) throw new Error(`otlp ${words.join(' ')}: no case has all of these words`);
  for (const kind of chosen) {
    const workload = warmedUp(kind.make(records * part * (1 + warmUpPart)));
    const measurements: Measurement[] = [];
    for (let round = 0; round < rounds; round++) measurements.push(await measure(millrace, workload));
    const median = medianOf(measurements);
    const parse =
      kind.encoding === 'json' ? parseSecondsPerMillion(workload.plain, workload.items) : undefined;
    const row = [
      workload.name,
      workload.bytesPerItem.toFixed(0),
      median.cpuSecondsPerMillion.toFixed(2),
      parse === undefined ? '' : `${(median.cpuSecondsPerMillion / parse).toFixed(2)} x`,
      median.itemsPerSecond.toFixed(0),
      median.ackP50Ms.toFixed(1),
      median.ackP99Ms.toFixed(1),
      median.diskBytesPerItem.toFixed(1),
    ];
    console.log(row.join('  '));
    rows.push(row);
  }
  const header = [
    'case',
    'B / record',
    'CPU s / 1 M',
    'JSON.parse',
    'records / s',
    'ack p50 ms',
    'ack p99 ms',
    'disk B / record',
  ];
  return `${markdownTable(header, rows)}\n\n${missingPeers()}`;
}

/** CPU seconds of `JSON.parse` for a million of these records. */
function parseSecondsPerMillion(bodies: readonly Buffer[], items: number): number {
  const start = process.cpuUsage();
  let parsed = 0;
  for (const body of bodies) parsed += Object.keys(JSON.parse(body.toString('utf8')) as object).length;
  const { user, system } = process.cpuUsage(start);
  if (parsed !== bodies.length) throw new Error('BUG: a body is not one request');
  return (user + system) / items;
}
