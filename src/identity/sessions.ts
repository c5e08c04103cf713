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
import type { OidcAccount } from './oidc-account.ts';

interface Session {
  readonly account: OidcAccount;
  readonly idToken: string;
}

/**
 * Sessions of browsers. They are in the memory of this process and end with it; if there are several
 * processes, a browser must return to the same one. A session also ends when it expires, when its user signs
 * out or begins too many newer sessions, and when the process has too many sessions and this one was unused
 * for longest. Then the `principal` of its identity is undefined.
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
   * @returns the principal, and the id of the session, which is its credential
   * @throws AppError `login_failed` if the claims name no existing tenant, `store_unavailable` while users
   *   are not known
   */
  begin({ claims, idToken }: Pick<SignedIn, 'claims' | 'idToken'>): {
    readonly id: string;
    readonly principal: Principal;
  } {
    const id = randomBytes(32).toString('base64url');
    const nowMs = this.#clock.nowMicros() / 1000;
    const account = this.#users.admit({
      ...claims,
      issuedAtMs: nowMs,
      expiresAtMs: nowMs + this.#lifetimeMs,
    });
    if (account === undefined) {
      throw new AppError('login_failed', 'the identity provider names no existing tenant for you');
    }
    const own = this.#sessionsOf(account);
    const [oldest] = own.size >= limits.maxSessionsPerUser ? own : [];
    if (oldest !== undefined) this.#sessions.delete(oldest);
    this.#sessions.set(digest(id), { account, idToken });
    this.#bySomebody.set(keyOf(account), own.add(digest(id)));
    return { id, principal: account.somebody };
  }

  /** @returns the principal, and the token to end the provider's session with; undefined if there is none */
  end(id: string): { readonly idToken: string; readonly principal: Principal } | undefined {
    const session = this.#sessions.get(digest(id));
    if (session === undefined) return undefined;
    this.#sessions.delete(digest(id));
    return { idToken: session.idToken, principal: session.account.somebody };
  }

  verify(credentials: Credentials): Identity | undefined {
    if (credentials.scheme !== 'session') return undefined;
    return this.#sessions.get(digest(credentials.id))?.account;
  }

  #sessionsOf(account: OidcAccount): Set<string> {
    return this.#bySomebody.get(keyOf(account)) ?? new Set();
  }

  #ended({ account }: Session, key: string): void {
    account.end();
    const own = this.#sessionsOf(account);
    own.delete(key);
    if (own.size === 0) this.#bySomebody.delete(keyOf(account));
  }
}

const keyOf = ({ somebody: { tenant, id } }: OidcAccount): string => `${tenant}/${id}`;

const digest = (id: string): string => hash('sha256', id, 'base64');
