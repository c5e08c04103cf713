import { randomUUID } from 'node:crypto';
import type { Credentials } from '../auth/credentials.ts';
import type { Identity, IdentitySource } from '../auth/identity-sources.ts';
import type { SecretBox } from '../auth/secret-box.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { ulid } from '../lib/ulid.ts';
import { limits } from '../limits/limits.ts';
import type { ApiKeyAccount, ApiKeyValue } from './accounts.ts';
import type { IdentityStore } from './identity-store.ts';
import { checkKeyName } from './names.ts';
import { requireRoles } from './roles.ts';

/** An API key as administrators see it. */
export interface ApiKey {
  /** ULID. */
  readonly keyId: string;
  readonly keyName: string;
  /** A UUID, or asterisks and its last four characters. */
  readonly apiKey: string;
  readonly roles: readonly string[];
  readonly createdBy: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly modifiedAt: string;
}

/** Finds the identity of an API key. */
export class ApiKeyIdentities implements IdentitySource {
  readonly #identityStore: IdentityStore;
  readonly #box: SecretBox;

  constructor(identityStore: IdentityStore, box: SecretBox) {
    this.#identityStore = identityStore;
    this.#box = box;
  }

  verify(credentials: Credentials): Identity | undefined {
    if (credentials.scheme !== 'apiKey') return undefined;
    return this.#identityStore.apiKeyByDigest(this.#box.digest(credentials.key));
  }
}

/** Administration of API keys. A key can be created, read and deleted, but not changed. */
export class ApiKeyAdministration {
  readonly #identityStore: IdentityStore;
  readonly #box: SecretBox;
  readonly #clock: Clock;

  constructor(identityStore: IdentityStore, box: SecretBox, clock: Clock) {
    this.#identityStore = identityStore;
    this.#box = box;
    this.#clock = clock;
  }

  /** All keys with their values masked, in the order of their names. */
  list(tenant: string): readonly ApiKey[] {
    const keys = this.#identityStore.apiKeys(tenant).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return keys.map((account) => show(account, `****${account.value.ending}`));
  }

  /**
   * The key in full.
   * @throws AppError `not_found`, `secret_changed`
   */
  get(tenant: string, keyId: string): ApiKey {
    const account = this.#find(tenant, keyId);
    return show(account, this.secretOf(tenant, account));
  }

  /** The value of a key. @throws AppError `secret_changed` */
  secretOf(tenant: string, { value }: ApiKeyAccount): string {
    return this.#box.open(value.sealed, contextOf(tenant, value.keyId));
  }

  /**
   * @param createdBy the name of the administrator
   * @throws AppError `bad_name`, `identity_exists`, `role_unknown`, `too_many_identities`
   */
  async create(
    tenant: string,
    keyName: string,
    roles: readonly string[],
    createdBy: string,
  ): Promise<ApiKey> {
    checkKeyName(keyName);
    const apiKey = randomUUID();
    const nowMs = this.#clock.nowMicros() / 1000;
    const keyId = ulid(nowMs);
    const createdAt = new Date(nowMs).toISOString();
    return this.#identityStore.exclusively(tenant, async ({ write }) => {
      if (this.#identityStore.apiKey(tenant, keyName) !== undefined) {
        throw new AppError('identity_exists', `there is an API key ${JSON.stringify(keyName)} already`);
      }
      const count = this.#identityStore.apiKeys(tenant).length;
      if (count >= limits.maxApiKeysPerTenant) {
        throw new AppError('too_many_identities', `there are ${count} API keys; no more are allowed`);
      }
      const known = requireRoles(this.#identityStore, tenant, roles);
      const shown = { roles: known, createdBy, createdAt, modifiedAt: createdAt };
      const sealed = this.#box.seal(apiKey, contextOf(tenant, keyId));
      const digest = this.#box.digest(apiKey);
      const value: ApiKeyValue = { keyId, digest, sealed, ending: apiKey.slice(-4), ...shown };
      await write({ tenant, kind: 'apiKey', key: keyName }, value);
      return { keyId, keyName, apiKey, ...shown };
    });
  }

  /**
   * When this returns, the key is invalid on all nodes.
   * @returns the name of the key
   * @throws AppError `not_found`, `identity_changed`
   */
  async delete(tenant: string, keyId: string): Promise<string> {
    return this.#identityStore.exclusively(tenant, async ({ write }) => {
      const { name } = this.#find(tenant, keyId);
      await write({ tenant, kind: 'apiKey', key: name }, undefined);
      return name;
    });
  }

  #find(tenant: string, keyId: string): ApiKeyAccount {
    const found = this.#identityStore.apiKeyById(tenant, keyId);
    if (found !== undefined) return found;
    throw new AppError('not_found', 'there is no API key of this id; GET /api/console/v1/apikeys lists them');
  }
}

const contextOf = (tenant: string, keyId: string): string => `api key ${tenant}/${keyId}`;

function show({ name, value }: ApiKeyAccount, apiKey: string): ApiKey {
  const { keyId, roles, createdBy, createdAt, modifiedAt } = value;
  return { keyId, keyName: name, apiKey, roles, createdBy, createdAt, modifiedAt };
}
