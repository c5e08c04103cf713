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

/** What the provider says about itself. */
export interface ProviderMetadata {
  readonly client: client.Configuration;
  /** As tokens name it. */
  readonly issuer: string;
  /** Finds the key that a token is signed with, and reads the provider's keys again for one that is not known. */
  readonly keys: JWTVerifyGetKey;
}

/**
 * An identity provider (OpenID Connect Discovery 1.0), asked when it is first needed and not at the start: while it
 * is away, the service runs and everybody else is let in.
 *
 * Its metadata are read once for all who wait, again after a while, and after a failure not before a pause. What
 * was read before stays good when reading it again fails.
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
   * An error of the way to the provider, as clients see it. The operator sees why in the log, where it says so now
   * and then: the text alone, since what else an error holds may have been in the provider's reply.
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
    return new AppError('oidc_unavailable', 'the identity provider does not answer as it should', { cause });
  }

  async #read(): Promise<ProviderMetadata> {
    const { issuer, clientId, clientSecret, clock } = this.#options;
    try {
      const configuration = await client.discovery(
        issuer,
        clientId,
        undefined,
        clientSecret === undefined ? client.None() : withSecret(clientSecret),
        // An issuer over HTTP is one on this machine: the configuration takes no other.
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
  new AppError('oidc_unavailable', 'the identity provider did not answer; it is asked again in a moment');

function describe(configuration: client.Configuration, insecure: boolean, clock: Clock): ProviderMetadata {
  const { issuer, jwks_uri: keysUrl } = configuration.serverMetadata();
  const url = keysUrl === undefined ? null : URL.parse(keysUrl);
  if (url === null || (url.protocol !== 'https:' && !insecure)) {
    throw new Error(`the identity provider has no keys at an https address: ${keysUrl}`);
  }
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: limits.oidcTimeoutMs,
    cooldownDuration: limits.oidcKeysCooldownMs,
    cacheMaxAge: limits.oidcKeysMaxAgeMs,
    [customFetch]: createKeyFetch(clock),
  });
  return { client: configuration, issuer, keys };
}

/** The way in which the provider takes a secret; Basic is what it means when it does not say (RFC 8414). */
function withSecret(secret: string): client.ClientAuth {
  const basic = client.ClientSecretBasic(secret);
  const post = client.ClientSecretPost(secret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const authenticate = methods === undefined || methods.includes('client_secret_basic') ? basic : post;
    authenticate(server, ...rest);
  };
}
