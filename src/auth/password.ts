import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { FairExecutor } from '../lib/fair-executor.ts';
import { limits } from '../limits/limits.ts';

/**
 * Argon2id, the library's default variant, at RFC 9106's memory-constrained setting (64 MiB, three passes),
 * with one lane so that a check uses one core: about 40 ms on a server core of the 2020s.
 */
const parameters = { memoryCost: 64 * 1024, timeCost: 3, parallelism: 1 } as const;

/**
 * A password that is known in plain text. It is hashed when a password is first presented, so that no
 * start waits for a hash. Each check costs one hash, whether it is the first one or not, and whether the
 * password is right or not.
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
 * A PHC string that matches no password: a check against it costs as much as any other. Salt and hash have
 * the library's default lengths.
 */
export function hashOfNoPassword(): string {
  const { memoryCost, timeCost, parallelism } = parameters;
  const [salt, tag] = [16, 32].map((length) => randomBytes(length).toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${tag}`;
}

/**
 * Hashes new passwords, one at a time, tenants in turn. Like checks (`PasswordChecks`) this takes one thread
 * of libuv's pool. The two are separate, so that neither waits for the other.
 */
export class Passwords {
  readonly #turns = new FairExecutor(
    limits.maxPendingPasswordHashes,
    'too many passwords are being made at the moment',
  );

  /**
   * Hashes a password into a PHC string with a new salt.
   * @throws AppError `overloaded`
   */
  hash(tenant: string, password: string): Promise<string> {
    return this.#turns.run(tenant, () => hash(password, parameters));
  }
}
