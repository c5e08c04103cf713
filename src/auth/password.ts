import { hash, verify } from '@node-rs/argon2';

/**
 * Argon2id, the library's default variant, at RFC 9106's memory-constrained setting (64 MiB, three passes),
 * in one lane so that a check takes one core: about 40 ms of it on a 2020s server core.
 */
const parameters = { memoryCost: 64 * 1024, timeCost: 3, parallelism: 1 } as const;

/** A password as a PHC string, with a salt of its own. */
export const hashPassword = (password: string): Promise<string> => hash(password, parameters);

/**
 * Checks passwords one after another.
 *
 * Argon2 runs on libuv's pool, which the write-ahead log needs for its fdatasync: a flood of wrong passwords
 * must not take more than one of the pool's threads, nor 64 MiB more than once.
 */
export class PasswordVerifier {
  #previous: Promise<unknown> = Promise.resolve();

  /** @param passwordHash made by `hashPassword` */
  verify(passwordHash: string, password: string): Promise<boolean> {
    const check = this.#previous.then(() => verify(passwordHash, password));
    // The next one waits for the end of this one, whatever it is; its caller sees the failure.
    this.#previous = check.then(ignore, ignore);
    return check;
  }
}

const ignore = (): void => {};
