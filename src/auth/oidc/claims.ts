import { limits } from '../../limits.ts';

/** What is known of somebody whom an identity provider vouches for. */
export interface VerifiedClaims {
  /** For people and the audit trail; not unique. */
  readonly name: string;
  /** As the provider names them; some may not exist here. */
  readonly roles: readonly string[];
  /** Until when this holds, milliseconds since 1970. */
  readonly expiresAtMs: number;
}

type Claims = Readonly<Record<string, unknown>>;

/**
 * Reads the claims of a token that was verified.
 * @param rolesClaim see `claimedRoles`
 */
export function readClaims(claims: Claims, rolesClaim: string): VerifiedClaims {
  const { exp } = claims;
  if (typeof exp !== 'number') throw new Error('BUG: a token without an end was verified');
  return {
    name: nameIn(claims),
    roles: claimedRoles(claims, rolesClaim) ?? [],
    expiresAtMs: exp * 1000 + limits.oidcClockSkewMs,
  };
}

/**
 * The names of roles in a claim: an array of texts, or one text. The claim is the member of that name (some providers
 * put URLs there); if there is none, each dot of the name leads into an object.
 * @returns undefined if the claim is not there
 */
export function claimedRoles(claims: Claims, rolesClaim: string): readonly string[] | undefined {
  const value = own(claims, rolesClaim) ?? rolesClaim.split('.').reduce<unknown>(own, claims);
  if (value === undefined || value === null) return undefined;
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  return names.slice(0, limits.maxRolesPerToken).filter((name) => typeof name === 'string');
}

/** The name by which people know somebody. Text of a token, so bounded and without control characters. */
function nameIn(claims: Claims): string {
  const names = [claims['preferred_username'], claims['email'], claims['sub']];
  const name = names.find((each) => typeof each === 'string' && each !== '');
  return String(name).replace(/\p{C}/gu, '').slice(0, limits.identityNameMaxLength);
}

const own = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Claims)[name]
    : undefined;
