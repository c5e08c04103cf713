import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import { Backlog } from '../../../src/wal/backlog.ts';
import type { WalRecord } from '../../../src/wal/record.ts';
import { recoverWal } from '../../../src/wal/recovery.ts';
import type { SealedSegment } from '../../../src/wal/segment.ts';
import { Wal } from '../../../src/wal/wal.ts';
import type { WalFiles } from '../../../src/wal/wal-files.ts';

export const silent = createLogger('silent');

/** Opens the log like a start of the service; sealed segments are collected. */
export async function openLog(
  files: WalFiles,
  options: { maxBytes?: number; ageMs?: number; clock?: typeof systemClock } = {},
) {
  const metrics = createMetrics();
  const recovery = await recoverWal(files, silent, metrics);
  const backlog = new Backlog(files);
  for (const segment of recovery.segments) backlog.add(segment);
  const sealed: SealedSegment[] = [];
  const wal = await Wal.open({
    files,
    clock: options.clock ?? systemClock,
    log: silent,
    metrics,
    recovery,
    backlog,
    maxBytes: options.maxBytes ?? limits.walMaxBytes,
    segmentMaxAgeMs: options.ageMs ?? 60_000,
    onSealed: (segment) => sealed.push(segment),
  });
  return { wal, backlog, sealed, recovery, metrics };
}

/** A record with one block whose bytes are a text. */
export function textRecord(text: string, dataset = 'app'): WalRecord {
  const bytes = Buffer.from(text);
  const columns = [{ name: 'p_timestamp', type: "DateTime64(6, 'UTC')" }];
  return {
    tenant: 'default',
    dataset,
    kind: 'events',
    blocks: [{ table: 'events', rows: 1, columns, bytes }],
  };
}

/** The texts of the segments' records, in order. */
export async function textsOf(backlog: Backlog, segments: readonly SealedSegment[]): Promise<string[]> {
  const found: string[] = [];
  for (const segment of segments) {
    await backlog.hold(segment, segment.records);
    for (const { blocks } of segment.records) {
      for (const block of blocks ?? []) found.push(Buffer.from(block).toString());
    }
  }
  return found;
}
