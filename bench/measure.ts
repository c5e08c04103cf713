import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds, diskBytes, residentBytes } from './proc.ts';
import type { ReceiverKind } from './receivers.ts';
import { percentile, sendAll } from './sender.ts';
import type { Workload } from './workloads.ts';

/** Connections, each with one request under way. */
const connections = 4;
/** After readiness: a process that starts is busy with itself for a while. */
export const warmUpMs = 3000;
const baselineMs = 5000;

/** What one receiver made of one workload. */
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
 * Starts a receiver, sends it the workload and measures it until everything is in its place. CPU time is that of
 * the receiving process alone, less what it burns for the same time when idle.
 * @throws Error when it stored another number of items than it was sent
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

/** CPU seconds a millisecond of a process that nobody asks for anything. */
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
