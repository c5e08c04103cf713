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

/** A sign-in that is under way. Kept by the browser, sealed, so that a flood of them takes nothing here. */
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
  /** Tells the provider who signs out. */
  readonly idToken: string;
  /** What was given to `begin`. */
  readonly returnTo: string;
}

const sealContext = 'oidc sign-in';

/**
 * Sign-in of people in a browser: OpenID Connect's authorization code flow with PKCE (RFC 7636).
 *
 * State ties the way back to the browser that went, the nonce ties the ID token to this sign-in, and PKCE ties the
 * code to both. All three are new for each sign-in and travel in a sealed cookie.
 */
export class OidcLogin {
  readonly #options: OidcLoginOptions;
  #pending = 0;
  readonly #pendingOf = new Multiset();

  constructor(options: OidcLoginOptions) {
    this.#options = options;
  }

  /**
   * @param redirectUri where the provider sends the browser back to
   * @param returnTo kept for the end of the sign-in
   * @returns where to send the browser, and what it must bring back
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
   * @param query what the provider sent the browser back with
   * @param sealed what `begin` gave the browser
   * @param clientAddress of the browser
   * @throws AppError `login_failed`, `oidc_unavailable`, `overloaded`
   */
  async complete(query: string, sealed: string, clientAddress: string): Promise<SignedIn> {
    // Anybody can begin a sign-in and bring back whatever code: each is a request to the provider in our name.
    const client = clientNetwork(clientAddress);
    const isFull =
      this.#pending >= limits.maxPendingLogins ||
      this.#pendingOf.get(client) >= limits.maxPendingLoginsPerClient;
    if (isFull) {
      throw new AppError('overloaded', 'too many sign-ins are being completed at the moment');
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
    // It came from the provider itself; its signature is checked all the same, like that of any other token.
    const payload = await verifier.verify(idToken, clientId);
    if (payload === undefined) throw failed('the identity provider sent a token that is not good');
    const all = await this.#withUserInfo(metadata, payload, tokens.access_token);
    const claims = readClaims(all, claimNames);
    if (claims === undefined) throw failed('the identity provider does not say who you are');
    return { claims, idToken, returnTo };
  }

  /** Where to send a browser so that the provider ends its own session too; undefined if it has no such place. */
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

  /** Many providers keep roles out of the ID token, and much else, and tell it when they are asked (OpenID Connect, section 5.3). */
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

/** Whether the sign-in is at fault, and not the way to the provider: that fails otherwise, or not in time. */
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
  new AppError('login_failed', `${reason}; begin again at /api/v1/o/login`, { cause });
