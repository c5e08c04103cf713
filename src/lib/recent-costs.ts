import type { Clock } from './clock.ts';

export interface RecentCostsOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** After this time, half of a cost is forgotten. */
  readonly halfLifeMs: number;
  /** The number of parties that are tracked. Beyond it, the one whose last cost is oldest is dropped. */
  readonly maxParties: number;
}

/**
 * The recent cost of each party, so that the one with the lowest cost can be served next. Costs decay
 * exponentially: old work is no reason to wait, and a new party starts at zero.
 */
export class RecentCosts {
  readonly #options: RecentCostsOptions;
  /** Ordered by last use. */
  readonly #costs = new Map<string, { readonly cost: number; readonly atMs: number }>();

  constructor(options: RecentCostsOptions) {
    this.#options = options;
  }

  of(party: string): number {
    const known = this.#costs.get(party);
    if (known === undefined) return 0;
    const { clock, halfLifeMs } = this.#options;
    return known.cost * 2 ** ((known.atMs - clock.monotonicMs()) / halfLifeMs);
  }

  add(party: string, cost: number): void {
    if (cost <= 0) return;
    const { clock, maxParties } = this.#options;
    const all = this.of(party) + cost;
    this.#costs.delete(party);
    this.#costs.set(party, { cost: all, atMs: clock.monotonicMs() });
    if (this.#costs.size <= maxParties) return;
    const [oldest = ''] = this.#costs.keys();
    this.#costs.delete(oldest);
  }
}
