import type { PasswordAccount } from '../auth/identities.ts';
import type { Principal, Privilege } from '../model/identity.ts';

/** What the metadata log keeps of a user. */
export interface UserValue {
  /** PHC string. */
  readonly passwordHash: string;
  readonly roles: readonly string[];
}

/** What the metadata log keeps of somebody who came by way of the identity provider, under the subject. */
export interface OauthUserValue {
  /** As the provider named them when they first came. */
  readonly name: string;
  /** Given here, besides those of the claim. */
  readonly roles: readonly string[];
  /** They were listed once and are not any more. */
  readonly removed: boolean;
  /** What the provider said of them before is good no more, milliseconds since 1970; 0 if they never were removed. */
  readonly goodSinceMs: number;
}

/** What the metadata log keeps of an API key, under its name. */
export interface ApiKeyValue {
  readonly keyId: string;
  /** Keyed hash of the key, by which it is found. */
  readonly digest: string;
  /** The key itself, encrypted. */
  readonly sealed: string;
  /** Its last characters, which tell people which key it is. */
  readonly ending: string;
  readonly roles: readonly string[];
  readonly createdBy: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly modifiedAt: string;
}

/** Turns the names of roles into what they grant. */
type Grant = (tenant: string, roles: readonly string[]) => readonly Privilege[];

/** An identity that an administrator has made. The object lives as long as its credentials are good. */
class Account<Value extends { readonly roles: readonly string[] }> {
  readonly kind: 'user' | 'apiKey';
  readonly tenant: string;
  readonly name: string;
  #value: Value;
  #principal: Principal | undefined;

  constructor(kind: 'user' | 'apiKey', tenant: string, name: string, value: Value, grant: Grant) {
    this.kind = kind;
    this.tenant = tenant;
    this.name = name;
    this.#value = value;
    this.update(value, grant);
  }

  get value(): Value {
    return this.#value;
  }

  get principal(): Principal | undefined {
    return this.#principal;
  }

  /** Its roles, or what they grant, have changed. */
  update(value: Value, grant: Grant): void {
    const { kind, name, tenant } = this;
    this.#value = value;
    this.#principal = { kind, name, tenant, privileges: grant(tenant, value.roles) };
  }

  /** Its credentials are good no more. */
  end(): void {
    this.#principal = undefined;
  }
}

export class UserAccount extends Account<UserValue> implements PasswordAccount {
  constructor(tenant: string, name: string, value: UserValue, grant: Grant) {
    super('user', tenant, name, value, grant);
  }

  get passwordHash(): string {
    return this.value.passwordHash;
  }
}

export class ApiKeyAccount extends Account<ApiKeyValue> {
  constructor(tenant: string, name: string, value: ApiKeyValue, grant: Grant) {
    super('apiKey', tenant, name, value, grant);
  }
}
