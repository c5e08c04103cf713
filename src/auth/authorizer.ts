import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { clientNetwork } from '../lib/ip-address.ts';
import { Multiset } from '../lib/multiset.ts';
import { limits } from '../limits/limits.ts';
import type { Principal } from '../model/identity.ts';
import { CredentialCache } from './credential-cache.ts';
import {
  type Credentials,
  type PresentedCredential,
  parseCredentials,
  type Scheme,
  schemeOf,
} from './credentials.ts';
import type { Identity, IdentitySource } from './identity-sources.ts';

/** Resolution of the caches' clock. It saves a clock call on most lookups. */
const ttlResolutionMs = 1000;

/**
 * The caches for one kind of credentials. Kinds share nothing, so a flood of one kind (each wrong password
 * costs tens of milliseconds of CPU) takes nothing from the others.
 */
interface SchemeState {
  readonly recent: CredentialCache;
  /**
   * Verified credentials. Entries do not expire: an identity reports by itself when it has ended. A flood of
   * wrong passwords must not evict a right one that was checked long ago.
   */
  readonly accepted: LRUCache<string, Identity>;
  /** Refused credentials, for a while. Kept apart, so that a flood of them cannot evict good ones. */
  readonly refused: LRUCache<string, true>;
  readonly pending: Map<string, Promise<Principal | undefined>>;
  /** The number of pending checks per client. */
  readonly pendingOf: Multiset;
}

type Verdict = Principal | undefined | Promise<Principal | undefined>;

/**
 * Tells who presents a credential.
 *
 * Verified and refused credentials are remembered, so that neither a busy client nor a misconfigured one
 * causes a check for each request. Entries that live longer than a moment are keyed by digest, so a heap
 * dump contains only the credentials of recent requests. Concurrent requests with the same unknown
 * credential share one check.
 *
 * The cache holds identities, not what they may do. That is read from the identity for each request, so a
 * change of its privileges, or its deletion, takes effect at once.
 */
export class Authorizer {
  readonly #sources: readonly IdentitySource[];
  readonly #states: Readonly<Record<Scheme, SchemeState>>;
  readonly #requireCurrent: () => void;
  /** Counts how often the refused credentials were cleared. */
  #forgotten = 0;

