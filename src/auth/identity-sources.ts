import { defaultTenant } from '../model/dataset.ts';
import type { Principal } from '../model/identity.ts';
import type { Credentials } from './credentials.ts';
import { hashOfNoPassword, UnhashedPassword } from './password.ts';
import { PasswordChecks, type SignIn } from './password-checks.ts';

/**
 * The holder of a credential. Verifications are cached, while privileges may change: whoever caches this
 * object reads `principal` again for each request.
 */
export interface Identity {
  /** The current principal with its privileges; undefined once the credentials are no longer valid. */
  readonly principal: Principal | undefined;
}

/** A source of identities: accounts with a password, API keys, or an identity provider. */
export interface IdentitySource {
  /**
   * Finds the owner of these credentials, in any tenant; undefined if they are wrong or not of this source's
   * kind. Returns a promise only if it has to wait; the number of checks that wait is bounded.
   * @param clientAddress called before anything is awaited
   * @throws AppError `store_unavailable` while the source cannot know
   */
  verify(
    credentials: Credentials,
    clientAddress: () => string,
  ): Identity | undefined | Promise<Identity | undefined>;
}

/** An account that signs in with a name and a password. */
export interface PasswordAccount extends Identity {
  readonly passwordHash: string | UnhashedPassword;
}

/** The administrator from the configuration: all privileges on everything, in all tenants. */
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

/** Checks without a client address count as one client. */
const noAddress = (): string => '';

/** Finds the account with this name that may act in the tenant. */
type FindAccount = (tenant: string, username: string) => PasswordAccount | undefined;

/** Accounts with a password. */
export class PasswordIdentities implements IdentitySource {
  readonly #find: FindAccount;
  readonly #onVerified: (account: PasswordAccount, password: string) => void;
  readonly #nobodyHash = hashOfNoPassword();
  readonly #checks: PasswordChecks;

  /** @param onVerified told of each password that was checked and is right */
  constructor(
    find: FindAccount,
    checks = new PasswordChecks(),
    onVerified: (account: PasswordAccount, password: string) => void = () => {},
  ) {
    this.#find = find;
    this.#onVerified = onVerified;
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
    // An unknown name costs as much as a wrong password. Otherwise the time would tell which names exist.
    const kept = account?.passwordHash ?? this.#nobodyHash;
    const matches = await this.#checks.verify(signIn, kept, password);
    if (!matches || account === undefined) return undefined;
    this.#onVerified(account, password);
    return account;
  }
}
