import { randomBytes } from 'node:crypto';
import { defaultTenant } from '../model/dataset.ts';
import type { Principal } from '../model/identity.ts';
import type { Credentials } from './credentials.ts';
import { Passwords } from './password.ts';

/**
 * Somebody who has credentials. A verification is remembered; what it was worth may change meanwhile, so whoever
 * remembers it keeps this and asks again each time.
 */
export interface Identity {
  /** Who it is and what it may do, at this moment; undefined once its credentials are good no more. */
  readonly principal: Principal | undefined;
}

/** A place that knows some identities: accounts with a password, keys, an identity provider. */
export interface IdentitySource {
  /**
   * Who these credentials belong to, in whatever tenant; undefined when they are wrong or not of this source's kind. A promise only where
   * there is something to wait for: the checks that are waited for are bounded.
   * @throws AppError `store_unavailable` while the source cannot know
   */
  verify(credentials: Credentials): Identity | undefined | Promise<Identity | undefined>;
}

/** Somebody who signs in with a name and a password. */
export interface PasswordAccount extends Identity {
  readonly passwordHash: string;
}

/** The administrator from the configuration: all privileges, on everything, in all tenants. */
export async function administratorAccount(username: string, password: string): Promise<PasswordAccount> {
  return {
    principal: {
      kind: 'root',
      name: username,
      tenant: defaultTenant,
      privileges: [{ privilege: 'admin' }],
    },
    passwordHash: await new Passwords().hash(defaultTenant, password),
  };
}

/** The account of that name that may act in a tenant, if there is one. */
type FindAccount = (tenant: string, username: string) => PasswordAccount | undefined;

/** Accounts with a password. */
export class PasswordIdentities implements IdentitySource {
  readonly #find: FindAccount;
  readonly #nobodyHash: string;
  readonly #passwords: Passwords;

  private constructor(find: FindAccount, passwords: Passwords, nobodyHash: string) {
    this.#find = find;
    this.#passwords = passwords;
    this.#nobodyHash = nobodyHash;
  }

  static async create(find: FindAccount, passwords = new Passwords()): Promise<PasswordIdentities> {
    const nobodyHash = await passwords.hash(defaultTenant, randomBytes(32).toString('base64'));
    return new PasswordIdentities(find, passwords, nobodyHash);
  }

  verify(credentials: Credentials): Promise<Identity | undefined> | undefined {
    return credentials.scheme === 'basic'
      ? this.#check(credentials.tenant, credentials.username, credentials.password)
      : undefined;
  }

  async #check(tenant: string, username: string, password: string): Promise<Identity | undefined> {
    const account = this.#find(tenant, username);
    // An unknown name costs what a wrong password costs, or the time would tell which names exist.
    const matches = await this.#passwords.verify(tenant, account?.passwordHash ?? this.#nobodyHash, password);
    return matches ? account : undefined;
  }
}
