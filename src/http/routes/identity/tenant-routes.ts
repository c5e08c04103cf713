import type { AuditLog } from '../../../audit/audit-log.ts';
import type { Tenant } from '../../../catalog/tenants.ts';
import type { TenantAdministration } from '../../../identity/tenants.ts';
import { defaultTenant } from '../../../model/dataset.ts';
import { parseOwnLimits, showLimits } from '../../../model/tenant-limits.ts';
import { parseJsonBody } from '../../server/json-body.ts';
import { jsonReply, textReply } from '../../server/reply.ts';
import type { AuthorizedRequest, Route, ServiceRoute } from '../../server/route.ts';
import { administrationBody } from './administration.ts';

/** Tenants, for the root administrator. They are about the server, so that a request names no tenant to act in. */
export function tenantRoutes(tenants: TenantAdministration, audit: AuditLog): Route[] {
  const routes: ReadonlyArray<Pick<ServiceRoute, 'method' | 'path' | 'body' | 'handler'>> = [
    {
      method: 'GET',
      path: '/api/v1/tenants',
      handler: () => jsonReply(tenants.list().map(show)),
    },
    {
      method: 'GET',
      path: '/api/v1/tenants/{tenant}',
      handler: ({ parameter }) => jsonReply(show(tenants.get(parameter))),
    },
    {
      method: 'PUT',
      path: '/api/v1/tenants/{tenant}',
      handler: async (request) => {
        const from = request.clientAddress();
        const { tenant, made } = await tenants.create(request.parameter);
        if (made) audit.changed(about(request), from, 'tenant.create', tenant.id);
        return jsonReply(show(tenant));
      },
    },
    {
      method: 'GET',
      path: '/api/v1/tenants/{tenant}/limits',
      handler: ({ parameter }) => jsonReply(showLimits(tenants.limits(parameter))),
    },
    {
      method: 'PUT',
      path: '/api/v1/tenants/{tenant}/limits',
      body: administrationBody,
      handler: async (request) => {
        const from = request.clientAddress();
        const { id } = tenants.get(request.parameter);
        const own = parseOwnLimits(parseJsonBody(request.body));
        const limits = await tenants.setLimits(request.parameter, own);
        audit.changed(about(request), from, 'tenant.limits', id);
        return jsonReply(showLimits(limits));
      },
    },
    {
      method: 'DELETE',
      path: '/api/v1/tenants/{tenant}',
      handler: async (request) => {
        const from = request.clientAddress();
        const { id } = tenants.get(request.parameter);
        await tenants.delete(request.parameter);
        audit.changed(about(request), from, 'tenant.delete', id);
        return textReply(`deleted tenant ${request.parameter}`);
      },
    },
  ];
  return routes.map((route) => ({ ...route, permission: 'tenant.manage', dataset: 'none', tenant: 'none' }));
}

/** Whatever tenant the request names, what was done to another one is nothing to tell it. */
const about = ({ principal }: AuthorizedRequest) => ({ principal, tenant: defaultTenant });

const show = ({
  name,
  createdAt,
}: Tenant): { readonly name: string; readonly createdAt?: string | undefined } => ({
  name,
  createdAt,
});
