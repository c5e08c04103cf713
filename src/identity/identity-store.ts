import type { RoleDocument } from '../auth/privilege-entries.ts';
import type { HasEnded, TenantHolder } from '../catalog/tenant-cleaner.ts';
import type { Tenants } from '../catalog/tenants.ts';
import { AppError } from '../errors.ts';
import { FairExecutor } from '../lib/fair-executor.ts';
import { limits } from '../limits/limits.ts';
import type { MetadataKey, MetadataLog } from '../metadata/metadata-log.ts';
import { MetadataReplica } from '../metadata/metadata-replica.ts';
import type { Privilege } from '../model/identity.ts';
import type { ApiKeyAccount, ApiKeyValue, OauthUserValue, UserAccount, UserValue } from './accounts.ts';
import { TenantIdentities } from './tenant-identities.ts';

/**
 * Roles, users and API keys, as this node knows them. All of them are in memory and follow the metadata log.
 *
 * The privileges of an account are computed once after each change of its roles, not for each request. A role
 * that does not exist grants nothing. Callers may keep an account: once its credentials are invalid, its
 * `principal` is undefined.
 *
 * Each tenant has maps of its own, so that listing one tenant does not walk through the others.
 */
export class IdentityStore implements TenantHolder {
  readonly #replica: MetadataReplica;
  readonly #onChange: () => void;
  readonly #tenants: Pick<Tenants, 'refresh' | 'hasEnded'>;
  readonly #identities = new Map<string, TenantIdentities>();
  readonly #keysByDigest = new Map<string, ApiKeyAccount>();
  readonly #caughtUp: () => Promise<void>;
  readonly #changes = new FairExecutor(
    limits.maxPendingChanges,
    'too many changes are being made at the moment',
    limits.maxChangeWaitMs,
  );
  #revision = 0;

  /**
   * @param onChange called after each change, by this node or another
   * @param caughtUp fulfils when every other node has read what this node has read, or no longer answers
   *   requests
   */
  constructor(
    log: MetadataLog,
    tenants: Pick<Tenants, 'refresh' | 'hasEnded'>,
    onChange: () => void,
    caughtUp: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.#caughtUp = caughtUp;
    this.#tenants = tenants;
    this.#onChange = onChange;
    this.#replica = new MetadataReplica(log, kinds, (key, value) => this.#apply(key, value));
  }

  get loaded(): boolean {
    return this.#replica.loaded;
  }

  /** The position in the metadata log up to which everything has been read. */
  get position(): number {
    return this.#replica.position;
  }

  /** Increases with each change. What a caller derives from the store is valid while it stays the same. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Reads the tenants, and the changes since the last call. The tables of the metadata log must exist.
   * @throws StoreError
   */
  async refresh(): Promise<void> {
    await this.#tenants.refresh();
    await this.#replica.refresh();
  }

  role(tenant: string, name: string): readonly Privilege[] | undefined {
    this.#requireLoaded();
    return this.#of(tenant)?.grants.roles.get(name);
  }

  /** A role in the form in which it was written. */
  roleDocument(tenant: string, name: string): RoleDocument | undefined {
    this.#requireLoaded();
    const record = this.#replica.get(tenant, 'role', name);
    return record === undefined ? undefined : (JSON.parse(record.value) as RoleDocument);
  }

  /** All roles by name, sorted by name. */
  roles(tenant: string): ReadonlyMap<string, readonly Privilege[]> {
    this.#requireLoaded();
    return new Map([...(this.#of(tenant)?.grants.roles ?? [])].sort(byName));
  }

  /**
   * All privileges of these roles. The array is the same each time, until one of the roles changes.
   * @throws AppError `forbidden`, see `Grants.of`
   */
  grant(tenant: string, roles: readonly string[]): readonly Privilege[] {
    this.#requireLoaded();
    return this.#of(tenant)?.grants.of(roles) ?? noPrivileges;
  }

  user(tenant: string, name: string): UserAccount | undefined {
    this.#requireLoaded();
    return this.#of(tenant)?.users.get(name);
  }

  /** In no particular order. */
  users(tenant: string): readonly UserAccount[] {
    this.#requireLoaded();
    return [...(this.#of(tenant)?.users.values() ?? [])];
  }

  oauthUser(tenant: string, subject: string): OauthUserValue | undefined {
    this.#requireLoaded();
    return this.#of(tenant)?.oauthUsers.get(subject);
  }

  /** By subject, including removed users. */
  oauthUsers(tenant: string): ReadonlyMap<string, OauthUserValue> {
    this.#requireLoaded();
    return this.#of(tenant)?.oauthUsers ?? new Map();
  }

  apiKey(tenant: string, name: string): ApiKeyAccount | undefined {
    this.#requireLoaded();
    return this.#of(tenant)?.apiKeys.get(name);
  }

  apiKeyById(tenant: string, keyId: string): ApiKeyAccount | undefined {
    this.#requireLoaded();
    return this.#of(tenant)?.apiKeysById.get(keyId);
  }

  /** In no particular order. */
  apiKeys(tenant: string): readonly ApiKeyAccount[] {
    this.#requireLoaded();
    return [...(this.#of(tenant)?.apiKeys.values() ?? [])];
  }

  apiKeyByDigest(digest: string): ApiKeyAccount | undefined {
    this.#requireLoaded();
    return this.#keysByDigest.get(digest);
  }

  /** The name of the role for users of the identity provider who have no other role. */
  defaultRole(tenant: string): string | undefined {
    this.#requireLoaded();
    const record = this.#replica.get(tenant, 'setting', defaultRoleSetting);
    return record === undefined ? undefined : (JSON.parse(record.value) as string);
  }

  /**
   * Runs a decision and the changes that follow from it. It first reads the log to its end, so the decision
   * rests on the current state. On this node one call runs at a time, and tenants take turns. If the work
   * changes or deletes an existing record, the call returns once no node uses the old record any more.
   * @throws AppError `store_unavailable`, `overloaded`
   */
  async exclusively<T>(tenant: string, work: (changes: Changes) => Promise<T>): Promise<T> {
    this.#requireLoaded();
    let isNew = true;
    const result = await this.#changes.run(tenant, async () => {
      await this.#replica.catchUp();
      return work({
        write: async (key, value) => {
          isNew &&= this.#replica.get(key.tenant, key.kind, key.key) === undefined;
          await this.#write(key, value);
        },
      });
    });
    if (!isNew) await this.#caughtUp();
    return result;
  }

  async #write(key: MetadataKey, value: unknown): Promise<void> {
    const seen = this.#replica.get(key.tenant, key.kind, key.key);
    const text = value === undefined ? undefined : JSON.stringify(value);
    if (await this.#replica.change(key, text, seen)) return;
    const reason = `somebody else changed ${JSON.stringify(key.key)} at the same time; look at it, and try again`;
    throw new AppError('identity_changed', reason);
  }

  /** Removes all identities of deleted tenants and makes their credentials invalid. */
  forgetEnded(hasEnded: HasEnded): void {
    for (const [tenant, identities] of this.#identities) {
      if (!hasEnded(tenant)) continue;
      identities.end();
      for (const { value } of identities.apiKeys.values()) this.#keysByDigest.delete(value.digest);
      this.#identities.delete(tenant);
    }
    this.#replica.forget(hasEnded);
  }

  #apply({ tenant, kind, key }: MetadataKey, value: string | undefined): void {
    if (this.#tenants.hasEnded(tenant)) return;
    const parsed: unknown = value === undefined ? undefined : JSON.parse(value);
    const identities = this.#of(tenant) ?? new TenantIdentities(tenant);
    this.#identities.set(tenant, identities);
    if (kind === 'role') identities.applyRole(key, parsed);
    else if (kind === 'user') identities.applyUser(key, parsed as UserValue | undefined);
    else if (kind === 'oauthUser') identities.applyOauthUser(key, parsed as OauthUserValue | undefined);
    else if (kind === 'apiKey') this.#applyApiKey(identities, key, parsed as ApiKeyValue | undefined);
    this.#revision += 1;
    this.#onChange();
  }

  #applyApiKey(identities: TenantIdentities, name: string, value: ApiKeyValue | undefined): void {
    const before = identities.apiKeys.get(name);
    identities.applyApiKey(name, value);
    if (before !== undefined) this.#keysByDigest.delete(before.value.digest);
    const account = identities.apiKeys.get(name);
    if (account !== undefined) this.#keysByDigest.set(account.value.digest, account);
  }

  #of(tenant: string): TenantIdentities | undefined {
    return this.#identities.get(tenant);
  }

  #requireLoaded(): void {
    if (this.loaded) return;
    const reason = 'roles, users and API keys are not known: the store has not answered since the start';
    throw new AppError('store_unavailable', reason);
  }
}

const noPrivileges: readonly Privilege[] = [];

const kinds = ['role', 'user', 'oauthUser', 'apiKey', 'setting'] as const;

/** How a decision makes its changes. */
export interface Changes {
  /**
   * @param value is written to the log as JSON; undefined deletes the record
   * @throws AppError `identity_changed` if another node changed the record first, `store_unavailable`
   */
  write(key: MetadataKey, value: unknown): Promise<void>;
}

export const defaultRoleSetting = 'default-role';

const byName = (a: readonly [string, unknown], b: readonly [string, unknown]): number =>
  a[0] < b[0] ? -1 : 1;
