import { auditDataset } from '../model/dataset.ts';
import type { Action, Principal, Privilege, PrivilegeName, ReadableRows } from '../model/identity.ts';
import { PrivilegeIndex, type PrivilegeSet, privilegeSet } from './privilege-index.ts';

/**
 * What a privilege must cover for an action to be allowed.
 *
 * - `dataset`: that dataset; a question about no dataset in particular is about all of them.
 * - `visible`: the action shows what the caller may see, whatever that is, so a privilege on one dataset is
 *   enough to ask; what the answer holds is decided again for each dataset.
 * - `tenant`: the tenant as a whole; a privilege on one dataset never suffices.
 * - `server`: all tenants; no privilege suffices, and only the root administrator may.
 */
type Scope = 'dataset' | 'visible' | 'tenant' | 'server';

interface Rule {
  readonly scope: Scope;
  /** Any of them is enough. */
  readonly privileges: PrivilegeSet;
}

const rule = (scope: Scope, ...privileges: readonly PrivilegeName[]): Rule => ({
  scope,
  privileges: privilegeSet(privileges),
});

/** What each action needs. Whatever is not listed is refused. */
const rules: Readonly<Record<Action, Rule>> = {
  ingest: rule('dataset', 'admin', 'writer', 'ingestor'),
  query: rule('visible', 'admin', 'writer', 'reader'),
  'dataset.list': rule('visible', 'admin', 'writer', 'reader'),
  'dataset.read': rule('dataset', 'admin', 'writer', 'reader'),
  'dataset.manage': rule('dataset', 'admin'),
  'identity.manage': rule('tenant', 'admin'),
  'tenant.manage': rule('server'),
  'service.read': rule('visible', 'admin', 'writer', 'reader'),
};

/** An identity's array is the same until its roles change, and so is its index. */
const indexes = new WeakMap<readonly Privilege[], PrivilegeIndex>();

function indexOf(privileges: readonly Privilege[]): PrivilegeIndex {
  const known = indexes.get(privileges);
  if (known !== undefined) return known;
  const index = new PrivilegeIndex(privileges, rules.query.privileges);
  indexes.set(privileges, index);
  return index;
}

/** What is held of privileges that count in this scope. */
function heldIn(index: PrivilegeIndex, scope: Scope, dataset: string | undefined): PrivilegeSet {
  if (scope === 'tenant') return index.everywhere;
  if (dataset !== undefined) return index.on(dataset);
  return scope === 'visible' ? index.somewhere : index.everywhere;
}

/** Whether a principal may act in a tenant at all: nobody but the root administrator leaves the own one. */
export const mayEnter = (principal: Principal, tenant: string): boolean =>
  principal.kind === 'root' || principal.tenant === tenant;

/**
 * Whether a principal may do something in a tenant that it may enter.
 * @param dataset the dataset that it is about; left out when it is about none, or about all of them
 */
export function decide(principal: Principal, action: Action, dataset?: string): boolean {
  if (dataset === auditDataset) return decideOnAudit(principal, action);
  const { scope, privileges } = rules[action];
  if (scope === 'server') return principal.kind === 'root';
  return (heldIn(indexOf(principal.privileges), scope, dataset) & privileges) !== 0;
}

/** Nobody writes the audit trail but the service, those who administer the tenant read it, and root may clear it. */
function decideOnAudit(principal: Principal, action: Action): boolean {
  if (action === 'ingest') return false;
  return action === 'dataset.manage' ? principal.kind === 'root' : decide(principal, 'identity.manage');
}

/** The rows of a dataset that a principal may read. Privileges add up: one without a tag lets all rows through. */
export function readableRows(principal: Principal, dataset: string): ReadableRows {
  if (dataset === auditDataset) return decideOnAudit(principal, 'query') ? 'all' : 'none';
  return indexOf(principal.privileges).rows(dataset);
}
