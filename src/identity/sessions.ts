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
 * Sign-ins of browsers, in the memory of this process: they end with it, and behind several processes a
 * browser must come back to the same one. A session ends when its time is over, at a sign-out, when the same
 * person has signed in too often since, and when too many others have been used since; whoever remembers its
 * identity learns of it from the identity.
 */
export class Sessions implements IdentitySource {
  readonly #users: Pick<OauthUsers, 'admit'>;
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  /** By the digest of its id: a heap dump shows nothing to sign in with. */
  readonly #sessions: LRUCache<string, Session>;
  /** The digests of each one's sessions, the oldest first: nobody's sign-ins may end those of all others. */
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
   * @returns who it is, and the id, which is the credential of the session
   * @throws AppError `login_failed` for whom there is no tenant, `store_unavailable` while users are not
   *   known
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

  /** @returns who it was, and what tells the provider so; undefined when there is no such session */
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
