import type { Registry } from 'prom-client';
import { liveGauge } from '../lib/live-gauge.ts';
import type { Wal } from './wal.ts';

/** What the log holds. */
export function registerWalGauges(registry: Registry, wal: Wal): void {
  const gauge = (name: string, help: string, read: () => number) =>
    liveGauge({ name, help, registers: [registry] }, read);
  gauge('millrace_wal_bytes', 'Bytes in the write-ahead log that are not in the store yet.', () => wal.bytes);
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
