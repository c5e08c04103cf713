import { parseRole } from '../auth/privilege-entries.ts';
import {
  ApiKeyAccount,
  type ApiKeyValue,
  type OauthUserValue,
  UserAccount,
  type UserValue,
} from './accounts.ts';
import { Grants } from './grants.ts';

/**
 * The identities of one tenant: roles, users and API keys by name, users of the identity provider by subject.
 */
export class TenantIdentities {
  readonly #tenant: string;
  readonly grants = new Grants();
  readonly users = new Map<string, UserAccount>();
  readonly apiKeys = new Map<string, ApiKeyAccount>();
  readonly apiKeysById = new Map<string, ApiKeyAccount>();
  readonly oauthUsers = new Map<string, OauthUserValue>();

  constructor(tenant: string) {
    this.#tenant = tenant;
  }

  /** @param value from the metadata log; undefined if the role was deleted */
  applyRole(name: string, value: unknown): void {
    this.grants.set(name, value === undefined ? undefined : parseRole(value));
  }

  applyUser(name: string, value: UserValue | undefined): void {
    const known = this.users.get(name);
    if (known !== undefined && known.passwordHash === value?.passwordHash) {
      known.update(value);
      return;
    }
    known?.end();
    if (value === undefined) this.users.delete(name);
    else this.users.set(name, new UserAccount(this.#tenant, name, value, this.grants));
  }

  applyOauthUser(subject: string, value: OauthUserValue | undefined): void {
    if (value === undefined) this.oauthUsers.delete(subject);
    else this.oauthUsers.set(subject, value);
  }

  applyApiKey(name: string, value: ApiKeyValue | undefined): void {
    const known = this.apiKeys.get(name);
    if (known !== undefined) {
      known.end();
      this.apiKeys.delete(name);
      this.apiKeysById.delete(known.value.keyId);
    }
    if (value === undefined) return;
    const account = new ApiKeyAccount(this.#tenant, name, value, this.grants);
    this.apiKeys.set(name, account);
    this.apiKeysById.set(value.keyId, account);
  }

  /** Makes all credentials of this tenant invalid. */
  end(): void {
    for (const user of this.users.values()) user.end();
    for (const key of this.apiKeys.values()) key.end();
  }
}
