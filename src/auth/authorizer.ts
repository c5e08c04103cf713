import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { limits } from '../limits.ts';
import type { Principal } from '../model/identity.ts';
import { type PresentedCredential, parseCredentials } from './credentials.ts';
import type { Identity, IdentitySource } from './identities.ts';

/** How finely the caches look at the clock; saves a clock call for most lookups. */
const ttlResolutionMs = 1000;

/**
 * Tells who presents a credential.
 *
 * A verified credential is remembered for a while, a refused one too, so that neither a busy client nor a
 * broken one costs a password check for each request. The caches are apart, so that a flood of wrong
 * credentials cannot push out good ones. Their keys are digests: a heap dump shows no credential. Requests
 * that come with the same unknown credential at the same time share one check.
 *
 * What is remembered is the identity, not what it may do: that is asked of it each time, so that a change of its
 * privileges, or its end, needs nothing of these caches to be effective at once.
 */
export class Authorizer {
  readonly #sources: readonly IdentitySource[];
  readonly #accepted: LRUCache<string, Identity>;
  readonly #refused: LRUCache<string, true>;
  readonly #pending = new Map<string, Promise<Principal | undefined>>();
  /** Counts the times at which refused credentials were forgotten. */
  #forgotten = 0;

  /** @param sources asked in order; the first that knows the credentials decides */
  constructor(sources: readonly IdentitySource[], clock: Clock = systemClock) {
    const options = {
      max: limits.authCacheEntries,
      ttl: limits.authCacheTtlMs,
      ttlResolution: ttlResolutionMs,
      perf: { now: () => clock.monotonicMs() },
    };
    this.#sources = sources;
    this.#accepted = new LRUCache(options);
    this.#refused = new LRUCache(options);
  }

  /**
   * Who presents this credential; undefined for nobody. Answers at once when it was checked before, so that
   * the caller can go on in the same tick; a promise otherwise.
   * @throws AppError `overloaded` when too many checks are under way
   */
  authenticate(presented: PresentedCredential): Principal | undefined | Promise<Principal | undefined> {
    const key = digest(presented);
    const known = this.#accepted.get(key)?.principal;
    if (known !== undefined) return known;
    if (this.#refused.get(key) === true) return undefined;
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;

    if (this.#pending.size >= limits.maxPendingPasswordChecks) {
      throw new AppError('overloaded', 'too many credentials are being checked at the moment');
    }
    const check = this.#check(key, presented).finally(() => this.#pending.delete(key));
    this.#pending.set(key, check);
    return check;
  }

  /** There are new identities: credentials that were refused may be good now. */
  forgetRefused(): void {
    this.#refused.clear();
    this.#forgotten += 1;
  }

  async #check(key: string, presented: PresentedCredential): Promise<Principal | undefined> {
    const forgotten = this.#forgotten;
    const identity = await this.#identify(presented);
    if (identity !== undefined) {
      this.#accepted.set(key, identity);
      return identity.principal;
    }
    this.#accepted.delete(key);
    // A check that began before new identities were known may not stand in their way.
    if (forgotten === this.#forgotten) this.#refused.set(key, true);
    return undefined;
  }

  async #identify(presented: PresentedCredential): Promise<Identity | undefined> {
    const credentials = parseCredentials(presented);
    if (credentials === undefined) return undefined;
    for (const source of this.#sources) {
      const identity = await source.verify(credentials);
      if (identity !== undefined) return identity;
    }
    return undefined;
  }
}

/**
 * The header's name goes in too: a key sent as a password must not match the key. And the tenant: two of them may
 * have a user of the same name and password. Neither holds a line break.
 */
const digest = ({ tenant, header, value }: PresentedCredential): string =>
  hash('sha256', `${tenant}\n${header}: ${value}`, 'base64');
