import { limits } from '../limits/limits.ts';

/**
 * What all sessions hold in memory while they wait for their clients: prepared statements, values of portals,
 * and messages that have not come to their end. One tenant may have half of it.
 */
export class HeldBytes {
  readonly #tenants = new Map<string, number>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number = limits.pgMaxHeldBytes) {
    this.#maxBytes = maxBytes;
  }

  /** @returns false if there is no room for so many */
  take(tenant: string, bytes: number): boolean {
    const own = (this.#tenants.get(tenant) ?? 0) + bytes;
    if (this.#bytes + bytes > this.#maxBytes || own > this.#maxBytes / 2) return false;
    this.#bytes += bytes;
    this.#tenants.set(tenant, own);
    return true;
  }

  giveBack(tenant: string, bytes: number): void {
    this.#bytes -= bytes;
    const left = (this.#tenants.get(tenant) ?? 0) - bytes;
    if (left > 0) this.#tenants.set(tenant, left);
    else this.#tenants.delete(tenant);
  }
}
