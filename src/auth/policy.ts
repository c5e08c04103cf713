import { auditDataset } from '../model/dataset.ts';
import type { Action, Principal, Privilege, PrivilegeName, ReadableRows, Tag } from '../model/identity.ts';

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
  readonly privileges: readonly PrivilegeName[];
}

/** What each action needs. Whatever is not listed is refused. */
const rules: Readonly<Record<Action, Rule>> = {
  ingest: { scope: 'dataset', privileges: ['admin', 'writer', 'ingestor'] },
  query: { scope: 'visible', privileges: ['admin', 'writer', 'reader'] },
  'dataset.list': { scope: 'visible', privileges: ['admin', 'writer', 'reader'] },
  'dataset.read': { scope: 'dataset', privileges: ['admin', 'writer', 'reader'] },
  'dataset.manage': { scope: 'dataset', privileges: ['admin'] },
  'identity.manage': { scope: 'tenant', privileges: ['admin'] },
  'tenant.manage': { scope: 'server', privileges: [] },
  'service.read': { scope: 'visible', privileges: ['admin', 'writer', 'reader'] },
};

function covers(privilege: Privilege, scope: Scope, dataset: string | undefined): boolean {
  if (privilege.dataset === undefined) return true;
  if (scope === 'tenant') return false;
  if (dataset === undefined) return scope === 'visible';
  return privilege.dataset === dataset;
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
  const rule = rules[action];
  if (rule.scope === 'server') return principal.kind === 'root';
  return principal.privileges.some(
    (privilege) => rule.privileges.includes(privilege.privilege) && covers(privilege, rule.scope, dataset),
  );
}

/** Nobody writes the audit trail but the service, those who administer the tenant read it, and root may clear it. */
function decideOnAudit(principal: Principal, action: Action): boolean {
  if (action === 'ingest') return false;
  return action === 'dataset.manage' ? principal.kind === 'root' : decide(principal, 'identity.manage');
}

/** The rows of a dataset that a principal may read. Privileges add up: one without a tag lets all rows through. */
export function readableRows(principal: Principal, dataset: string): ReadableRows {
  if (dataset === auditDataset) return decideOnAudit(principal, 'query') ? 'all' : 'none';
  const { privileges } = rules.query;
  const granting = principal.privileges.filter(
    (privilege) => privileges.includes(privilege.privilege) && covers(privilege, 'dataset', dataset),
  );
  if (granting.length === 0) return 'none';
  const tags: Tag[] = [];
  for (const { tag } of granting) {
    if (tag === undefined) return 'all';
    tags.push(tag);
  }
  return tags;
}
