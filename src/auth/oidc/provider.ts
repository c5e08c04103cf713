import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import * as client from 'openid-client';
import { AppError, errorText } from '../../errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { limits } from '../../limits/limits.ts';
import { createKeyFetch, fetchBounded } from './provider-fetch.ts';

export interface OidcProviderOptions {
  readonly issuer: URL;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The provider's metadata. */
export interface ProviderMetadata {
  readonly client: client.Configuration;
  /** As it appears in tokens. */
  readonly issuer: string;
  /** Finds the key that signed a token. An unknown key causes the provider's keys to be fetched again. */
  readonly keys: JWTVerifyGetKey;
}

/**
 * An identity provider (OpenID Connect Discovery 1.0). It is contacted when it is first needed, not at the
 * start: while it is away, the service runs and all other users are let in.
 *
 * Its metadata is fetched once for all waiting requests, again when it is old, and after a failure only after
 * a pause. If a refresh fails, the previous metadata stays in use.
 */
export class OidcProvider {
  readonly #options: OidcProviderOptions;
  #known: { readonly metadata: ProviderMetadata; readonly readMs: number } | undefined;
  #reading: Promise<ProviderMetadata> | undefined;
  #failedMs = Number.NEGATIVE_INFINITY;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(options: OidcProviderOptions) {
    this.#options = options;
  }

  /** @throws AppError `oidc_unavailable` */
  async metadata(): Promise<ProviderMetadata> {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#known !== undefined && nowMs - this.#known.readMs < limits.oidcMetadataMaxAgeMs) {
      return this.#known.metadata;
    }
    if (nowMs - this.#failedMs < limits.oidcRetryIntervalMs) return this.#fallBack(undefined);
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /**
   * The error that clients get when the provider cannot be reached. The reason goes to the log, at a limited
   * rate, and only as text: other members of the error may contain parts of the provider's reply.
   */
  unavailable(cause: unknown): AppError {
    const { issuer, clock, log } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#loggedMs >= limits.oidcRetryIntervalMs) {
      this.#loggedMs = nowMs;
      const reasons = {
        reason: errorText(cause),
        why: cause instanceof Error ? errorText(cause.cause) : undefined,
      };
      log.warn({ issuer: issuer.href, ...reasons }, 'the identity provider cannot be used');
    }
    return new AppError('oidc_unavailable', 'the identity provider does not answer correctly', { cause });
  }

  async #read(): Promise<ProviderMetadata> {
    const { issuer, clientId, clientSecret, clock } = this.#options;
    try {
      const configuration = await client.discovery(
        issuer,
        clientId,
        undefined,
        clientSecret === undefined ? client.None() : withSecret(clientSecret),
        // An http issuer is on this machine: the configuration accepts no other.
        {
          [client.customFetch]: fetchBounded,
          timeout: limits.oidcTimeoutMs / 1000,
          execute: issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [],
        },
      );
      const metadata = describe(configuration, issuer.protocol === 'http:', clock);
      this.#known = { metadata, readMs: clock.monotonicMs() };
      return metadata;
    } catch (error) {
      this.#failedMs = clock.monotonicMs();
      return this.#fallBack(error);
    }
  }

  #fallBack(cause: unknown): ProviderMetadata {
    const error = cause === undefined ? notYet() : this.unavailable(cause);
    if (this.#known === undefined) throw error;
    return this.#known.metadata;
  }
}

const notYet = (): AppError =>
  new AppError('oidc_unavailable', 'the identity provider did not answer; it is contacted again in a moment');

function describe(configuration: client.Configuration, insecure: boolean, clock: Clock): ProviderMetadata {
  const { issuer, jwks_uri: keysUrl } = configuration.serverMetadata();
  const url = keysUrl === undefined ? null : URL.parse(keysUrl);
  if (url === null || (url.protocol !== 'https:' && !insecure)) {
    throw new Error(`the identity provider has no key set at an https URL: ${keysUrl}`);
  }
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: limits.oidcTimeoutMs,
    cooldownDuration: limits.oidcKeysCooldownMs,
    cacheMaxAge: limits.oidcKeysMaxAgeMs,
    [customFetch]: createKeyFetch(clock),
  });
  return { client: configuration, issuer, keys };
}

/** How the provider accepts the client secret. Basic is the default of the standard (RFC 8414). */
function withSecret(secret: string): client.ClientAuth {
  const basic = client.ClientSecretBasic(secret);
  const post = client.ClientSecretPost(secret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const authenticate = methods === undefined || methods.includes('client_secret_basic') ? basic : post;
    authenticate(server, ...rest);
  };
}