  /**
   * @param sources asked in order; the first one that knows the credentials decides
   * @param requireCurrent throws if the sources may be out of date; the administrator from the configuration
   *   is let in nevertheless
   */
  constructor(
    sources: readonly IdentitySource[],
    clock: Clock = systemClock,
    requireCurrent: () => void = () => {},
  ) {
    this.#requireCurrent = requireCurrent;
    this.#sources = sources;
    this.#states = {
      basic: createSchemeState(clock, limits.refusedCacheTtlMs),
      apiKey: createSchemeState(clock, limits.refusedCacheTtlMs),
      bearer: createSchemeState(clock, limits.refusedTokenTtlMs),
      session: createSchemeState(clock, limits.refusedCacheTtlMs),
    };
  }

  /**
   * The principal of this credential; undefined for nobody. Returns a value, not a promise, if the credential
   * is cached or can be checked without waiting, so that the caller can continue in the same tick.
   * @param clientAddress called only if a check must wait its turn, and before this method returns
   * @throws AppError `overloaded` if too many checks of this kind are pending, and what the sources throw
   */
  authenticate(presented: PresentedCredential, clientAddress: () => string = noAddress): Verdict {
    const state = this.#states[schemeOf(presented)];
    const { tenant, value } = presented;
    const recent = state.recent.find(tenant, value)?.principal;
    if (recent !== undefined) return this.#verdict(recent);
    const key = digest(tenant, value);
    const identity = state.accepted.get(key);
    const known = identity?.principal;
    if (identity !== undefined && known !== undefined) {
      state.recent.keep(tenant, value, identity);
      return this.#verdict(known);
    }
    if (state.refused.get(key) === true) return this.#verdict(undefined);
    return state.pending.get(key) ?? this.#check(state, key, presented, clientAddress);
  }

  /**
   * The holder of this credential, for a session that ends with it; undefined for nobody.
   * @throws AppError as `authenticate`
   */
  async identify(
    presented: PresentedCredential,
    clientAddress?: () => string,
  ): Promise<Identity | undefined> {
    if ((await this.authenticate(presented, clientAddress)) === undefined) return undefined;
    const { recent, accepted } = this.#states[schemeOf(presented)];
    const { tenant, value } = presented;
    return recent.find(tenant, value) ?? accepted.get(digest(tenant, value));
  }

  /** Called when identities were added: credentials that were refused may be valid now. */
  forgetRefused(): void {
    // Clearing takes time in proportion to the room, and a start has as many changes as there are identities.
    for (const { refused } of Object.values(this.#states)) if (refused.size > 0) refused.clear();
    this.#forgotten += 1;
  }

  #check(
    state: SchemeState,
    key: string,
    presented: PresentedCredential,
    clientAddress: () => string,
  ): Verdict {
    const credentials = parseCredentials(presented);
    if (credentials === undefined) return undefined;
    requireRoom(state, clientAddress);
    const forgotten = this.#forgotten;
    const identity = this.#identify(credentials, clientAddress, 0);
    if (!(identity instanceof Promise)) return this.#remember(state, key, identity, forgotten);
    const client = clientNetwork(clientAddress());
    const check = identity
      .then((found) => this.#remember(state, key, found, forgotten))
      .finally(() => {
        state.pending.delete(key);
        state.pendingOf.remove(client);
      });
    state.pending.set(key, check);
    state.pendingOf.add(client);
    return check;
  }

  #remember(
    state: SchemeState,
    key: string,
    identity: Identity | undefined,
    forgotten: number,
  ): Principal | undefined {
    if (identity !== undefined) {
      state.accepted.set(key, identity);
      return this.#verdict(identity.principal);
    }
    state.accepted.delete(key);
    // A check that began before new identities were known may not stand in their way.
    if (forgotten === this.#forgotten) state.refused.set(key, true);
    return this.#verdict(undefined);
  }

  /** Runs again for each request: the sources may be out of date by now. */
  #verdict(principal: Principal | undefined): Principal | undefined {
    if (principal?.kind !== 'root') this.#requireCurrent();
    return principal;
  }

  #identify(
    credentials: Credentials,
    clientAddress: () => string,
    first: number,
  ): ReturnType<IdentitySource['verify']> {
    for (const [index, source] of this.#sources.entries()) {
      if (index < first) continue;
      const identity = source.verify(credentials, clientAddress);
      if (identity instanceof Promise) {
        return identity.then((found) => found ?? this.#identify(credentials, clientAddress, index + 1));
      }
      if (identity !== undefined) return identity;
    }
    return undefined;
  }
}

function createSchemeState(clock: Clock, refusedTtlMs: number): SchemeState {
  // By size, so that it grows with what is in it: with `max`, the room for all is made and
  // cleared at the start.
  const bound = { maxSize: limits.authCacheEntries, sizeCalculation: () => 1 };
  const perf = { now: () => clock.monotonicMs() };
  return {
    recent: new CredentialCache(),
    accepted: new LRUCache(bound),
    refused: new LRUCache({ ...bound, ttl: refusedTtlMs, ttlResolution: ttlResolutionMs, perf }),
    pending: new Map(),
    pendingOf: new Multiset(),
  };
}

/** @throws AppError `overloaded` */
function requireRoom({ pending, pendingOf }: SchemeState, clientAddress: () => string): void {
  // Nobody has that many before all have.
  if (pending.size < limits.maxPendingChecksPerClient) return;
  const own = pendingOf.get(clientNetwork(clientAddress()));
  if (pending.size < limits.maxPendingChecks && own < limits.maxPendingChecksPerClient) return;
  throw new AppError('overloaded', 'too many credentials of this kind are being checked');
}

const noAddress = (): string => '';

/**
 * The tenant is part of the digest: two tenants may have users with the same name and password. It
 * contains no line break. A key that is sent as a password does not match the key, because each kind
 * has caches of its own.
 */
const digest = (tenant: string, value: string): string => hash('sha256', `${tenant}\n${value}`, 'base64');
