import type { Registry } from 'prom-client';
import { liveGauge } from '../lib/live-gauge.ts';
import type { Drain } from './drain.ts';

/** How the drain keeps up. */
export function registerDrainGauges(registry: Registry, drain: Pick<Drain, 'overdueMs'>): void {
  liveGauge(
    {
      name: 'millrace_low_volume_overdue_seconds',
      help: 'How much longer than planned low-volume datasets wait for their insert, because the store takes too few inserts a second.',
      registers: [registry],
    },
    () => drain.overdueMs / 1000,
  );
}
