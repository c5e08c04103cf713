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
 * Roles, users and API keys, as this node knows them: all of it in memory, fed from the metadata log.
 *
 * What an account may do is worked out once after each change of its roles, not each time it asks. A role
 * that does not exist grants nothing. An account whose credentials have ended says so by itself to whoever
 * remembers it.
 *
 * Tenants are apart, so that none waits while those of another are looked through.
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
   * @param caughtUp fulfils when all other nodes know what this one knows, and may not be asked
   *   for what they do not
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

  /** Everything before this position of the metadata log has been read. */
  get position(): number {
    return this.#replica.position;
  }

  /** Another number after each change: what was worked out from it is good as long as it stays. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Reads what has changed since, and which tenants there are. The tables of the metadata log must exist.
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

  /** A role as it was put. */
  roleDocument(tenant: string, name: string): RoleDocument | undefined {
    this.#requireLoaded();
    const record = this.#replica.get(tenant, 'role', name);
    return record === undefined ? undefined : (JSON.parse(record.value) as RoleDocument);
  }

  /** By name, in its order. */
  roles(tenant: string): ReadonlyMap<string, readonly Privilege[]> {
    this.#requireLoaded();
    return new Map([...(this.#of(tenant)?.grants.roles ?? [])].sort(byName));
  }

  /**
   * What roles grant together: the same array each time, until one of them changes.
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

  /** By subject, those that were removed as well. */
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

  /** The name of the role of those whom an identity provider vouches for and gives no role. */
  defaultRole(tenant: string): string | undefined {
    this.#requireLoaded();
    const record = this.#replica.get(tenant, 'setting', defaultRoleSetting);
    return record === undefined ? undefined : (JSON.parse(record.value) as string);
  }

  /**
   * Runs a decision and the changes that follow from it, on what the log says now; one after another on
   * this node, tenants in turn. Where something was changed or ended that was there, it returns when no
   * node goes by what was before.
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

  /** Tenants have ended, and with them all credentials of theirs. */
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

/** What a decision may change. */
export interface Changes {
  /**
   * @param value goes into the log as JSON; undefined ends the record
   * @throws AppError `identity_changed` when another node was first, `store_unavailable`
   */
  write(key: MetadataKey, value: unknown): Promise<void>;
}

export const defaultRoleSetting = 'default-role';

const byName = (a: readonly [string, unknown], b: readonly [string, unknown]): number =>
  a[0] < b[0] ? -1 : 1;
