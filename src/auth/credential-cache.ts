import { limits } from '../limits/limits.ts';
import type { Identity } from './identity-sources.ts';

/**
 * Credentials are looked up by their last characters. With more of them, V8 takes microseconds to hash a
 * token.
 */
const tailLength = 64;

interface Recent {
  readonly tenant: string;
  readonly value: string;
  readonly identity: Identity;
}

/**
 * Credentials that were valid a moment ago, keyed as they were presented, because a digest costs
 * microseconds.
 *
 * There are two generations. When a moment is over, the older one is dropped. A credential that is used moves
 * to the newer one; any other is gone after two moments, as soon as the memory of its request may be reused.
 *
 * A credential is found by its last characters (V8 compares them only if a hash of them, seeded per
 * process, is equal) and then compared as a whole. A token ends with its signature, and a key is not longer
 * than those characters. The time of the comparison therefore tells something only to those who have the
 * secret part already.
 */
export class CredentialCache {
  #current = new Map<string, Recent>();
  #before = new Map<string, Recent>();
  #timer: NodeJS.Timeout | undefined;

  find(tenant: string, value: string): Identity | undefined {
    const tail = tailOf(value);
    const current = this.#current.get(tail);
    if (current !== undefined && current.value === value && current.tenant === tenant)
      return current.identity;
    const before = this.#before.get(tail);
    if (before === undefined || before.value !== value || before.tenant !== tenant) return undefined;
    this.#keep(tail, before);
    return before.identity;
  }

  keep(tenant: string, value: string, identity: Identity): void {
    this.#keep(tailOf(value), { tenant, value, identity });
    this.#timer ??= setInterval(() => this.#age(), limits.recentCredentialMs).unref();
  }

  #keep(tail: string, recent: Recent): void {
    if (this.#current.size < limits.maxRecentCredentials) this.#current.set(tail, recent);
  }

  #age(): void {
    this.#before = this.#current;
    this.#current = new Map();
    if (this.#before.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

const tailOf = (value: string): string => (value.length <= tailLength ? value : value.slice(-tailLength));
