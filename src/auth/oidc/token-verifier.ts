import { errors, type JWTPayload, jwtVerify } from 'jose';
import { AppError } from '../../errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { limits } from '../../limits/limits.ts';
import type { OidcProvider } from './provider.ts';

/**
 * Algorithms whose signatures only the provider can make. None of them uses a shared secret: with one,
 * anybody could sign with the provider's public key.
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

/**
 * Token types that identify a user. A logout token, for instance, is signed with the same keys and does not.
 */
const types: ReadonlySet<string | undefined> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

const isType = (typ: unknown): boolean =>
  types.has(typ === undefined ? undefined : String(typ).toLowerCase());

/** Failures that are not the token's fault: the provider's keys could not be read. */
const providerFailures: ReadonlySet<string> = new Set([
  errors.JOSEError.code,
  errors.JWKSTimeout.code,
  errors.JWKSInvalid.code,
  errors.JWKInvalid.code,
]);

/**
 * Whether a verified token may be used here by whoever presents it.
 *
 * - `events` marks a message about a user, such as a logout token (OpenID Connect Back-Channel Logout,
 *   section 2.4), even if the type does not say so.
 * - `cnf` ties the token to a key of its holder (RFC 7800): DPoP or a client certificate. No proof is checked
 *   here, so such tokens are refused; otherwise a thief could use them.
 * - A token for several audiences was issued to the client in `azp`, and any of the others could pass it on.
 */
const isForBearer = (payload: JWTPayload, clientId: string): boolean =>
  payload['events'] === undefined &&
  payload['cnf'] === undefined &&
  (!Array.isArray(payload.aud) || payload.aud.length <= 1 || payload['azp'] === clientId);

/**
 * Verifies tokens (RFC 7519) with the keys of their provider: signature, issuer, audience, type and times.
 * Tokens for other uses are refused.
 */
export class TokenVerifier {
  readonly #provider: OidcProvider;
  readonly #clientId: string;
  readonly #clock: Clock;

  /** @param clientId the id of this service at the provider */
  constructor(provider: OidcProvider, clientId: string, clock: Clock) {
    this.#provider = provider;
    this.#clientId = clientId;
    this.#clock = clock;
  }

  /**
   * The claims of a token; undefined if it is not valid.
   * @param audience the audience that the token must have
   * @throws AppError `oidc_unavailable` while the keys cannot be read
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
