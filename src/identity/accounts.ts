import type { PasswordAccount } from '../auth/identity-sources.ts';
import type { Principal } from '../model/identity.ts';
import type { Grants } from './grants.ts';

/** What the metadata log keeps of a user. */
export interface UserValue {
  /** PHC string. */
  readonly passwordHash: string;
  /** Of the same password, as PostgreSQL writes it (`auth/scram.ts`); absent until the password is seen. */
  readonly scramVerifier?: string;
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
  /**
   * Tokens and sign-ins from before this time are not valid: milliseconds since 1970; 0 if
   * they never were removed.
   */
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

/** An identity that an administrator has made. The object lives as long as its credentials are good. */
class Account<Value extends { readonly roles: readonly string[] }> {
  readonly kind: 'user' | 'apiKey';
  readonly tenant: string;
  readonly name: string;
  readonly #grants: Grants;
  #value: Value;
  #principal: Principal | undefined;
  /** Of the grants, for which the principal holds. */
  #revision = -1;
  #ended = false;

  constructor(kind: 'user' | 'apiKey', tenant: string, name: string, value: Value, grants: Grants) {
    this.kind = kind;
    this.tenant = tenant;
    this.name = name;
    this.#value = value;
    this.#grants = grants;
  }

  get value(): Value {
    return this.#value;
  }

  /** @throws AppError `forbidden`, see `Grants.of` */
  get principal(): Principal | undefined {
    if (this.#ended) return undefined;
    if (this.#principal === undefined || this.#revision !== this.#grants.revision) {
      const privileges = this.#grants.of(this.#value.roles);
      const { kind, name, tenant } = this;
      if (this.#principal?.privileges !== privileges) this.#principal = { kind, name, tenant, privileges };
      this.#revision = this.#grants.revision;
    }
    return this.#principal;
  }

  /** It has other roles. */
  update(value: Value): void {
    this.#value = value;
    this.#principal = undefined;
  }

  /** Its credentials are no longer valid. */
  end(): void {
    this.#ended = true;
  }
}

export class UserAccount extends Account<UserValue> implements PasswordAccount {
  constructor(tenant: string, name: string, value: UserValue, grants: Grants) {
    super('user', tenant, name, value, grants);
  }

  get passwordHash(): string {
    return this.value.passwordHash;
  }
}

export class ApiKeyAccount extends Account<ApiKeyValue> {
  constructor(tenant: string, name: string, value: ApiKeyValue, grants: Grants) {
    super('apiKey', tenant, name, value, grants);
  }
}
