import { limits } from '../limits/limits.ts';

/** So much at once, and so much more with each second. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

export interface DenialRates {
  readonly ofTenant: Rate;
  readonly inAll: Rate;
}

interface Tenant {
  /** How much may be said now. */
  room: number;
  /** Since the last one that was said. */
  leftOut: number;
}

/**
 * Bounds what is said about refused requests: so much a second for each tenant, and so much for all of them.
 * What is left out is counted for its own tenant: none learns how much was refused elsewhere, and none is
 * silenced by what somebody does to another.
 */
export class DenialBounds {
  readonly #rates: DenialRates;
  #secondStartMs = Number.NEGATIVE_INFINITY;
  #room: number;
  /** Those with less than all their room, or something left out; the one seen first goes first. */
  readonly #tenants = new Map<string, Tenant>();

  constructor(rates: DenialRates) {
    this.#rates = rates;
    this.#room = rates.inAll.burst;
  }

  /**
   * @param nowMs monotonic
   * @returns how many of this tenant were left out before this one; undefined if this one is to be left out,
   *   too
   */
  admit(tenant: string, nowMs: number): number | undefined {
    if (nowMs - this.#secondStartMs >= 1000) this.#begin(nowMs);
    const own = this.#tenants.get(tenant) ?? this.#add(tenant);
    if (own.room < 1 || this.#room < 1) {
      own.leftOut += 1;
      return undefined;
    }
    const { leftOut } = own;
    own.leftOut = 0;
    own.room -= 1;
    this.#room -= 1;
    return leftOut;
  }

  #begin(nowMs: number): void {
    const seconds = Math.floor((nowMs - this.#secondStartMs) / 1000);
    const { ofTenant, inAll } = this.#rates;
    this.#secondStartMs = nowMs;
    this.#room = refilled(this.#room, inAll, seconds);
    for (const [tenant, own] of this.#tenants) {
      own.room = refilled(own.room, ofTenant, seconds);
      if (own.leftOut === 0 && own.room === ofTenant.burst) this.#tenants.delete(tenant);
    }
  }

  #add(tenant: string): Tenant {
    if (this.#tenants.size >= limits.maxTenants) {
      for (const oldest of this.#tenants.keys()) {
        this.#tenants.delete(oldest);
        break;
      }
    }
    const own = { room: this.#rates.ofTenant.burst, leftOut: 0 };
    this.#tenants.set(tenant, own);
    return own;
  }
}

const refilled = (room: number, { burst, perSecond }: Rate, seconds: number): number =>
  Math.min(burst, room + seconds * perSecond);
