import { AppError } from '../errors.ts';
import { Multiset } from '../lib/multiset.ts';
import { limits } from '../limits/limits.ts';

/**
 * Counts the exports that are under way, since they run for as long as their clients read. They never take
 * all connections to the store, one tenant never takes all that the others could have, and one user or key
 * has one at a time. What is beyond is refused and does not wait: an export may take an hour.
 */
export class Exports {
  /** By tenant, and by tenant and user. */
  readonly #holders = new Multiset();
  readonly #maxPerTenant: number;
  #running = 0;

  constructor(maxPerTenant: number) {
    this.#maxPerTenant = maxPerTenant;
  }

  /**
   * @param user who, within the tenant
   * @returns to be called once, when the export has ended
   * @throws AppError `overloaded`
   */
  begin(tenant: string, user: string): () => void {
    const holder = JSON.stringify([tenant, user]);
    const own = this.#holders.get(holder);
    if (own >= limits.maxExportsPerUser) {
      throw new AppError(
        'overloaded',
        `${own} of your exports is under way; at most ${limits.maxExportsPerUser} is allowed`,
      );
    }
    const ofTenant = this.#holders.get(tenant);
    if (ofTenant >= this.#maxPerTenant) {
      throw new AppError(
        'overloaded',
        `${ofTenant} of the exports of your tenant is under way; at most ${this.#maxPerTenant} is allowed`,
      );
    }
    if (this.#running >= limits.maxExports) {
      throw new AppError(
        'overloaded',
        `${this.#running} exports are under way; at most ${limits.maxExports} are allowed`,
      );
    }
    this.#running += 1;
    this.#holders.add(holder);
    this.#holders.add(tenant);
    return () => {
      this.#running -= 1;
      this.#holders.remove(holder);
      this.#holders.remove(tenant);
    };
  }
}
