import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { FairExecutor } from '../lib/fair-executor.ts';
import { limits } from '../limits/limits.ts';

/**
 * Argon2id, the library's default variant, at RFC 9106's memory-constrained setting (64 MiB, three passes),
 * in one lane so that a check takes one core: about 40 ms of it on a 2020s server core.
 */
const parameters = { memoryCost: 64 * 1024, timeCost: 3, parallelism: 1 } as const;

/**
 * A password that is known as it is. It is hashed when it is first presented, so that no start waits for a hash; and a
 * check costs one of them all the same, whether it is the first, and whether it is right.
 */
export class UnhashedPassword {
  #known: { readonly hash: string } | { readonly digest: Buffer };

  constructor(password: string) {
    this.#known = { digest: digestOf(password) };
  }

  async matches(presented: string): Promise<boolean> {
    const known = this.#known;
    if ('hash' in known) return await verify(known.hash, presented);
    const made = await hash(presented, parameters);
    if (!timingSafeEqual(digestOf(presented), known.digest)) return false;
    this.#known = { hash: made };
    return true;
  }
}

const digestOf = (password: string): Buffer => createHash('sha256').update(password).digest();

/**
 * A PHC string that no password has: a check against it costs what any check costs. Salt and hash are as long as the
 * library makes them.
 */
export function hashOfNoPassword(): string {
  const { memoryCost, timeCost, parallelism } = parameters;
  const [salt, tag] = [16, 32].map((length) => randomBytes(length).toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${tag}`;
}

/**
 * Makes hashes of new passwords, one after another, tenants in turn: like checks (`PasswordChecks`) they take
 * one thread of libuv's pool, and are apart from them, so that neither waits for the other.
 */
export class Passwords {
  readonly #turns = new FairExecutor(
    limits.maxPendingPasswordHashes,
    'too many passwords are being made at the moment',
  );

  /**
   * A password as a PHC string, with a salt of its own.
   * @throws AppError `overloaded`
   */
  hash(tenant: string, password: string): Promise<string> {
    return this.#turns.run(tenant, () => hash(password, parameters));
  }
}
