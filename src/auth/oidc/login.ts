import type { JWTPayload } from 'jose';
import * as client from 'openid-client';
import { AppError, errorText } from '../../errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { clientNetwork } from '../../lib/ip-address.ts';
import { Multiset } from '../../lib/multiset.ts';
import { limits } from '../../limits/limits.ts';
import type { SecretBox } from '../secret-box.ts';
import { type ClaimNames, hasClaims, readClaims, type VerifiedClaims } from './claims.ts';
import type { OidcProvider, ProviderMetadata } from './provider.ts';
import type { TokenVerifier } from './token-verifier.ts';

export interface OidcLoginOptions {
  readonly provider: OidcProvider;
  readonly verifier: TokenVerifier;
  readonly clientId: string;
  readonly scope: string;
  readonly claimNames: ClaimNames;
  readonly box: SecretBox;
  readonly clock: Clock;
}

/**
 * A sign-in in progress. It is kept by the browser, sealed, so that a flood of sign-ins takes no memory here.
 */
interface Transaction {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly returnTo: string;
  readonly expiresAtMs: number;
}

export interface SignedIn {
  readonly claims: VerifiedClaims;
  /** Sent to the provider at sign-out, to identify the user. */
  readonly idToken: string;
  /** The address that was given to `begin`. */
  readonly returnTo: string;
}

const sealContext = 'oidc sign-in';

/**
 * Browser sign-in: OpenID Connect's authorization code flow with PKCE (RFC 7636).
 *
 * The state ties the callback to the browser that started, the nonce ties the ID token to this sign-in, and
 * PKCE ties the code to both. All three are new for each sign-in and travel in a sealed cookie.
 */
export class OidcLogin {
  readonly #options: OidcLoginOptions;
  #pending = 0;
  readonly #pendingOf = new Multiset();

  constructor(options: OidcLoginOptions) {
    this.#options = options;
  }

  /**
   * Starts a sign-in.
   * @param redirectUri where the provider sends the browser back to
   * @param returnTo where the browser goes after the sign-in
   * @returns where to send the browser, and the sealed cookie that it must bring back
   * @throws AppError `oidc_unavailable`
   */
  async begin(
    redirectUri: string,
    returnTo: string,
  ): Promise<{ readonly url: URL; readonly sealed: string }> {
    const { provider, scope, box, clock } = this.#options;
    const metadata = await provider.metadata();
    const transaction: Transaction = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      redirectUri,
      returnTo,
      expiresAtMs: clock.nowMicros() / 1000 + limits.loginLifetimeMs,
    };
    const url = client.buildAuthorizationUrl(metadata.client, {
      redirect_uri: redirectUri,
      scope,
      state: transaction.state,
      nonce: transaction.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(transaction.verifier),
      code_challenge_method: 'S256',
    });
    return { url, sealed: box.seal(JSON.stringify(transaction), sealContext) };
  }

  /**
   * Completes a sign-in.
   * @param query the query string of the callback
   * @param sealed the cookie that `begin` returned
   * @param clientAddress of the browser
   * @throws AppError `login_failed`, `oidc_unavailable`, `overloaded`
   */
  async complete(query: string, sealed: string, clientAddress: string): Promise<SignedIn> {
    // Anybody can send a callback with an invented code, and each one causes a request to the provider.
    const client = clientNetwork(clientAddress);
    const isFull =
      this.#pending >= limits.maxPendingLogins ||
      this.#pendingOf.get(client) >= limits.maxPendingLoginsPerClient;
    if (isFull) {
      throw new AppError('overloaded', 'too many sign-ins are being completed');
    }
    this.#pending += 1;
    this.#pendingOf.add(client);
    try {
      return await this.#complete(query, sealed);
    } finally {
      this.#pending -= 1;
      this.#pendingOf.remove(client);
    }
  }

  async #complete(query: string, sealed: string): Promise<SignedIn> {
    const { provider, verifier, clientId, claimNames } = this.#options;
    const { redirectUri, returnTo, state, nonce, verifier: pkceCodeVerifier } = this.#open(sealed);
    const metadata = await provider.metadata();
    const tokens = await this.#attempt(() =>
      client.authorizationCodeGrant(metadata.client, new URL(`${redirectUri}?${query}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier,
        idTokenExpected: true,
      }),
    );
    const idToken = tokens.id_token ?? '';
    // The token came directly from the provider; its signature is checked like that of any other token.
    const payload = await verifier.verify(idToken, clientId);
    if (payload === undefined) throw failed('the identity provider sent a token that is not good');
    const all = await this.#withUserInfo(metadata, payload, tokens.access_token);
    const claims = readClaims(all, claimNames);
    if (claims === undefined) throw failed('the identity provider does not say who you are');
    return { claims, idToken, returnTo };
  }

  /** The provider's sign-out page, which ends its own session too; undefined if it has none. */
  async endSessionUrl(idToken: string): Promise<URL | undefined> {
    const { client: configuration } = await this.#options.provider.metadata();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return client.buildEndSessionUrl(configuration, { id_token_hint: idToken });
  }

  #open(sealed: string): Transaction {
    const { box, clock } = this.#options;
    let transaction: Transaction;
    try {
      transaction = JSON.parse(box.open(sealed, sealContext)) as Transaction;
    } catch (error) {
      throw failed('this browser has not begun a sign-in here, or another one since', error);
    }
    if (transaction.expiresAtMs < clock.nowMicros() / 1000) throw failed('it took too long');
    return transaction;
  }

  /**
   * Many providers leave roles and other claims out of the ID token and return them on request (OpenID
   * Connect, section 5.3).
   */
  async #withUserInfo(
    { client: configuration }: ProviderMetadata,
    payload: JWTPayload,
    accessToken: string,
  ): Promise<JWTPayload> {
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    if (!hasUserInfo || hasClaims(payload, this.#options.claimNames)) return payload;
    const info = await this.#attempt(() =>
      client.fetchUserInfo(configuration, accessToken, payload.sub ?? ''),
    );
    return { ...info, ...payload };
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isRefusal(error)) throw failed(`the identity provider says: ${errorText(error)}`, error);
      throw this.#options.provider.unavailable(error);
    }
  }
}

/** Whether the provider refused the sign-in; other errors are failures to reach it. */
const isRefusal = (error: unknown): boolean =>
  error instanceof client.AuthorizationResponseError ||
  error instanceof client.ResponseBodyError ||
  (error instanceof client.ClientError && error.code !== undefined && !providerFailures.has(error.code));

const providerFailures: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);

const failed = (reason: string, cause?: unknown): AppError =>
  new AppError('login_failed', `${reason}; start again at /api/v1/o/login`, { cause });
