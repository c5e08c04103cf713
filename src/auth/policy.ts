import { auditDataset } from '../model/dataset.ts';
import type { Action, Principal, Privilege, PrivilegeName, ReadableRows } from '../model/identity.ts';
import { PrivilegeIndex, type PrivilegeSet, privilegeSet } from './privilege-index.ts';

/**
 * The scope that a privilege must have to allow an action.
 *
 * - `dataset`: the dataset of the request; a request without a dataset is about all of them.
 * - `visible`: the action lists what the caller may see. A privilege on any dataset allows the action; the
 *   result is filtered by dataset.
 * - `tenant`: the whole tenant; a privilege on one dataset does not suffice.
 * - `server`: all tenants; only the root administrator is allowed.
 * - `self`: the caller alone, which needs no privilege. About whom it is, the gate checks (`requireSelf`).
 */
type Scope = 'dataset' | 'visible' | 'tenant' | 'server' | 'self';

interface Rule {
  readonly scope: Scope;
  /** One of them suffices. */
  readonly privileges: PrivilegeSet;
}

const rule = (scope: Scope, ...privileges: readonly PrivilegeName[]): Rule => ({
  scope,
  privileges: privilegeSet(privileges),
});

/** What each action requires. Anything that is not listed is refused. */
const rules: Readonly<Record<Action, Rule>> = {
  ingest: rule('dataset', 'admin', 'editor', 'writer', 'ingestor'),
  query: rule('visible', 'admin', 'editor', 'writer', 'reader'),
  'query.export': rule('visible', 'admin', 'exporter'),
  'dataset.list': rule('visible', 'admin', 'editor', 'writer', 'reader'),
  'dataset.read': rule('dataset', 'admin', 'editor', 'writer', 'reader'),
  'dataset.manage': rule('dataset', 'admin', 'editor'),
  'identity.manage': rule('tenant', 'admin'),
  'identity.self': rule('self'),
  'tenant.manage': rule('server'),
  'backup.manage': rule('server'),
  // Documents that read datasets: the route asks whether the caller may do it anywhere, and what handles the
  // document asks again for each dataset that it reads.
  'dashboard.read': rule('visible', 'admin', 'editor', 'writer', 'reader'),
  'dashboard.write': rule('visible', 'admin', 'editor', 'writer'),
  'filter.read': rule('visible', 'admin', 'editor', 'writer', 'reader'),
  'filter.write': rule('visible', 'admin', 'editor', 'writer'),
  'alert.read': rule('visible', 'admin', 'editor', 'writer', 'reader'),
  'alert.write': rule('visible', 'admin', 'editor', 'writer'),
  'target.read': rule('visible', 'admin', 'editor', 'writer'),
  'target.manage': rule('tenant', 'admin', 'editor'),
  // Changing what somebody else owns, and seeing what is private.
  'document.manage': rule('tenant', 'admin', 'editor'),
  'service.read': rule('visible', 'admin', 'editor', 'writer', 'reader'),
};

/**
 * The privileges array of an identity changes only with its roles, so its index can be cached by identity.
 */
const indexes = new WeakMap<readonly Privilege[], PrivilegeIndex>();

function indexOf(privileges: readonly Privilege[]): PrivilegeIndex {
  const known = indexes.get(privileges);
  if (known !== undefined) return known;
  const index = new PrivilegeIndex(privileges, rules.query.privileges);
  indexes.set(privileges, index);
  return index;
}

/** The privileges that count in this scope. */
function heldIn(index: PrivilegeIndex, scope: Scope, dataset: string | undefined): PrivilegeSet {
  if (scope === 'tenant') return index.everywhere;
  if (dataset !== undefined) return index.on(dataset);
  return scope === 'visible' ? index.somewhere : index.everywhere;
}

/**
 * Whether a principal may act in a tenant. Only the root administrator may act in other tenants than its own.
 */
export const mayEnter = (principal: Principal, tenant: string): boolean =>
  principal.kind === 'root' || principal.tenant === tenant;

/**
 * Decides whether a principal may do something, in a tenant that it may enter.
 * @param dataset the dataset of the request; left out if there is none, or if it concerns all
 */
export function decide(principal: Principal, action: Action, dataset?: string): boolean {
  if (dataset === auditDataset) return decideOnAudit(principal, action);
  const { scope, privileges } = rules[action];
  if (scope === 'server') return principal.kind === 'root';
  if (scope === 'self') return true;
  return (heldIn(indexOf(principal.privileges), scope, dataset) & privileges) !== 0;
}

/** Only the service writes the audit trail. Tenant administrators read it, and root may clear it. */
function decideOnAudit(principal: Principal, action: Action): boolean {
  if (action === 'ingest') return false;
  return action === 'dataset.manage' ? principal.kind === 'root' : decide(principal, 'identity.manage');
}

/** The rows of a dataset that a principal may read. Privileges add up: one without a tag allows all rows. */
export function readableRows(principal: Principal, dataset: string): ReadableRows {
  if (dataset === auditDataset) return decideOnAudit(principal, 'query') ? 'all' : 'none';
  return indexOf(principal.privileges).rows(dataset);
}
