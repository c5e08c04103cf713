import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { authorization, type Service, sumOfMetric } from '../test/support/service.ts';
import { countParts } from './gauges.ts';
import { idleRate, warmUpMs } from './measure.ts';
import { cpuSeconds, residentBytes } from './proc.ts';
import { startMillrace } from './receivers.ts';
import { percentile, sendAll, sendAtRate } from './sender.ts';
import { markdownTable } from './table.ts';
import { jsonWorkload } from './workloads.ts';

const datasetCounts = [1, 100, 2000];
const requestsPerSecond = 200;
const eventsPerRequest = 50;
const connections = 4;
const sampleIntervalMs = 500;

/** What was read while the load was on. */
interface Watched {
  /** Age of the oldest row that is not in the store, of each moment, sorted. */
  readonly lagSeconds: Float64Array;
  readonly peakParts: number;
}

/**
 * The same load over more and more datasets in turn: what the service spends, and how soon rows are in the store.
 * Datasets are made before anything is measured. @returns a Markdown table
 */
export async function measureDatasets(seconds: number): Promise<string> {
  const rows: string[][] = [];
  for (const count of datasetCounts) rows.push(await measureCount(count, seconds));
  const titles = ['datasets', 'CPU s / 1 M', 'inserts', 'inserts / s', 'peak parts', 'parts at the end'];
  return markdownTable(
    [...titles, 'lag p50 s', 'lag max s', 'ack p99 ms', 'peak RSS MB', 'deletion of all s'],
    rows,
  );
}

async function measureCount(datasets: number, seconds: number): Promise<string[]> {
  const requests = requestsPerSecond * seconds;
  const workload = jsonWorkload(requests, eventsPerRequest);
  const receiver = await startMillrace(workload);
  try {
    const { service, url, headers } = receiver;
    const { pid } = receiver.child;
    const headersOf = (index: number) => ({ 'x-p-stream': `bench-${index % datasets}` });
    await sleep(warmUpMs);
    await sendAll({ url, headers, headersOf, bodies: workload.bodies.slice(0, datasets), connections });
    await receiver.settled();
    const idleCpuPerMs = await idleRate(pid);
    const insertsBefore = await insertsOf(service);
    const cpuBefore = cpuSeconds(pid);
    const start = performance.now();
    const over = new AbortController();
    const watching = watch(service, over.signal);
    const sent = await sendAtRate({ url, headers, headersOf, bodies: workload.bodies, requestsPerSecond });
    over.abort();
    const { lagSeconds, peakParts } = await watching;
    await receiver.settled();
    const cpu = cpuSeconds(pid) - cpuBefore - idleCpuPerMs * (performance.now() - start);
    const inserts = (await insertsOf(service)) - insertsBefore;
    const partsAtEnd = partsOf(service);
    const peakRssMb = residentBytes(pid).peak / 1e6;
    const deletionSeconds = await deleteAll(service, datasets);
    return [
      String(datasets),
      ((cpu / workload.items) * 1e6).toFixed(2),
      String(inserts),
      (inserts / sent.wallSeconds).toFixed(1),
      String(peakParts),
      String(partsAtEnd),
      percentile(lagSeconds, 0.5).toFixed(1),
      percentile(lagSeconds, 1).toFixed(1),
      percentile(sent.latenciesMs, 0.99).toFixed(1),
      peakRssMb.toFixed(0),
      deletionSeconds.toFixed(1),
    ];
  } finally {
    await receiver.dispose();
  }
}

/**
 * Deletes all datasets while the log still has rows of theirs. @returns seconds
 * @throws Error if anything of them is left
 */
async function deleteAll(service: Service, datasets: number): Promise<number> {
  const headers = { authorization };
  const names = Array.from({ length: datasets }, (_, index) => `bench-${index}`);
  await Promise.all(names.map((name) => service.ingest(name, [{ last: true }])));
  const start = performance.now();
  const connection = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const reply = await fetch(`${service.url}/api/v1/logstream/${name}`, { method: 'DELETE', headers });
      if (!reply.ok) throw new Error(`DELETE ${name}: ${reply.status} ${await reply.text()}`);
    }
  };
  await Promise.all(Array.from({ length: 2 * connections }, connection));
  const seconds = (performance.now() - start) / 1000;
  await service.drained();
  const tables = readdirSync(join(service.dataDir, 'store/engine/metadata/t_default'));
  const left = tables.filter((name) => name.startsWith('bench-'));
  const failures = await service.metric('millrace_store_insert_failures_total');
  if (left.length + failures > 0) throw new Error(`${left.length} tables left, ${failures} inserts failed`);
  return seconds;
}

async function watch(service: Service, over: AbortSignal): Promise<Watched> {
  const lags: number[] = [];
  let peakParts = 0;
  while (!over.aborted) {
    lags.push(await service.metric('millrace_wal_oldest_segment_age_seconds'));
    peakParts = Math.max(peakParts, partsOf(service));
    await sleep(sampleIntervalMs);
  }
  return { lagSeconds: Float64Array.from(lags).sort(), peakParts };
}

const insertsOf = async (service: Service): Promise<number> =>
  sumOfMetric(await service.metrics(), 'millrace_store_insert_duration_seconds_count');

const partsOf = ({ dataDir }: Service): number => countParts(join(dataDir, 'store/engine/store'));
