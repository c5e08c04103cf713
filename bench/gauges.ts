import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, sumOfMetric } from '../test/support/service/service.ts';
import { cpuSeconds, openDescriptors, residentBytes, threadCount } from './proc.ts';
import { percentile } from './sender.ts';

/** What must not grow in a long run, and how much noise each figure has. */
const gauges = {
  rssMb: { title: 'RSS MB', noise: 25, share: 0.05 },
  heapMb: { title: 'JS heap MB', noise: 10, share: 0.1 },
  externalMb: { title: 'JS external MB', noise: 10, share: 0.1 },
  descriptors: { title: 'descriptors', noise: 8, share: 0.05 },
  threads: { title: 'threads', noise: 4, share: 0 },
  walSegments: { title: 'WAL segments', noise: 1, share: 0 },
  walKb: { title: 'WAL kB', noise: 256, share: 0.1 },
  lagSeconds: { title: 'lag s', noise: 0.5, share: 0 },
  parts: { title: 'parts', noise: 50, share: 0.1 },
  // A journal file is removed as a whole and is an eighth of the window.
  replayKb: { title: 'replay journal kB', noise: 16, share: 0.15 },
} as const satisfies Record<string, Gauge>;

interface Gauge {
  readonly title: string;
  /** The figure varies by this much in any case. */
  readonly noise: number;
  /** The same as a share of the figure; the larger one counts. */
  readonly share: number;
}

type GaugeName = keyof typeof gauges;
const gaugeNames = Object.keys(gauges) as GaugeName[];

/** All gauges at one moment. */
export interface Sample extends Readonly<Record<GaugeName, number>> {
  readonly atSeconds: number;
  /** Since its start, user and system. */
  readonly cpuSeconds: number;
}

/** @param atSeconds since the load began */
export async function takeSample(service: Service, atSeconds: number): Promise<Sample> {
  const { pid } = service.child;
  const metrics = await service.metrics();
  return {
    atSeconds,
    cpuSeconds: cpuSeconds(pid),
    rssMb: residentBytes(pid).now / 1e6,
    heapMb: sumOfMetric(metrics, 'nodejs_heap_size_used_bytes') / 1e6,
    externalMb: sumOfMetric(metrics, 'nodejs_external_memory_bytes') / 1e6,
    descriptors: openDescriptors(pid),
    threads: threadCount(pid),
    walSegments: sumOfMetric(metrics, 'millrace_wal_segments'),
    walKb: sumOfMetric(metrics, 'millrace_wal_bytes') / 1e3,
    lagSeconds: sumOfMetric(metrics, 'millrace_wal_oldest_segment_age_seconds'),
    parts: countParts(join(service.dataDir, 'store/engine/store')),
    replayKb: bytesIn(join(service.dataDir, 'replay')) / 1e3,
  };
}

/** Parts of all tables of the embedded engine, by its own files. */
export const countParts = (store: string): number =>
  partsOfTables(store).reduce((sum, { parts }) => sum + parts, 0);

export interface TableParts {
  readonly parts: number;
  /** Those that were made by a merge. */
  readonly merged: number;
}

/**
 * The parts of each table, from the engine's files, including merged parts that are not removed yet. The
 * directory of a part is `<partition>_<first block>_<last block>_<merges>`, in `<3 digits>/<table's UUID>/`.
 */
export function partsOfTables(store: string): readonly TableParts[] {
  const tables = entries(store).flatMap((prefix) =>
    entries(join(store, prefix)).map((table) => join(store, prefix, table)),
  );
  return tables.map((table) => {
    const parts = entries(table).filter((name) => /^[^_]+_\d+_\d+_\d+$/.test(name));
    return { parts: parts.length, merged: parts.filter((name) => !name.endsWith('_0')).length };
  });
}

const bytesIn = (folder: string): number =>
  entries(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

/** The names in a directory; empty if it was just removed. */
function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

export const gaugeTitles: readonly string[] = gaugeNames.map((name) => gauges[name].title);

/** The median of each gauge over some samples, as text. */
export const medians = (samples: readonly Sample[]): string[] =>
  gaugeNames.map((name) => format(medianOf(samples, name)));

export interface Verdict {
  readonly title: string;
  /** Medians of the third and of the fourth quarter. */
  readonly third: string;
  readonly fourth: string;
  readonly allowedGrowth: string;
  readonly isSteady: boolean;
}

/**
 * The rule: a gauge is steady if its median in the last quarter of the run is not above that of the quarter
 * before, except for noise. The first half is warm-up: caches and the replay window fill, merges settle.
 * Medians are used because single peaks say nothing about growth.
 */
export function judge(samples: readonly Sample[]): readonly Verdict[] {
  const quarter = Math.floor(samples.length / 4);
  if (quarter === 0) throw new Error(`${samples.length} samples are too few to judge by`);
  const third = samples.slice(-2 * quarter, -quarter);
  const fourth = samples.slice(-quarter);
  return gaugeNames.map((name) => {
    const { title, noise, share } = gauges[name];
    const before = medianOf(third, name);
    const after = medianOf(fourth, name);
    const allowed = Math.max(noise, share * before);
    return {
      title,
      third: format(before),
      fourth: format(after),
      allowedGrowth: format(allowed),
      isSteady: after - before <= allowed,
    };
  });
}

const medianOf = (samples: readonly Sample[], name: GaugeName): number =>
  percentile(Float64Array.from(samples, (sample) => sample[name]).sort(), 0.5);

const format = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1));
