import { parseRole } from '../auth/privilege-entries.ts';
import type { Privilege } from '../model/identity.ts';
import {
  ApiKeyAccount,
  type ApiKeyValue,
  type OauthUserValue,
  UserAccount,
  type UserValue,
} from './accounts.ts';

/** The roles, users and API keys of one tenant, by name; and by subject whoever came from the identity provider. */
export class TenantIdentities {
  readonly #tenant: string;
  readonly roles = new Map<string, readonly Privilege[]>();
  readonly users = new Map<string, UserAccount>();
  readonly apiKeys = new Map<string, ApiKeyAccount>();
  readonly oauthUsers = new Map<string, OauthUserValue>();

  constructor(tenant: string) {
    this.#tenant = tenant;
  }

  /** @param value as the metadata log has it; undefined when the role has ended */
  applyRole(name: string, value: unknown): void {
    if (value === undefined) this.roles.delete(name);
    else this.roles.set(name, parseRole(value));
    for (const user of this.users.values()) {
      if (user.value.roles.includes(name)) user.update(user.value, this.#grant);
    }
    for (const key of this.apiKeys.values()) {
      if (key.value.roles.includes(name)) key.update(key.value, this.#grant);
    }
  }

  applyUser(name: string, value: UserValue | undefined): void {
    const known = this.users.get(name);
    if (known !== undefined && known.passwordHash === value?.passwordHash) {
      known.update(value, this.#grant);
      return;
    }
    known?.end();
    if (value === undefined) this.users.delete(name);
    else this.users.set(name, new UserAccount(this.#tenant, name, value, this.#grant));
  }

  applyOauthUser(subject: string, value: OauthUserValue | undefined): void {
    if (value === undefined) this.oauthUsers.delete(subject);
    else this.oauthUsers.set(subject, value);
  }

  applyApiKey(name: string, value: ApiKeyValue | undefined): void {
    this.apiKeys.get(name)?.end();
    if (value === undefined) this.apiKeys.delete(name);
    else this.apiKeys.set(name, new ApiKeyAccount(this.#tenant, name, value, this.#grant));
  }

  /** No credentials of this tenant are good any more. */
  end(): void {
    for (const user of this.users.values()) user.end();
    for (const key of this.apiKeys.values()) key.end();
  }

  readonly #grant = (_: string, roles: readonly string[]): readonly Privilege[] =>
    roles.flatMap((role) => this.roles.get(role) ?? []);
}
