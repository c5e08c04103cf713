import type { PasswordAccount } from '../auth/identity-sources.ts';
import type { Principal } from '../model/identity.ts';
import type { Grants } from './grants.ts';

/** The value of a user in the metadata log; its key is the name. */
export interface UserValue {
  /** PHC string. */
  readonly passwordHash: string;
  /**
   * The SCRAM verifier of the same password, in PostgreSQL's format (`auth/scram.ts`). Users from before
   * SCRAM get one at their next sign-in over HTTP, which shows the password.
   */
  readonly scramVerifier?: string;
  readonly roles: readonly string[];
}

/** The value of a user of the identity provider in the metadata log; its key is the subject. */
export interface OauthUserValue {
  /** The name that the provider gave at the first sign-in. */
  readonly name: string;
  /** Roles that administrators gave, in addition to those in the claim. */
  readonly roles: readonly string[];
  /** True after an administrator removed the user. */
  readonly removed: boolean;
  /**
   * Tokens and sign-ins from before this time are invalid: milliseconds since 1970; 0 if the user was never
   * removed.
   */
  readonly goodSinceMs: number;
}

/** The value of an API key in the metadata log; its key is the name. */
export interface ApiKeyValue {
  readonly keyId: string;
  /** Keyed hash of the key; the key of a request is looked up by it. */
  readonly digest: string;
  /** The key itself, encrypted. */
  readonly sealed: string;
  /** Its last characters, so that people can recognise it. */
  readonly ending: string;
  readonly roles: readonly string[];
  readonly createdBy: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly modifiedAt: string;
}

/** An identity that an administrator created. When its credentials become invalid, the object ends. */
class Account<Value extends { readonly roles: readonly string[] }> {
  readonly kind: 'user' | 'apiKey';
  readonly tenant: string;
  readonly name: string;
  readonly #grants: Grants;
  #value: Value;
  #principal: Principal | undefined;
  /** The revision of the grants from which `#principal` was made. */
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

  /** Replaces what is stored, such as the roles. The credentials stay valid. */
  update(value: Value): void {
    this.#value = value;
    this.#principal = undefined;
  }

  /** Makes the credentials invalid. */
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
