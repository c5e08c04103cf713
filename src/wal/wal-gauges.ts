import type { Registry } from 'prom-client';
import { liveGauge } from '../lib/live-gauge.ts';
import type { DiskGuard } from './disk-guard.ts';
import type { Wal } from './wal.ts';

/** The disk that the data directory is on. */
export function registerDiskGauges(
  registry: Registry,
  disk: Pick<DiskGuard, 'space' | 'headroomBytes'>,
): void {
  const gauge = (name: string, help: string, read: () => number) =>
    liveGauge({ name, help, registers: [registry] }, read);
  gauge(
    'millrace_disk_free_bytes',
    'Bytes that the service may still use of the file system of the data directory.',
    () => disk.space.availableBytes,
  );
  gauge(
    'millrace_disk_size_bytes',
    'Size of the file system of the data directory.',
    () => disk.space.totalBytes,
  );
  gauge(
    'millrace_disk_reserved_bytes',
    'Free bytes below which writes are refused, so that what was acknowledged can still be stored.',
    () => disk.headroomBytes,
  );
}

/** What the log holds. */
export function registerWalGauges(registry: Registry, wal: Wal): void {
  const gauge = (name: string, help: string, read: () => number) =>
    liveGauge({ name, help, registers: [registry] }, read);
  gauge('millrace_wal_bytes', 'Bytes in the write-ahead log that are not in the store yet.', () => wal.bytes);
  gauge(
    'millrace_wal_max_bytes',
    'How many bytes the write-ahead log may hold before writes are refused: MILLRACE_WAL_MAX_BYTES.',
    () => wal.maxBytes,
  );
  gauge(
    'millrace_wal_segments',
    'Segments with records that are not in the store yet.',
    () => wal.pendingSegments,
  );
  gauge(
    'millrace_wal_oldest_segment_age_seconds',
    'Age of the oldest record that is not in the store yet.',
    () => wal.oldestSeconds,
  );
}
