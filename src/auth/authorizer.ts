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
import type { Identity, IdentitySource } from './identities.ts';

/** How finely the caches look at the clock; saves a clock call for most lookups. */
const ttlResolutionMs = 1000;

/**
 * What is known about the credentials of one kind. Kinds share nothing, so that a flood of one (each wrong password
 * costs a core tens of milliseconds) takes nothing from the others.
 */
interface Lane {
  readonly recent: CredentialCache;
  /**
   * Verified credentials. They stay until others take their place: an identity tells by itself when it has ended,
   * and a flood of wrong passwords must not stand in the way of a right one that was checked long ago.
   */
  readonly accepted: LRUCache<string, Identity>;
  /** Refused ones, for a while; apart, so that a flood of them cannot push out good ones. */
  readonly refused: LRUCache<string, true>;
  readonly pending: Map<string, Promise<Principal | undefined>>;
  /** How many of these are of each client. */
  readonly pendingOf: Multiset;
}

type Verdict = Principal | undefined | Promise<Principal | undefined>;

/**
 * Tells who presents a credential.
 *
 * A verified credential is remembered, a refused one too, so that neither a busy client nor a broken one costs a
 * check for each request. What is kept for longer than a moment is kept by its digest: a heap dump shows no credential
 * but those of requests that have just come. Requests that come with the same unknown credential at the same time
 * share one check.
 *
 * What is remembered is the identity, not what it may do: that is asked of it each time, so that a change of its
 * privileges, or its end, needs nothing of these caches to be effective at once.
 */
export class Authorizer {
  readonly #sources: readonly IdentitySource[];
  readonly #lanes: Readonly<Record<Scheme, Lane>>;
  readonly #requireCurrent: () => void;
  /** Counts the times at which refused credentials were forgotten. */
  #forgotten = 0;

  /**
   * @param sources asked in order; the first that knows the credentials decides
   * @param requireCurrent throws when what the sources know may be out of date; the administrator from the
   *   configuration is let in all the same
   */
  constructor(
    sources: readonly IdentitySource[],
    clock: Clock = systemClock,
    requireCurrent: () => void = () => {},
  ) {
    this.#requireCurrent = requireCurrent;
    this.#sources = sources;
    this.#lanes = {
      basic: createLane(clock, limits.refusedCacheTtlMs),
      apiKey: createLane(clock, limits.refusedCacheTtlMs),
      bearer: createLane(clock, limits.refusedTokenTtlMs),
      session: createLane(clock, limits.refusedCacheTtlMs),
    };
  }

  /**
   * Who presents this credential; undefined for nobody. Answers at once when it was checked before or takes no
   * waiting to check, so that the caller can go on in the same tick; a promise otherwise.
   * @param clientAddress where it comes from, asked for only where a check must take its turn, and before this returns
   * @throws AppError `overloaded` when too many checks of this kind are under way, and what the sources throw
   */
  authenticate(presented: PresentedCredential, clientAddress: () => string = noAddress): Verdict {
    const lane = this.#lanes[schemeOf(presented)];
    const { tenant, value } = presented;
    const recent = lane.recent.find(tenant, value)?.principal;
    if (recent !== undefined) return this.#verdict(recent);
    const key = digest(tenant, value);
    const identity = lane.accepted.get(key);
    const known = identity?.principal;
    if (identity !== undefined && known !== undefined) {
      lane.recent.keep(tenant, value, identity);
      return this.#verdict(known);
    }
    if (lane.refused.get(key) === true) return this.#verdict(undefined);
    return lane.pending.get(key) ?? this.#check(lane, key, presented, clientAddress);
  }

  /** There are new identities: credentials that were refused may be good now. */
  forgetRefused(): void {
    // Clearing takes time in proportion to the room, and a start has as many changes as there are identities.
    for (const { refused } of Object.values(this.#lanes)) if (refused.size > 0) refused.clear();
    this.#forgotten += 1;
  }

  #check(lane: Lane, key: string, presented: PresentedCredential, clientAddress: () => string): Verdict {
    const credentials = parseCredentials(presented);
    if (credentials === undefined) return undefined;
    requireRoom(lane, clientAddress);
    const forgotten = this.#forgotten;
    const identity = this.#identify(credentials, clientAddress, 0);
    if (!(identity instanceof Promise)) return this.#remember(lane, key, identity, forgotten);
    const client = clientNetwork(clientAddress());
    const check = identity
      .then((found) => this.#remember(lane, key, found, forgotten))
      .finally(() => {
        lane.pending.delete(key);
        lane.pendingOf.remove(client);
      });
    lane.pending.set(key, check);
    lane.pendingOf.add(client);
    return check;
  }

  #remember(
    lane: Lane,
    key: string,
    identity: Identity | undefined,
    forgotten: number,
  ): Principal | undefined {
    if (identity !== undefined) {
      lane.accepted.set(key, identity);
      return this.#verdict(identity.principal);
    }
    lane.accepted.delete(key);
    // A check that began before new identities were known may not stand in their way.
    if (forgotten === this.#forgotten) lane.refused.set(key, true);
    return this.#verdict(undefined);
  }

  /** Who is unknown here may be known by now, and who is known may not be any more. */
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

function createLane(clock: Clock, refusedTtlMs: number): Lane {
  // By size, so that it grows with what is in it: with `max`, the room for all is made and cleared at the start.
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
function requireRoom({ pending, pendingOf }: Lane, clientAddress: () => string): void {
  // Nobody has that many before all have.
  if (pending.size < limits.maxPendingChecksPerClient) return;
  const own = pendingOf.get(clientNetwork(clientAddress()));
  if (pending.size < limits.maxPendingChecks && own < limits.maxPendingChecksPerClient) return;
  throw new AppError('overloaded', 'too many credentials of this kind are being checked at the moment');
}

const noAddress = (): string => '';

/**
 * The tenant goes in too: two of them may have a user of the same name and password. It holds no line break. That a key
 * sent as a password does not match the key is the lanes' doing.
 */
const digest = (tenant: string, value: string): string => hash('sha256', `${tenant}\n${value}`, 'base64');
