import { verify } from '@node-rs/argon2';
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { clientNetwork } from '../lib/ip-address.ts';
import { limits } from '../limits/limits.ts';
import type { UnhashedPassword } from './password.ts';
import { type Attempt, PasswordQueue } from './password-queue.ts';

/** A sign-in attempt. */
export interface SignIn {
  /** The id of the tenant; empty if it does not exist. */
  readonly tenant: string;
  readonly username: string;
  /** The address of the client. */
  readonly address: string;
}

interface Check {
  readonly attempt: Attempt;
  /** Runs the check and settles its promise. Never rejects. */
  readonly run: () => Promise<void>;
  readonly refuse: (error: AppError) => void;
}

/**
 * Checks passwords one at a time, so that an attacker slows down only himself.
 *
 * Argon2 runs on libuv's thread pool, which the write-ahead log needs for fdatasync. A flood of wrong
 * passwords must not take more than one thread of the pool, nor 64 MiB more than once.
 *
 *     sign-in ──▶ fresh ───┐
 *        │                 ├─▶ in turn ──▶ one check at a time ──▶ wrong: the client is suspected for a while
 *        └──────▶ suspected┘
 *
 * Within each queue a flood, from one client or for one name, holds up nobody else (`PasswordQueue`). A
 * client that sent a wrong password moves to the second queue with everything it has waiting, and stays there
 * for a while. Clients without a wrong password thus get half of all checks, and an attacker needs a new
 * network for each password. Nobody is locked out: a suspected client waits for its turn, and a right
 * password is accepted from anywhere. Names are never suspected, because others could cause that.
 *
 * Names that do not exist are treated like others: a shorter or longer wait would tell which exist.
 */
export class PasswordChecks {
  readonly #fresh: PasswordQueue<Check>;
  readonly #suspected: PasswordQueue<Check>;
  /** Clients that sent a wrong password, least recently seen first. */
  readonly #failed: LRUCache<string, true>;
  #busy = false;
  #servedFresh = false;

  /** @param maxWaiting checks that may wait in each of the two queues */
  constructor(maxWaiting: number = limits.maxPendingPasswordChecks, clock: Clock = systemClock) {
    this.#fresh = new PasswordQueue(maxWaiting);
    this.#suspected = new PasswordQueue(maxWaiting);
    this.#failed = new LRUCache({
      maxSize: limits.maxSuspectedClients,
      sizeCalculation: () => 1,
      ttl: limits.suspectedClientMs,
      perf: { now: () => clock.monotonicMs() },
    });
  }

  /**
   * @param kept a hash from `Passwords.hash`, or a password that was never hashed
   * @throws AppError `overloaded`
   */
  verify(signIn: SignIn, kept: string | UnhashedPassword, password: string): Promise<boolean> {
    const attempt = attemptOf(signIn);
    return new Promise((resolve, reject) => {
      const run = async () => {
        try {
          const matches = await (typeof kept === 'string' ? verify(kept, password) : kept.matches(password));
          if (!matches) this.#suspect(attempt.client);
          resolve(matches);
        } catch (error) {
          reject(error);
        }
      };
      this.#push({ attempt, run, refuse: reject });
      void this.#work();
    });
  }

  #push(check: Check): void {
    const queue = this.#failed.has(check.attempt.client) ? this.#suspected : this.#fresh;
    const gone = queue.push(check.attempt, check);
    gone?.refuse(new AppError('overloaded', 'too many passwords are being checked'));
  }

  #suspect(client: string): void {
    this.#failed.set(client, true);
    for (const { item } of this.#fresh.take(client)) this.#push(item);
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let check = this.#next(); check !== undefined; check = this.#next()) await check.run();
    this.#busy = false;
  }

  #next(): Check | undefined {
    const isFresh = this.#fresh.size > 0 && (this.#suspected.size === 0 || !this.#servedFresh);
    this.#servedFresh = isFresh;
    return (isFresh ? this.#fresh : this.#suspected).shift();
  }
}

/** No account has a longer name, so all longer names share one key. Ids of tenants contain no slash. */
function attemptOf({ tenant, username, address }: SignIn): Attempt {
  const name = username.length > limits.identityNameMaxLength ? '' : username;
  return { client: clientNetwork(address), name: `${tenant}/${name}` };
}
