import { parseRole } from '../auth/privilege-entries.ts';
import { AppError } from '../errors.ts';
import type { Privilege } from '../model/identity.ts';
import type { MetadataKey, MetadataLog } from '../store/metadata.ts';
import { MetadataReplica } from '../store/metadata-replica.ts';
import { ApiKeyAccount, type ApiKeyValue, UserAccount, type UserValue } from './accounts.ts';

/**
 * Roles, users and API keys, as this node knows them: all of it in memory, fed from the metadata log.
 *
 * What an account may do is worked out when its roles change, not when it asks. A role that does not exist grants
 * nothing. An account whose credentials have ended says so by itself to whoever remembers it.
 */
export class Directory {
  readonly #replica: MetadataReplica;
  readonly #onChange: () => void;
  readonly #roles = new Map<string, readonly Privilege[]>();
  readonly #users = new Map<string, UserAccount>();
  readonly #keys = new Map<string, ApiKeyAccount>();
  readonly #keysByDigest = new Map<string, ApiKeyAccount>();
  #changing: Promise<unknown> = Promise.resolve();
  #revision = 0;

  /** @param onChange called after each change, by this node or another */
  constructor(log: MetadataLog, onChange: () => void) {
    this.#onChange = onChange;
    this.#replica = new MetadataReplica(log, ['role', 'user', 'apiKey', 'setting'], (key, value) =>
      this.#apply(key, value),
    );
  }

  get loaded(): boolean {
    return this.#replica.loaded;
  }

  /** Another number after each change: what was worked out from the directory is good as long as it stays. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Reads what has changed since. The tables of the metadata log must exist.
   * @throws StoreError
   */
  refresh(): Promise<void> {
    return this.#replica.refresh();
  }

  role(tenant: string, name: string): readonly Privilege[] | undefined {
    this.#requireLoaded();
    return this.#roles.get(keyOf(tenant, name));
  }

  /** By name, in its order. */
  roles(tenant: string): ReadonlyMap<string, readonly Privilege[]> {
    this.#requireLoaded();
    const prefix = keyOf(tenant, '');
    const own = [...this.#roles].filter(([key]) => key.startsWith(prefix));
    return new Map(own.map(([key, role]) => [key.slice(prefix.length), role] as const).sort(byName));
  }

  user(tenant: string, name: string): UserAccount | undefined {
    this.#requireLoaded();
    return this.#users.get(keyOf(tenant, name));
  }

  /** In no particular order. */
  users(tenant: string): readonly UserAccount[] {
    this.#requireLoaded();
    return ofTenant(this.#users, tenant);
  }

  apiKey(tenant: string, name: string): ApiKeyAccount | undefined {
    this.#requireLoaded();
    return this.#keys.get(keyOf(tenant, name));
  }

  /** In no particular order. */
  apiKeys(tenant: string): readonly ApiKeyAccount[] {
    this.#requireLoaded();
    return ofTenant(this.#keys, tenant);
  }

  apiKeyByDigest(digest: string): ApiKeyAccount | undefined {
    this.#requireLoaded();
    return this.#keysByDigest.get(digest);
  }

  /** The name of the role of those whom an identity provider vouches for and gives no role. */
  defaultRole(tenant: string): string | undefined {
    this.#requireLoaded();
    const record = this.#replica.get(tenant, 'setting', defaultRoleSetting);
    return record === undefined ? undefined : (JSON.parse(record.value) as string);
  }

  /**
   * Runs a decision and the changes that follow from it, on what the log says now; one after another on this node.
   * @throws AppError `store_unavailable`
   */
  async exclusively<T>(work: (changes: Changes) => Promise<T>): Promise<T> {
    this.#requireLoaded();
    const done = this.#changing.then(async () => {
      await this.#replica.catchUp();
      return work({ write: (key, value) => this.#write(key, value) });
    });
    // The caller learns of a failure through `done`; the next change only waits for its end.
    this.#changing = done.catch(() => undefined);
    return done;
  }

  async #write(key: MetadataKey, value: unknown): Promise<void> {
    const seen = this.#replica.get(key.tenant, key.kind, key.key);
    const text = value === undefined ? undefined : JSON.stringify(value);
    if (await this.#replica.change(key, text, seen)) return;
    const reason = `somebody else changed ${JSON.stringify(key.key)} at the same time; look at it, and try again`;
    throw new AppError('identity_changed', reason);
  }

  #apply({ tenant, kind, key }: MetadataKey, value: string | undefined): void {
    const parsed: unknown = value === undefined ? undefined : JSON.parse(value);
    if (kind === 'role') this.#applyRole(tenant, key, parsed);
    else if (kind === 'user') this.#applyUser(tenant, key, parsed as UserValue | undefined);
    else if (kind === 'apiKey') this.#applyApiKey(tenant, key, parsed as ApiKeyValue | undefined);
    this.#revision += 1;
    this.#onChange();
  }

  #applyRole(tenant: string, name: string, value: unknown): void {
    if (value === undefined) this.#roles.delete(keyOf(tenant, name));
    else this.#roles.set(keyOf(tenant, name), parseRole(value));
    for (const user of this.#users.values()) {
      if (user.tenant === tenant && user.value.roles.includes(name)) user.update(user.value, this.#grant);
    }
    for (const key of this.#keys.values()) {
      if (key.tenant === tenant && key.value.roles.includes(name)) key.update(key.value, this.#grant);
    }
  }

  #applyUser(tenant: string, name: string, value: UserValue | undefined): void {
    const known = this.#users.get(keyOf(tenant, name));
    if (known !== undefined && known.passwordHash === value?.passwordHash) {
      known.update(value, this.#grant);
      return;
    }
    known?.end();
    if (value === undefined) this.#users.delete(keyOf(tenant, name));
    else this.#users.set(keyOf(tenant, name), new UserAccount(tenant, name, value, this.#grant));
  }

  #applyApiKey(tenant: string, name: string, value: ApiKeyValue | undefined): void {
    const known = this.#keys.get(keyOf(tenant, name));
    if (known !== undefined) {
      known.end();
      this.#keys.delete(keyOf(tenant, name));
      this.#keysByDigest.delete(known.value.digest);
    }
    if (value === undefined) return;
    const account = new ApiKeyAccount(tenant, name, value, this.#grant);
    this.#keys.set(keyOf(tenant, name), account);
    this.#keysByDigest.set(value.digest, account);
  }

  readonly #grant = (tenant: string, roles: readonly string[]): readonly Privilege[] =>
    roles.flatMap((role) => this.#roles.get(keyOf(tenant, role)) ?? []);

  #requireLoaded(): void {
    if (this.loaded) return;
    const reason = 'roles, users and API keys are not known: the store has not answered since the start';
    throw new AppError('store_unavailable', reason);
  }
}

/** What a decision may change. */
export interface Changes {
  /**
   * @param value goes into the log as JSON; undefined ends the record
   * @throws AppError `identity_changed` when another node was first, `store_unavailable`
   */
  write(key: MetadataKey, value: unknown): Promise<void>;
}

export const defaultRoleSetting = 'default-role';

const keyOf = (tenant: string, name: string): string => `${tenant}/${name}`;

const byName = (a: readonly [string, unknown], b: readonly [string, unknown]): number =>
  a[0] < b[0] ? -1 : 1;

const ofTenant = <Account extends { readonly tenant: string }>(
  accounts: ReadonlyMap<string, Account>,
  tenant: string,
): readonly Account[] => [...accounts.values()].filter((account) => account.tenant === tenant);
