import { verify } from '@node-rs/argon2';
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { clientNetwork } from '../lib/ip-address.ts';
import { limits } from '../limits/limits.ts';
import type { UnhashedPassword } from './password.ts';
import { type Attempt, PasswordQueue } from './password-queue.ts';

/** Who signs in, and from where. */
export interface SignIn {
  /** Id of the tenant; empty for one that does not exist. */
  readonly tenant: string;
  readonly username: string;
  /** Address of the client. */
  readonly address: string;
}

interface Check {
  readonly attempt: Attempt;
  /** Works, and tells whoever waits. Never rejects. */
  readonly run: () => Promise<void>;
  readonly refuse: (error: AppError) => void;
}

/**
 * Checks passwords, one after another, so that an attack slows itself and nobody else.
 *
 * Argon2 runs on libuv's pool, which the write-ahead log needs for its fdatasync: a flood of wrong passwords
 * must not take more than one of the pool's threads, nor 64 MiB more than once.
 *
 *     sign-in ──▶ fresh ───┐
 *        │                 ├─▶ in turn ──▶ one check at a time ──▶ wrong: the client is suspected for a while
 *        └──────▶ suspected┘
 *
 * Within each queue a flood, of one client or for one name, holds up nobody else (`PasswordQueue`). A client
 * from which a wrong password came goes to the second queue, with all that waits of it, and stays for a
 * while: so clients without a wrong password have half of all checks for themselves, and an attacker needs a
 * new network for every password. Nobody is locked out: one who is suspected waits for a turn, and a right
 * password is right from anywhere. A name is never suspected: others could make it so.
 *
 * Names that do not exist are treated like others: whether they wait shorter or longer would tell which exist.
 */
export class PasswordChecks {
  readonly #fresh: PasswordQueue<Check>;
  readonly #suspected: PasswordQueue<Check>;
  /** Clients from which a wrong password came; the one that was heard of longest ago is forgotten first. */
  readonly #failed: LRUCache<string, true>;
  #busy = false;
  #servedFresh = false;

  /** @param maxWaiting checks that wait in each of the two queues */
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
   * @param kept what `Passwords.hash` made, or a password that was never hashed
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
    gone?.refuse(new AppError('overloaded', 'too many passwords are being checked at the moment'));
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

/** No name is longer, so what is need not be told apart. Ids of tenants hold no slash. */
function attemptOf({ tenant, username, address }: SignIn): Attempt {
  const name = username.length > limits.identityNameMaxLength ? '' : username;
  return { client: clientNetwork(address), name: `${tenant}/${name}` };
}
