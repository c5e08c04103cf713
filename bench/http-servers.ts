import { markdownTable } from './markdown-table.ts';
import { type Measurement, measure, medianOf } from './measure.ts';
import { type ReceiverKind, startMillrace } from './receivers.ts';
import { remoteWriteWorkload } from './remote-write-workloads.ts';
import { jsonWorkload, type Workload } from './workloads.ts';

const servers = [
  ['uWebSockets.js', 'uwebsockets'],
  ['node:http', 'node'],
] as const;

/** Large requests, small ones, and events. */
const workloads: ReadonlyArray<(requests: number) => Workload> = [
  (requests) => remoteWriteWorkload('remote-write-known', requests),
  (requests) => remoteWriteWorkload('remote-write-small-known', requests),
  jsonWorkload,
];

/**
 * The same loads on each HTTP library, in turns, as a table: the median of each figure.
 * @param requests of each load, which a load of small requests multiplies
 */
export async function measureHttpServers(requests: number, rounds: number): Promise<string> {
  const rows: string[][] = [];
  for (const make of workloads) {
    const workload = make(requests);
    const measured = new Map(servers.map(([name]) => [name, [] as Measurement[]]));
    for (let round = 1; round <= rounds; round++) {
      for (const [name, setting] of servers) {
        const measurement = await measure(millraceOn(name, setting), workload);
        measured.get(name)?.push(measurement);
        console.log(`${workload.name}, ${name}: ${measurement.cpuSecondsPerMillion.toFixed(2)} CPU s / 1 M`);
      }
    }
    for (const [name, measurements] of measured) {
      const { cpuSecondsPerMillion, itemsPerSecond, ackP50Ms, ackP99Ms } = medianOf(measurements);
      rows.push([
        workload.name,
        name,
        cpuSecondsPerMillion.toFixed(2),
        ((cpuSecondsPerMillion * workload.items) / workload.bodies.length).toFixed(0),
        Math.round(itemsPerSecond).toLocaleString('en'),
        ackP50Ms.toFixed(1),
        ackP99Ms.toFixed(1),
      ]);
    }
  }
  const heads = [
    'workload',
    'server',
    'CPU s / 1 M',
    'CPU us a request',
    'items / s',
    'ack p50 ms',
    'ack p99 ms',
  ];
  return markdownTable(heads, rows);
}

const millraceOn = (name: string, setting: string): ReceiverKind => ({
  name,
  takes: ['remote-write', 'json'],
  start: (workload) => startMillrace(workload, { MILLRACE_HTTP_SERVER: setting }),
});
