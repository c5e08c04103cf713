import { Gauge, type Registry } from 'prom-client';
import type { Wal } from './writer.ts';

/** What the log holds, read when somebody asks. */
export function registerWalGauges(registry: Registry, wal: Wal): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
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
