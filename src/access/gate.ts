import type { Authorizer } from '../auth/authorizer.ts';
import type { PresentedCredential } from '../auth/credentials.ts';
import { decide, mayEnter, readableRows } from '../auth/policy.ts';
import { AppError } from '../errors.ts';
import { quotedName } from '../lib/credential-shape.ts';
import type { Action, Principal } from '../model/identity.ts';
import { ownTenant, type RequestTenant, requestTenant, type Tenancy, type UnnamedTenant } from './tenancy.ts';

/** Somebody who is known, in a tenant that they may enter. */
export interface Caller {
  readonly principal: Principal;
  /** Id of the tenant that they act in. */
  readonly tenant: string;
}

/**
 * The one gate in front of all that the service does for somebody: who asks, for which tenant and dataset,
 * and whether they may. A front end (HTTP, the wire protocol, the console) says what a request presents and
 * names, in this order:
 *
 *     tenantOf ──▶ authenticate ──▶ admit ──▶ authorize
 *
 * Each step throws an AppError where the request ends. A tenant that does not exist is told only to those who
 * are known (`authorize`), so that nobody else learns which there are.
 */
export class Gate {
  readonly #authorizer: Pick<Authorizer, 'authenticate'>;
  readonly #tenancy: Tenancy;

  constructor(authorizer: Pick<Authorizer, 'authenticate'>, tenancy: Tenancy) {
    this.#authorizer = authorizer;
    this.#tenancy = tenancy;
  }

  /**
   * Which tenant a request wants to act in.
   * @param name as the request gives it; empty when it names none
   * @throws AppError `tenant_required`, `bad_tenant_name`, `store_unavailable`
   */
  tenantOf(name: string, unnamed: UnnamedTenant): RequestTenant {
    return requestTenant(name, unnamed, this.#tenancy);
  }

  /**
   * Who presents a credential; undefined for nobody. A promise only where the check takes waiting.
   * @param clientAddress asked for before this returns
   * @throws AppError `overloaded`, `store_unavailable`, `oidc_unavailable`
   */
  authenticate(
    { header, value }: Omit<PresentedCredential, 'tenant'>,
    tenant: RequestTenant,
    clientAddress: () => string,
  ): Principal | undefined | Promise<Principal | undefined> {
    return this.#authorizer.authenticate({ header, value, tenant: tenant.id ?? '' }, clientAddress);
  }

  /**
   * Lets somebody into the tenant.
   * @throws AppError `unauthenticated`, also for those who are of another tenant
   */
  admit(principal: Principal | undefined, asked: RequestTenant): Caller {
    const tenant = asked.id ?? ownTenant(principal, this.#tenancy);
    if (principal !== undefined && mayEnter(principal, tenant)) return { principal, tenant };
    throw new AppError('unauthenticated', 'the credentials are not valid');
  }

  /**
   * Whether a caller may do this.
   * @param dataset a valid name; undefined when the action is about none, or about all of them
   * @throws AppError `forbidden`, `tenant_not_found`, `tenant_not_supported`
   */
  authorize({ principal }: Caller, asked: RequestTenant, action: Action, dataset: string | undefined): void {
    requirePermission(principal, action, dataset);
    if (asked.problem !== undefined) throw asked.problem;
  }
}

function requirePermission(principal: Principal, action: Action, dataset: string | undefined): void {
  if (decide(principal, action, dataset)) return;
  const where = dataset === undefined ? '' : ` on dataset ${quotedName(dataset)}`;
  throw new AppError('forbidden', `this needs a privilege for ${action}${where}`);
}

/** Whether somebody may do this without naming a dataset: on all of them, or on those that they may see. */
export const mayDo = (principal: Principal, action: Action): boolean => decide(principal, action);

/** The datasets among these that somebody may see. */
export const visibleDatasets = (principal: Principal, names: readonly string[]): readonly string[] =>
  names.filter((name) => decide(principal, 'dataset.list', name));

/** Whether a caller may see and end a session: their own, and as an administrator those of the tenant. */
export function maySeeSessionOf(caller: Caller, other: Caller): boolean {
  if (caller.tenant !== other.tenant) return false;
  const [one, another] = [caller.principal, other.principal];
  const isSame = one.kind === another.kind && (one.id ?? one.name) === (another.id ?? another.name);
  if (isSame) return one.tenant === another.tenant;
  if (another.kind === 'root') return false;
  return decide(one, 'identity.manage');
}

/**
 * What is said about all rows of a dataset together is not for those who may read some of them.
 * @throws AppError `forbidden`
 */
export function requireAllRows(principal: Principal, dataset: string): void {
  if (readableRows(principal, dataset) === 'all') return;
  throw new AppError(
    'forbidden',
    `this needs a privilege to read all rows of dataset ${quotedName(dataset)}`,
  );
}

/**
 * What is known of a user is for themselves, and for who administers identities.
 * @param user the id of the user: a name, or `oauth:` and the subject
 * @throws AppError `forbidden`
 */
export function requireSelf(principal: Principal, user: string): void {
  const { kind, name, id } = principal;
  const isSelf = kind === 'user' ? name === user : kind === 'oidc' && id === user;
  if (!isSelf) requirePermission(principal, 'identity.manage', undefined);
}
