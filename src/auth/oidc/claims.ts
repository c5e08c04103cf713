import { limits } from '../../limits/limits.ts';

/** What an identity provider says about a user. */
export interface VerifiedClaims {
  /** The user's id: unique at the provider, and never reassigned. */
  readonly subject: string;
  /** For display and the audit trail; not unique. */
  readonly name: string;
  /** Role names of the provider. Some may not exist here. */
  readonly roles: readonly string[];
  /** The tenant name, if a claim has it. */
  readonly tenant: string | undefined;
  /** When the provider issued this, up to half a minute early, in milliseconds since 1970; 0 if unknown. */
  readonly issuedAtMs: number;
  /** When this expires, in milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** The names of the claims to read; see `claimedRoles`. */
export interface ClaimNames {
  readonly rolesClaim: string;
  /** Undefined: all users belong to the default tenant. */
  readonly tenantClaim: string | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

/**
 * Reads the claims of a verified token.
 * @returns undefined if its subject cannot serve as an id
 */
export function readClaims(
  claims: Claims,
  { rolesClaim, tenantClaim }: ClaimNames,
): VerifiedClaims | undefined {
  const { sub, iat, exp } = claims;
  if (typeof exp !== 'number') throw new Error('BUG: a token without an end was verified');
  if (typeof sub !== 'string' || !subject.test(sub)) return undefined;
  const tenant = tenantClaim === undefined ? undefined : claimAt(claims, tenantClaim);
  return {
    subject: sub,
    name: nameIn(claims),
    roles: claimedRoles(claims, rolesClaim) ?? [],
    tenant: typeof tenant === 'string' ? tenant : undefined,
    issuedAtMs: typeof iat === 'number' ? iat * 1000 - limits.oidcClockSkewMs : 0,
    expiresAtMs: exp * 1000 + limits.oidcClockSkewMs,
  };
}

/** OpenID Connect, section 2, allows 255 characters of ASCII. */
const subject = /^\P{C}{1,255}$/u;

/**
 * Reads the role names of a claim, which is an array of strings or one string. The claim is the member with
 * that name (some providers use URLs as names). If there is none, each dot in the name leads into an object.
 * @returns undefined if the claim does not exist
 */
export function claimedRoles(claims: Claims, rolesClaim: string): readonly string[] | undefined {
  const value = claimAt(claims, rolesClaim);
  if (value === undefined || value === null) return undefined;
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  return names.slice(0, limits.maxRolesPerToken).filter((name) => typeof name === 'string');
}

/** Whether all configured claims are present. */
export const hasClaims = (claims: Claims, { rolesClaim, tenantClaim }: ClaimNames): boolean =>
  [rolesClaim, tenantClaim].every(
    (name) => name === undefined || (claimAt(claims, name) ?? undefined) !== undefined,
  );

/** The display name. It comes from a token, so it is bounded and stripped of control characters. */
function nameIn(claims: Claims): string {
  const names = [claims['preferred_username'], claims['email'], claims['sub']];
  const name = names.find((each) => typeof each === 'string' && each !== '');
  return String(name).replace(/\p{C}/gu, '').slice(0, limits.identityNameMaxLength);
}

const claimAt = (claims: Claims, name: string): unknown =>
  own(claims, name) ?? name.split('.').reduce<unknown>(own, claims);

const own = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Claims)[name]
    : undefined;
