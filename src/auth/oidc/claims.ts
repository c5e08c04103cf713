import { limits } from '../../limits/limits.ts';

/** What is known of somebody whom an identity provider vouches for. */
export interface VerifiedClaims {
  /** Who it is: unique at the provider, and never given to somebody else. */
  readonly subject: string;
  /** For people and the audit trail; not unique. */
  readonly name: string;
  /** As the provider names them; some may not exist here. */
  readonly roles: readonly string[];
  /** The name of the tenant, if a claim says so. */
  readonly tenant: string | undefined;
  /** When the provider said so or up to half a minute before, milliseconds since 1970; 0 if it is not known. */
  readonly issuedAtMs: number;
  /** Until when this holds, milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** Where the provider puts what is of interest; see `claimedRoles`. */
export interface ClaimNames {
  readonly rolesClaim: string;
  /** Undefined: everybody belongs to the default tenant. */
  readonly tenantClaim: string | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

/**
 * Reads the claims of a token that was verified.
 * @returns undefined when its subject is nothing that somebody could be known by
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
 * The names of roles in a claim: an array of texts, or one text. The claim is the member of that name (some providers
 * put URLs there); if there is none, each dot of the name leads into an object.
 * @returns undefined if the claim is not there
 */
export function claimedRoles(claims: Claims, rolesClaim: string): readonly string[] | undefined {
  const value = claimAt(claims, rolesClaim);
  if (value === undefined || value === null) return undefined;
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  return names.slice(0, limits.maxRolesPerToken).filter((name) => typeof name === 'string');
}

/** Whether all that is asked of a provider is there. */
export const hasClaims = (claims: Claims, { rolesClaim, tenantClaim }: ClaimNames): boolean =>
  [rolesClaim, tenantClaim].every(
    (name) => name === undefined || (claimAt(claims, name) ?? undefined) !== undefined,
  );

/** The name by which people know somebody. Text of a token, so bounded and without control characters. */
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
