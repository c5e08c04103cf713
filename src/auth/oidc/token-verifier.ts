import { errors, type JWTPayload, jwtVerify } from 'jose';
import { AppError } from '../../errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { limits } from '../../limits/limits.ts';
import type { OidcProvider } from './provider.ts';

/**
 * Signatures that only the provider can make. No algorithm with a shared secret is among them: with one, anybody
 * could sign with the provider's public key.
 */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Types of tokens that say who somebody is; a logout token, say, is signed with the same keys and does not. */
const types: ReadonlySet<string | undefined> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

const isType = (typ: unknown): boolean =>
  types.has(typ === undefined ? undefined : String(typ).toLowerCase());

/** Failures that are not the token's: what the provider has for keys could not be read. */
const providerFailures: ReadonlySet<string> = new Set([
  errors.JOSEError.code,
  errors.JWKSTimeout.code,
  errors.JWKSInvalid.code,
  errors.JWKInvalid.code,
]);

/**
 * Whether the claims of a verified token make it one that whoever has it may use here.
 *
 * - `events` makes it a message about somebody, as a logout token is (OpenID Connect Back-Channel Logout, section
 *   2.4), also where its type does not say so.
 * - `cnf` makes it good only together with a proof (RFC 7800) that its bearer has a key: DPoP or a client
 *   certificate. No proof is checked here, so that somebody who stole the token would be let in.
 * - One for several audiences was made for the client in `azp`, and any of the others could hand it on.
 */
const isForBearer = (payload: JWTPayload, clientId: string): boolean =>
  payload['events'] === undefined &&
  payload['cnf'] === undefined &&
  (!Array.isArray(payload.aud) || payload.aud.length <= 1 || payload['azp'] === clientId);

/**
 * Verifies tokens (RFC 7519) by the keys of their provider: signature, issuer, audience, type and times; and
 * refuses those that are for another use.
 */
export class TokenVerifier {
  readonly #provider: OidcProvider;
  readonly #clientId: string;
  readonly #clock: Clock;

  /** @param clientId what the provider calls this service */
  constructor(provider: OidcProvider, clientId: string, clock: Clock) {
    this.#provider = provider;
    this.#clientId = clientId;
    this.#clock = clock;
  }

  /**
   * The claims of a token; undefined when it is not good.
   * @param audience whom it must be meant for
   * @throws AppError `oidc_unavailable` while that cannot be known
   */
  async verify(token: string, audience: string): Promise<JWTPayload | undefined> {
    const { issuer, keys } = await this.#provider.metadata();
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms,
        requiredClaims: ['sub', 'exp'],
        clockTolerance: limits.oidcClockSkewMs / 1000,
        currentDate: new Date(this.#clock.nowMicros() / 1000),
      });
      return isType(protectedHeader.typ) && isForBearer(payload, this.#clientId) ? payload : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError && !providerFailures.has(error.code)) return undefined;
      throw error instanceof AppError ? error : this.#provider.unavailable(error);
    }
  }
}
