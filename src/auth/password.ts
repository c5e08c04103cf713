import { hash, verify } from '@node-rs/argon2';
import { FairTurns } from '../lib/fair-turns.ts';
import { limits } from '../limits.ts';

/**
 * Argon2id, the library's default variant, at RFC 9106's memory-constrained setting (64 MiB, three passes),
 * in one lane so that a check takes one core: about 40 ms of it on a 2020s server core.
 */
const parameters = { memoryCost: 64 * 1024, timeCost: 3, parallelism: 1 } as const;

/**
 * Makes and checks hashes of passwords, one after another, tenants in turn.
 *
 * Argon2 runs on libuv's pool, which the write-ahead log needs for its fdatasync: a flood of wrong passwords, or of new
 * users, must not take more than one of the pool's threads, nor 64 MiB more than once. And one that is aimed at a tenant
 * must not hold up the sign-ins of another.
 */
export class Passwords {
  readonly #turns: FairTurns;

  /** @param maxWaiting passwords that wait for their turn, of all tenants together */
  constructor(maxWaiting: number = limits.maxPendingPasswordChecks) {
    this.#turns = new FairTurns(maxWaiting, 'too many passwords are being checked at the moment');
  }

  /**
   * A password as a PHC string, with a salt of its own.
   * @throws AppError `overloaded`
   */
  hash(tenant: string, password: string): Promise<string> {
    return this.#turns.run(tenant, () => hash(password, parameters));
  }

  /**
   * @param passwordHash made by `hash`
   * @throws AppError `overloaded`
   */
  verify(tenant: string, passwordHash: string, password: string): Promise<boolean> {
    return this.#turns.run(tenant, () => verify(passwordHash, password));
  }
}
