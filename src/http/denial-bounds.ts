import { limits } from '../limits.ts';

interface Tenant {
  /** In the window of now. */
  said: number;
  /** Since the last one that was said. */
  leftOut: number;
}

/**
 * Bounds what is said about refused requests: so much a second for each tenant, and so much for all of them. What is
 * left out is counted for its own tenant: none learns how much was refused elsewhere, and none is silenced by what
 * somebody does to another.
 */
export class DenialBounds {
  #windowStartMs = Number.NEGATIVE_INFINITY;
  #said = 0;
  /** Those with something in this window, or left out before it; the one seen first goes first. */
  readonly #tenants = new Map<string, Tenant>();

  /**
   * @param nowMs monotonic
   * @returns how many of this tenant were left out before this one; undefined if this one is to be left out, too
   */
  admit(tenant: string, nowMs: number): number | undefined {
    if (nowMs - this.#windowStartMs >= 1000) this.#begin(nowMs);
    const own = this.#tenants.get(tenant) ?? this.#add(tenant);
    if (own.said >= limits.maxDenialLinesPerSecond || this.#said >= limits.maxDenialLinesPerSecondInAll) {
      own.leftOut += 1;
      return undefined;
    }
    const { leftOut } = own;
    own.leftOut = 0;
    own.said += 1;
    this.#said += 1;
    return leftOut;
  }

  #begin(nowMs: number): void {
    this.#windowStartMs = nowMs;
    this.#said = 0;
    for (const [tenant, own] of this.#tenants) {
      own.said = 0;
      if (own.leftOut === 0) this.#tenants.delete(tenant);
    }
  }

  #add(tenant: string): Tenant {
    if (this.#tenants.size >= limits.maxTenants) {
      for (const oldest of this.#tenants.keys()) {
        this.#tenants.delete(oldest);
        break;
      }
    }
    const own = { said: 0, leftOut: 0 };
    this.#tenants.set(tenant, own);
    return own;
  }
}
