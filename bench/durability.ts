import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { onPath } from '../test/support/lib/child.ts';
import { type Service, sumOfMetric } from '../test/support/service/service.ts';
import { markdownTable } from './markdown-table.ts';
import { idleRate, warmUpMs } from './measure.ts';
import { cpuSeconds } from './proc.ts';
import { type Receiver, startMillrace } from './receivers.ts';
import { percentile, sendAll, sendAtRate } from './sender.ts';
import type { Workload } from './workloads.ts';

/** As in the other measurements of the highest load. */
const connections = 4;
/**
 * The share of requests that is sent before the measurement: code gets compiled, and all series become known.
 */
const warmUpShare = 0.2;

/** With fsync, and with a libc whose fsync does nothing: the service has no such option. */
const kinds = {
  fsync: {},
  'no fsync': { LD_PRELOAD: 'libeatmydata.so' },
} as const;
type Kind = keyof typeof kinds;

/** The result of one round at half of the highest load. */
interface Round {
  readonly ackP50Ms: number;
  readonly ackP99Ms: number;
  readonly fsyncsPerSecond: number;
  readonly requestsPerFsync: number;
  readonly cpuSecondsPerMillion: number;
}

export interface DurabilityReport {
  readonly maxItemsPerSecond: number;
  /** Medians, as a Markdown table. */
  readonly table: string;
  /** CPU seconds with fsync divided by those without, minus 1; undefined without `eatmydata`. */
  readonly cpuCost: number | undefined;
}

/**
 * Measures the cost of durable replies. First it finds the highest load, then it runs rounds at half of
 * it, at a fixed rate, alternately with and without fsync. Each start of the service gets the
 * workload's bodies once.
 */
export async function measureDurability(workload: Workload, rounds: number): Promise<DurabilityReport> {
  const requestsPerSecond = (await highestLoad(workload)) / 2;
  const measured: Kind[] = onPath('eatmydata') ? ['fsync', 'no fsync'] : ['fsync'];
  if (measured.length === 1) console.log('eatmydata is not on the PATH: nothing to compare fsync with.');
  const results = new Map(measured.map((kind) => [kind, [] as Round[]]));
  for (let round = 1; round <= rounds; round++) {
    for (const kind of measured) {
      const result = await measureRound(kind, workload, requestsPerSecond);
      results.get(kind)?.push(result);
      console.log(`round ${round}: ${kind} ${result.cpuSecondsPerMillion.toFixed(2)} CPU s / 1 M`);
    }
  }
  const cpu = (kind: Kind): number => median(results.get(kind) ?? [], 'cpuSecondsPerMillion');
  const itemsPerSecond = requestsPerSecond * itemsPerRequest(workload);
  return {
    maxItemsPerSecond: 2 * itemsPerSecond,
    table: tableOf(workload, itemsPerSecond, results),
    cpuCost: measured.length === 1 ? undefined : cpu('fsync') / cpu('no fsync') - 1,
  };
}

/** Requests per second if each connection sends the next request right after a reply. */
async function highestLoad(workload: Workload): Promise<number> {
  const receiver = await startMillrace(workload);
  try {
    const { url, headers } = receiver;
    const bodies = await warmUp(receiver, workload);
    const { wallSeconds } = await sendAll({ url, headers, bodies, connections });
    return bodies.length / wallSeconds;
  } finally {
    await receiver.dispose();
  }
}

async function measureRound(kind: Kind, workload: Workload, requestsPerSecond: number): Promise<Round> {
  const receiver = await startMillrace(workload, kinds[kind]);
  try {
    const { service, url, headers } = receiver;
    const { pid } = receiver.child;
    if (kind === 'no fsync') assertLoaded(pid, kinds[kind].LD_PRELOAD);
    const bodies = await warmUp(receiver, workload);
    const idleCpuPerMs = await idleRate(pid);
    const before = await walCounters(service);
    const cpuBefore = cpuSeconds(pid);
    const start = performance.now();
    const { latenciesMs, wallSeconds } = await sendAtRate({ url, headers, bodies, requestsPerSecond });
    const after = await walCounters(service);
    await receiver.settled();
    const cpu = cpuSeconds(pid) - cpuBefore - idleCpuPerMs * (performance.now() - start);
    const stored = await receiver.count();
    if (stored !== workload.items) {
      throw new Error(`${stored} of ${workload.items} ${workload.unit} were stored`);
    }
    return {
      ackP50Ms: percentile(latenciesMs, 0.5),
      ackP99Ms: percentile(latenciesMs, 0.99),
      fsyncsPerSecond: (after.fsyncs - before.fsyncs) / wallSeconds,
      requestsPerFsync: (after.records - before.records) / (after.fsyncs - before.fsyncs),
      cpuSecondsPerMillion: (cpu / (bodies.length * itemsPerRequest(workload))) * 1e6,
    };
  } finally {
    await receiver.dispose();
  }
}

/**
 * Sends the first requests.
 * @returns the others, when all work of the first ones is done
 */
async function warmUp(receiver: Receiver, workload: Workload): Promise<readonly Uint8Array[]> {
  await sleep(warmUpMs);
  const { url, headers } = receiver;
  const count = Math.ceil(workload.bodies.length * warmUpShare);
  await sendAll({ url, headers, bodies: workload.bodies.slice(0, count), connections });
  await receiver.settled();
  return workload.bodies.slice(count);
}

const itemsPerRequest = ({ items, bodies }: Workload): number => items / bodies.length;

/** The dynamic linker only warns about a library that it cannot find. */
function assertLoaded(pid: number, library: string): void {
  if (!readFileSync(`/proc/${pid}/maps`, 'utf8').includes(library)) {
    throw new Error(`${library} is not loaded: fsync would not be off`);
  }
}

async function walCounters(service: Service): Promise<{ fsyncs: number; records: number }> {
  const metrics = await service.metrics();
  return {
    fsyncs: sumOfMetric(metrics, 'millrace_wal_fsync_duration_seconds_count'),
    records: sumOfMetric(metrics, 'millrace_wal_group_records_sum'),
  };
}

const median = (rounds: readonly Round[], figure: keyof Round): number =>
  percentile(Float64Array.from(rounds, (round) => round[figure]).sort(), 0.5);

function tableOf(
  { unit }: Workload,
  itemsPerSecond: number,
  results: ReadonlyMap<Kind, readonly Round[]>,
): string {
  const header = [
    'log',
    `${unit} / s`,
    'ack p50 ms',
    'ack p99 ms',
    'fsyncs / s',
    'requests / fsync',
    `CPU s / 1 M ${unit}`,
  ];
  const rows = [...results].map(([kind, rounds]) => [
    kind,
    itemsPerSecond.toFixed(0),
    median(rounds, 'ackP50Ms').toFixed(1),
    median(rounds, 'ackP99Ms').toFixed(1),
    // Calls that do nothing do not count as fsyncs.
    kind === 'fsync' ? median(rounds, 'fsyncsPerSecond').toFixed(0) : '0',
    kind === 'fsync' ? median(rounds, 'requestsPerFsync').toFixed(1) : '',
    median(rounds, 'cpuSecondsPerMillion').toFixed(2),
  ]);
  return markdownTable(header, rows);
}
