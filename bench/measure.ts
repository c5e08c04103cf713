import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds, diskBytes, residentBytes } from './proc.ts';
import type { ReceiverKind } from './receivers.ts';
import { percentile, sendAll } from './sender.ts';
import type { Workload } from './workloads.ts';

/** Connections with one request in progress each. */
const connections = 4;
/** After readiness: a process is busy for a while after its start. */
export const warmUpMs = 3000;
const baselineMs = 5000;

/** The result of one receiver with one workload. */
export interface Measurement {
  readonly cpuSecondsPerMillion: number;
  /** Of acknowledged items, first request to last reply. */
  readonly itemsPerSecond: number;
  readonly ackP50Ms: number;
  readonly ackP99Ms: number;
  readonly idleRssBytes: number;
  readonly peakRssBytes: number;
  readonly diskBytesPerItem: number;
}

/**
 * Starts a receiver, sends the workload and measures until everything is stored. CPU time is that of the
 * receiving process, minus what it takes in the same time when idle.
 * @throws Error if it stored another number of items than it was sent
 */
export async function measure(kind: ReceiverKind, workload: Workload): Promise<Measurement> {
  const receiver = await kind.start(workload);
  try {
    const { pid } = receiver.child;
    const { url, headers } = receiver;
    const { bodies, items, warmUp } = workload;
    if (warmUp.length > 0) {
      await sendAll({ url, headers, bodies: warmUp, connections });
      await receiver.settled();
    }
    await sleep(warmUpMs);
    const idleRssBytes = residentBytes(pid).now;
    const idleCpuPerMs = await idleRate(pid);

    const cpuBefore = cpuSeconds(pid);
    const start = performance.now();
    const sent = await sendAll({ url, headers, bodies, connections });
    await receiver.settled();
    const cpu = cpuSeconds(pid) - cpuBefore - idleCpuPerMs * (performance.now() - start);

    const peakRssBytes = residentBytes(pid).peak;
    const stored = await receiver.count();
    const sentItems = items + workload.warmUpItems;
    if (stored !== sentItems) {
      throw new Error(`${kind.name} stored ${stored} of ${sentItems} ${workload.unit}`);
    }
    await receiver.child.stop('SIGTERM');
    return {
      cpuSecondsPerMillion: (cpu / items) * 1e6,
      itemsPerSecond: items / sent.wallSeconds,
      ackP50Ms: percentile(sent.latenciesMs, 0.5),
      ackP99Ms: percentile(sent.latenciesMs, 0.99),
      idleRssBytes,
      peakRssBytes,
      diskBytesPerItem: diskBytes(receiver.dataDir) / sentItems,
    };
  } finally {
    await receiver.dispose();
  }
}

/** CPU seconds per millisecond of an idle process. */
export async function idleRate(pid: number): Promise<number> {
  const before = cpuSeconds(pid);
  await sleep(baselineMs);
  return (cpuSeconds(pid) - before) / baselineMs;
}

/** Each figure's own median over the rounds. */
export function medianOf(rounds: readonly Measurement[]): Measurement {
  const middle = (figure: keyof Measurement): number =>
    percentile(Float64Array.from(rounds, (round) => round[figure]).sort(), 0.5);
  return {
    cpuSecondsPerMillion: middle('cpuSecondsPerMillion'),
    itemsPerSecond: middle('itemsPerSecond'),
    ackP50Ms: middle('ackP50Ms'),
    ackP99Ms: middle('ackP99Ms'),
    idleRssBytes: middle('idleRssBytes'),
    peakRssBytes: middle('peakRssBytes'),
    diskBytesPerItem: middle('diskBytesPerItem'),
  };
}
