import { systemClock } from '../../../src/lib/clock.ts';
import { RecentCosts } from '../../../src/lib/recent-costs.ts';

/** For pools of decoding workers: what they have cost each tenant. */
export const decodeCosts = (): RecentCosts =>
  new RecentCosts({ clock: systemClock, halfLifeMs: 10_000, maxParties: 100 });
