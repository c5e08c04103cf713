import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Credentials } from '../auth/credentials.ts';
import type { Identity, IdentitySource } from '../auth/identity-sources.ts';
import type { SignedIn } from '../auth/oidc/login.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import type { Principal } from '../model/identity.ts';
import type { OauthUsers } from './oauth-users.ts';

/** What a browser's session stands on. */
interface SessionParts {
  /** The holder of the credential that was presented: the session ends with it. */
  readonly identity: Identity;
  /** The same, without privileges: it is known also while the identity store is not loaded. */
  readonly somebody: Principal;
  /** Of the identity provider, to end its session too; undefined for a password or an API key. */
  readonly idToken: string | undefined;
  readonly expiresAtMs: number;
}

/** An identity for as long as the session lasts: others may keep the object (`Authorizer`). */
class Session implements Identity {
  readonly parts: SessionParts;
  readonly #clock: Clock;
  #hasEnded = false;

  constructor(parts: SessionParts, clock: Clock) {
    this.parts = parts;
    this.#clock = clock;
  }

  get principal(): Principal | undefined {
    const isOver = this.#hasEnded || this.#clock.nowMicros() / 1000 >= this.parts.expiresAtMs;
    return isOver ? undefined : this.parts.identity.principal;
  }

  end(): void {
    this.#hasEnded = true;
  }
}

/** A session that has begun. */
export interface BegunSession {
  /** Its credential. */
  readonly id: string;
  readonly principal: Principal;
}

/**
 * Sessions of browsers. They are in the memory of this process and end with it; if there are several
 * processes, a browser must return to the same one. A session begins with a sign-in at the identity provider,
 * or with a password or an API key that was checked. It ends when it expires, when its user, key or password
 * ends, when its user signs out or begins too many newer sessions, and when the process has too many sessions
 * and this one was unused for longest. Then the `principal` of its identity is undefined.
 */
export class Sessions implements IdentitySource {
  readonly #users: Pick<OauthUsers, 'admit'>;
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  /** By the digest of the id, so that a heap dump holds no valid credential. */
  readonly #sessions: LRUCache<string, Session>;
  /** The digests of each user's sessions, oldest first: one user must not push out the sessions of others. */
  readonly #bySomebody = new Map<string, Set<string>>();

  constructor(users: Pick<OauthUsers, 'admit'>, clock: Clock, lifetimeMs: number) {
    this.#users = users;
    this.#clock = clock;
    this.#lifetimeMs = lifetimeMs;
    this.#sessions = new LRUCache({
      max: limits.maxSessions,
      ttl: lifetimeMs,
      perf: { now: () => clock.monotonicMs() },
      dispose: (session, key) => this.#ended(session, key),
    });
  }

  /**
   * After a sign-in at the identity provider.
   * @throws AppError `login_failed` if the claims name no existing tenant, `store_unavailable` while users
   *   are not known
   */
  begin({ claims, idToken }: Pick<SignedIn, 'claims' | 'idToken'>): BegunSession {
    const nowMs = this.#nowMs();
    const expiresAtMs = nowMs + this.#lifetimeMs;
    const account = this.#users.admit({ ...claims, issuedAtMs: nowMs, expiresAtMs });
    if (account === undefined) {
      throw new AppError('login_failed', 'the identity provider names no existing tenant for you');
    }
    return this.#keep({ identity: account, somebody: account.somebody, idToken, expiresAtMs });
  }

  /**
   * For somebody whose password or API key was checked.
   * @param identity of that credential
   * @param principal its principal now
   */
  beginFor(identity: Identity, principal: Principal): BegunSession {
    const expiresAtMs = this.#nowMs() + limits.passwordSessionLifetimeMs;
    const somebody = { ...principal, privileges: [] };
    return this.#keep({ identity, somebody, idToken: undefined, expiresAtMs });
  }

  /** @returns the principal, and the token to end the provider's session with; undefined if there is none */
  end(id: string): { readonly idToken: string | undefined; readonly principal: Principal } | undefined {
    const session = this.#sessions.get(digest(id));
    if (session === undefined) return undefined;
    this.#sessions.delete(digest(id));
    return { idToken: session.parts.idToken, principal: session.parts.somebody };
  }

  /** When a session expires, in milliseconds since 1970; undefined if there is none. */
  expiresAtMs(id: string): number | undefined {
    return this.#sessions.get(digest(id))?.parts.expiresAtMs;
  }

  verify(credentials: Credentials): Identity | undefined {
    if (credentials.scheme !== 'session') return undefined;
    return this.#sessions.get(digest(credentials.id));
  }

  #keep(parts: SessionParts): BegunSession {
    const id = randomBytes(32).toString('base64url');
    const key = keyOf(parts.somebody);
    const own = this.#bySomebody.get(key) ?? new Set();
    const [oldest] = own.size >= limits.maxSessionsPerUser ? own : [];
    if (oldest !== undefined) this.#sessions.delete(oldest);
    const ttl = parts.expiresAtMs - this.#nowMs();
    this.#sessions.set(digest(id), new Session(parts, this.#clock), { ttl });
    this.#bySomebody.set(key, own.add(digest(id)));
    return { id, principal: parts.somebody };
  }

  #nowMs(): number {
    return this.#clock.nowMicros() / 1000;
  }

  #ended(session: Session, key: string): void {
    session.end();
    const somebody = keyOf(session.parts.somebody);
    const own = this.#bySomebody.get(somebody);
    own?.delete(key);
    if (own?.size === 0) this.#bySomebody.delete(somebody);
  }
}

/** Users, keys and the administrator may have the same names. */
const keyOf = ({ tenant, kind, id, name }: Principal): string => `${tenant}/${kind}/${id ?? name}`;

const digest = (id: string): string => hash('sha256', id, 'base64');
