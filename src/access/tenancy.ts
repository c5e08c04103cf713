import { AppError } from '../errors.ts';
import { defaultTenant } from '../model/dataset.ts';
import type { Principal } from '../model/identity.ts';
import { checkTenantName } from '../model/tenant.ts';

/** The tenants of a server. */
export interface Tenancy {
  /** False: there is the default tenant and no other, and requests need not name it. */
  readonly multiTenant: boolean;
  /**
   * The id of the tenant that has this name now; undefined if there is none.
   * @throws AppError `store_unavailable`
   */
  idOf(name: string): string | undefined;
  /** Whether the tenant of an id was deleted. */
  hasEnded(id: string): boolean;
}

/** The tenant that a request names, or is about without naming it. */
export interface RequestTenant {
  /** Empty if there is no such tenant; undefined: the one that the credential belongs to. */
  readonly id: string | undefined;
  /** Why nobody can act in it; told only to those who are known. */
  readonly problem?: AppError;
}

/**
 * What a request that names no tenant is about, on a server with several: the tenant of its credential, as a
 * browser session has one; the server itself, which is no tenant's; or nothing, since it must name one.
 */
export type UnnamedTenant = 'ofCredential' | 'server' | 'required';

/**
 * Which tenant a request wants to act in. What is wrong with the name itself is said at once, to anybody.
 * @param name as the request gives it; empty when it names none
 * @throws AppError `tenant_required`, `bad_tenant_name`, `store_unavailable`
 */
export function requestTenant(name: string, unnamed: UnnamedTenant, tenancy: Tenancy): RequestTenant {
  if (name === defaultTenant) return theDefault;
  if (!tenancy.multiTenant) return name === '' ? theDefault : { id: defaultTenant, problem: notSupported };
  if (name === '') {
    if (unnamed === 'ofCredential') return ofCredential;
    if (unnamed === 'server') return theDefault;
    throw new AppError('tenant_required', 'the header X-P-Tenant must name the tenant');
  }
  const id = tenancy.idOf(checkTenantName(name));
  return id === undefined ? { id: '', problem: notFound } : { id };
}

/** The id of the tenant that somebody belongs to; empty if there is none, or none any more. */
export const ownTenant = (principal: Principal | undefined, tenancy: Tenancy): string =>
  principal === undefined || tenancy.hasEnded(principal.tenant) ? '' : principal.tenant;

const theDefault: RequestTenant = { id: defaultTenant };
const ofCredential: RequestTenant = { id: undefined };

const notSupported = new AppError(
  'tenant_not_supported',
  `leave the header X-P-Tenant out, or set it to ${JSON.stringify(defaultTenant)}`,
);

const notFound = new AppError('tenant_not_found', 'there is no tenant of this name');
