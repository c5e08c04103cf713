import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Service, sumOfMetric } from '../test/support/service/service.ts';
import { type Administration, measureAdministration } from './dataset-administration-benchmark.ts';
import { partsOfTables } from './gauges.ts';
import { markdownTable } from './markdown-table.ts';
import { idleRate, warmUpMs } from './measure.ts';
import { cpuSeconds, residentBytes } from './proc.ts';
import { startMillrace } from './receivers.ts';
import { percentile, sendAll, sendAtRate } from './sender.ts';
import { jsonWorkload } from './workloads.ts';

const datasetCounts = [1, 100, 2000];
const requestsPerSecond = 200;
const eventsPerRequest = 50;
const connections = 4;
const sampleIntervalMs = 500;

/** What was measured under load. */
interface Watched {
  /** The age of the oldest row that is not in the store, sampled and sorted. */
  readonly lagSeconds: Float64Array;
  readonly peakParts: number;
  readonly peakPartsOfTable: number;
}

/** A figure of the load, or of the operations before and after it. */
interface Measured {
  readonly load: string[];
  readonly administration: Administration;
}

/**
 * The same load on more and more datasets: CPU time, and how soon rows are in the store; and how long it
 * takes to create the datasets, to start with them, to list and query them, and to delete them.
 * @param words the numbers of datasets to measure; empty for all cases
 * @returns Markdown tables
 */
export async function measureDatasets(seconds: number, words: readonly string[]): Promise<string> {
  const counts = words.length === 0 ? datasetCounts : words.map(Number);
  if (counts.some((count) => !Number.isInteger(count) || count < 1)) {
    throw new Error(`${words.join(' ')}: say how many datasets, as numbers`);
  }
  const cases: Array<readonly [string, Measured]> = [];
  for (const count of counts) {
    cases.push([String(count), await measureCount(count, seconds)]);
    console.log(`${count} datasets are measured`);
  }
  const loadTitles = ['datasets', 'CPU s / 1 M', 'inserts / s', 'peak parts', 'most of a table', 'merged'];
  const load = markdownTable(
    [...loadTitles, 'lag p50 s', 'lag p99 s', 'ack p99 ms', 'idle RSS MB', 'peak RSS MB'],
    cases.map(([count, measured]) => [count, ...measured.load]),
  );
  const columns = Object.keys(cases[0]?.[1].administration ?? {});
  const administration = markdownTable(
    ['datasets', ...columns],
    cases.map(([count, measured]) => [count, ...Object.values(measured.administration)]),
  );
  return `${load}\n\n${administration}`;
}

async function measureCount(datasets: number, seconds: number): Promise<Measured> {
  const requests = requestsPerSecond * seconds;
  const workload = jsonWorkload(requests, eventsPerRequest);
  const receiver = await startMillrace(workload);
  try {
    const { service, url, headers } = receiver;
    const { pid } = receiver.child;
    const names = Array.from({ length: datasets }, (_, index) => `bench-${index}`);
    const headersOf = (index: number) => ({ 'x-p-stream': names[index % datasets] ?? '' });
    const make = async () => {
      await sendAll({ url, headers, headersOf, bodies: workload.bodies.slice(0, datasets), connections });
      await receiver.settled();
    };
    await sleep(warmUpMs);
    return await measureAdministration(service, names, make, async () => {
      const idleRssMb = residentBytes(pid).now / 1e6;
      const idleCpuPerMs = await idleRate(pid);
      const insertsBefore = await insertsOf(service);
      const cpuBefore = cpuSeconds(pid);
      const start = performance.now();
      const over = new AbortController();
      const watching = watch(service, over.signal);
      const sent = await sendAtRate({ url, headers, headersOf, bodies: workload.bodies, requestsPerSecond });
      over.abort();
      const { lagSeconds, peakParts, peakPartsOfTable } = await watching;
      await receiver.settled();
      const cpu = cpuSeconds(pid) - cpuBefore - idleCpuPerMs * (performance.now() - start);
      const inserts = (await insertsOf(service)) - insertsBefore;
      return [
        ((cpu / workload.items) * 1e6).toFixed(2),
        (inserts / sent.wallSeconds).toFixed(1),
        String(peakParts),
        String(peakPartsOfTable),
        String(partsOf(service).reduce((sum, { merged }) => sum + merged, 0)),
        percentile(lagSeconds, 0.5).toFixed(1),
        percentile(lagSeconds, 0.99).toFixed(1),
        percentile(sent.latenciesMs, 0.99).toFixed(1),
        idleRssMb.toFixed(0),
        (residentBytes(pid).peak / 1e6).toFixed(0),
      ];
    });
  } finally {
    await receiver.dispose();
  }
}

async function watch(service: Service, over: AbortSignal): Promise<Watched> {
  const lags: number[] = [];
  let peakParts = 0;
  let peakPartsOfTable = 0;
  while (!over.aborted) {
    lags.push(await service.metric('millrace_wal_oldest_segment_age_seconds'));
    const parts = partsOf(service).map((table) => table.parts);
    peakParts = Math.max(
      peakParts,
      parts.reduce((sum, count) => sum + count, 0),
    );
    peakPartsOfTable = Math.max(peakPartsOfTable, ...parts);
    await sleep(sampleIntervalMs);
  }
  return { lagSeconds: Float64Array.from(lags).sort(), peakParts, peakPartsOfTable };
}

const insertsOf = async (service: Service): Promise<number> =>
  sumOfMetric(await service.metrics(), 'millrace_store_insert_duration_seconds_count');

const partsOf = ({ dataDir }: Service) => partsOfTables(join(dataDir, 'store/engine/store'));
