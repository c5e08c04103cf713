import type { Clock } from './clock.ts';

export interface RecentCostsOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Half of a cost is forgotten after this. */
  readonly halfLifeMs: number;
  /** Of so many parties costs are remembered; beyond it, that of the party is forgotten that has cost nothing for longest. */
  readonly maxParties: number;
}

/**
 * What each party has cost lately, so that the one that has cost least can be served next. Costs fade (exponentially): what
 * somebody did long ago is no reason to wait, and who comes anew owes nothing.
 */
export class RecentCosts {
  readonly #options: RecentCostsOptions;
  /** In the order in which they last cost something. */
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
