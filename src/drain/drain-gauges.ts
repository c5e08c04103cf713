import type { Registry } from 'prom-client';
import { liveGauge } from '../lib/live-gauge.ts';
import type { Drain } from './drain.ts';

/** How the drain keeps up. */
export function registerDrainGauges(registry: Registry, drain: Pick<Drain, 'overdueMs'>): void {
  liveGauge(
    {
      name: 'millrace_quiet_overdue_seconds',
      help: 'How much longer than they should some datasets with little data wait for their insert, because the store is slower than they are many.',
      registers: [registry],
    },
    () => drain.overdueMs / 1000,
  );
}
