import { defaultTenant } from '../model/dataset.ts';
import type { Principal } from '../model/identity.ts';
import type { Credentials } from './credentials.ts';
import { hashOfNoPassword, UnhashedPassword } from './password.ts';
import { PasswordChecks, type SignIn } from './password-checks.ts';

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
   * @param clientAddress where they come from; asked for before anything is awaited
   * @throws AppError `store_unavailable` while the source cannot know
   */
  verify(
    credentials: Credentials,
    clientAddress: () => string,
  ): Identity | undefined | Promise<Identity | undefined>;
}

/** Somebody who signs in with a name and a password. */
export interface PasswordAccount extends Identity {
  readonly passwordHash: string | UnhashedPassword;
}

/** The administrator from the configuration: all privileges, on everything, in all tenants. */
export function administratorAccount(username: string, password: string): PasswordAccount {
  return {
    principal: {
      kind: 'root',
      name: username,
      tenant: defaultTenant,
      privileges: [{ privilege: 'admin' }],
    },
    passwordHash: new UnhashedPassword(password),
  };
}

/** All who come from nowhere in particular share their turns. */
const noAddress = (): string => '';

/** The account of that name that may act in a tenant, if there is one. */
type FindAccount = (tenant: string, username: string) => PasswordAccount | undefined;

/** Accounts with a password. */
export class PasswordIdentities implements IdentitySource {
  readonly #find: FindAccount;
  readonly #nobodyHash = hashOfNoPassword();
  readonly #checks: PasswordChecks;

  constructor(find: FindAccount, checks = new PasswordChecks()) {
    this.#find = find;
    this.#checks = checks;
  }

  verify(
    credentials: Credentials,
    clientAddress: () => string = noAddress,
  ): Promise<Identity | undefined> | undefined {
    if (credentials.scheme !== 'basic') return undefined;
    const { tenant, username, password } = credentials;
    return this.#check({ tenant, username, address: clientAddress() }, password);
  }

  async #check(signIn: SignIn, password: string): Promise<Identity | undefined> {
    const account = this.#find(signIn.tenant, signIn.username);
    // An unknown name costs what a wrong password costs, or the time would tell which names exist.
    const kept = account?.passwordHash ?? this.#nobodyHash;
    const matches = await this.#checks.verify(signIn, kept, password);
    return matches ? account : undefined;
  }
}
