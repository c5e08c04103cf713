import type { PresentedCredential } from '../../auth/credentials.ts';
import { decide } from '../../auth/policy.ts';
import { AppError } from '../../errors.ts';
import { quotedName } from '../../lib/credential-shape.ts';
import { checkDatasetName, defaultTenant } from '../../model/dataset.ts';
import type { Action, Principal } from '../../model/identity.ts';
import { checkTenantName } from '../../model/tenant.ts';
import type { RequestHeaders } from './headers.ts';
import type { DatasetRoute, PublicRoute, Route } from './route.ts';
import type { Match } from './router.ts';

/**
 * The dataset that a request names. It is checked before the policy sees it, so that the policy compares
 * names only with names.
 * @throws AppError `bad_header`, `bad_dataset_name`
 */
export function requestDataset(route: DatasetRoute, match: Match, headers: RequestHeaders): string {
  if (route.dataset === 'path') return checkDatasetName(decodeParameter(match, 'bad_dataset_name'));
  if (headers.stream !== '') return checkDatasetName(headers.stream);
  if (route.defaultDataset !== undefined) return route.defaultDataset;
  throw new AppError('bad_header', 'the header X-P-Stream must name the dataset');
}

/**
 * What stands in the path for the braces of the route; empty if the route has none.
 * @throws AppError with this code
 */
export function decodeParameter({ parameter = '' }: Match, code: 'bad_name' | 'bad_dataset_name'): string {
  try {
    return decodeURIComponent(parameter);
  } catch (error) {
    throw new AppError(code, 'the name in the path is not valid percent-encoding', { cause: error });
  }
}

/** @throws AppError `forbidden` */
export function requirePermission(principal: Principal, action: Action, dataset?: string): void {
  if (decide(principal, action, dataset)) return;
  const where = dataset === undefined ? '' : ` on dataset ${quotedName(dataset)}`;
  throw new AppError('forbidden', `this needs a privilege for ${action}${where}`);
}

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
 * Which tenant a request wants to act in. What is wrong with the header itself is said at once, to anybody. A session is
 * of one tenant, so a page need not name it.
 * @throws AppError `tenant_required`, `bad_tenant_name`, `store_unavailable`
 */
export function requestTenant(
  route: Exclude<Route, PublicRoute>,
  { tenant: name }: RequestHeaders,
  tenancy: Tenancy,
  credential: Pick<PresentedCredential, 'header'>,
): RequestTenant {
  if (name === defaultTenant) return { id: defaultTenant };
  if (!tenancy.multiTenant)
    return name === '' ? { id: defaultTenant } : { id: defaultTenant, problem: notSupported };
  if (name === '') {
    if (credential.header === 'cookie') return ofCredential;
    if (route.tenant === 'none') return { id: defaultTenant };
    throw new AppError('tenant_required', 'the header X-P-Tenant must name the tenant');
  }
  const id = tenancy.idOf(checkTenantName(name));
  return id === undefined ? { id: '', problem: notFound } : { id };
}

/** The id of the tenant that somebody belongs to; empty if there is none, or none any more. */
export const ownTenant = (principal: Principal | undefined, tenancy: Tenancy): string =>
  principal === undefined || tenancy.hasEnded(principal.tenant) ? '' : principal.tenant;

const ofCredential: RequestTenant = { id: undefined };

const notSupported = new AppError(
  'tenant_not_supported',
  `leave the header X-P-Tenant out, or set it to ${JSON.stringify(defaultTenant)}`,
);

const notFound = new AppError('tenant_not_found', 'there is no tenant of this name');
