import { limits } from '../limits/limits.ts';
import type { Identity } from './identities.ts';

/** Characters by which a credential is looked up. More than that, and V8 takes microseconds to hash a token. */
const tailLength = 64;

interface Recent {
  readonly tenant: string;
  readonly value: string;
  readonly identity: Identity;
}

/**
 * Credentials that were good within the last moment, as they were presented: a digest of them costs microseconds.
 *
 * Two generations, of which the older one is dropped when a moment is over: one that is used goes on, one that is not
 * is forgotten within two moments, as soon as the memory of its request might be used again.
 *
 * A credential is looked up by its end (which V8 compares only where a hash of it, with a seed of the process, is the
 * same) and then compared as a whole. The end of a token is of its signature, and a key is no longer than its end, so
 * the time that the comparison takes tells something to those only who have the secret part of the credential already.
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
