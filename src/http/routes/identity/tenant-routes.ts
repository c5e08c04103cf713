import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import type { Tenant } from '../../../catalog/tenants.ts';
import type { TenantAdministration } from '../../../identity/tenant-administration.ts';
import { defaultTenant } from '../../../model/dataset.ts';
import { readLimits, showLimits, tenantLimitsExpectation } from '../../../model/tenant-limits.ts';
import { type Declared, serviceRoute } from '../../server/declare-route.ts';
import { jsonBody } from '../../server/json-body.ts';
import { jsonReply, textReply } from '../../server/reply.ts';
import { jsonContent, textContent, timestamp } from '../../server/reply-content.ts';
import type { AuthorizedRequest, Route, ServiceRoute } from '../../server/route.ts';
import { maxBytes, nameParameter } from './administrator-route.ts';

const tenantName = nameParameter('The name of the tenant.');
const tenant = v.pipe(v.object({ name: v.string(), createdAt: v.optional(timestamp) }), v.title('Tenant'));
const tenantReply = { status: 200, description: 'The tenant.', content: jsonContent(tenant) };
const limitsReply = {
  status: 200,
  description: 'The limits that hold for the tenant.',
  content: jsonContent(tenantLimitsExpectation.schema),
};

/** These routes concern the server, so requests do not name a tenant in a header. */
const rootRoute = <Body = undefined>(
  declared: Omit<
    Declared<ServiceRoute, AuthorizedRequest, Body, undefined>,
    'permission' | 'dataset' | 'tenant'
  >,
): ServiceRoute =>
  serviceRoute({ ...declared, permission: 'tenant.manage', dataset: 'none', tenant: 'none' });

/** Tenants, for the root administrator. */
export function tenantRoutes(tenants: TenantAdministration, audit: AuditLog): Route[] {
  return [
    rootRoute({
      method: 'GET',
      path: '/api/v1/tenants',
      reference: {
        group: 'Tenants',
        summary: 'List the tenants',
        replies: [{ status: 200, description: 'All tenants.', content: jsonContent(v.array(tenant)) }],
        errors: [],
      },
      handler: () => jsonReply(tenants.list().map(show)),
    }),
    rootRoute({
      method: 'GET',
      path: '/api/v1/tenants/{tenant}',
      reference: {
        group: 'Tenants',
        summary: 'Show a tenant',
        parameter: tenantName,
        replies: [tenantReply],
        errors: ['tenant_not_found'],
      },
      handler: ({ parameter }) => jsonReply(show(tenants.get(parameter))),
    }),
    rootRoute({
      method: 'PUT',
      path: '/api/v1/tenants/{tenant}',
      reference: {
        group: 'Tenants',
        summary: 'Create a tenant',
        details: 'A tenant that exists stays as it is.',
        parameter: tenantName,
        replies: [tenantReply],
        errors: ['tenant_exists', 'too_many_tenants', 'identity_changed'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const { tenant, made } = await tenants.create(request.parameter);
        if (made) audit.changed(about(request), from, 'tenant.create', tenant.id);
        return jsonReply(show(tenant));
      },
    }),
    rootRoute({
      method: 'GET',
      path: '/api/v1/tenants/{tenant}/limits',
      reference: {
        group: 'Tenants',
        summary: 'Show the limits of a tenant',
        parameter: tenantName,
        replies: [limitsReply],
        errors: ['tenant_not_found'],
      },
      handler: ({ parameter }) => jsonReply(showLimits(tenants.limits(parameter))),
    }),
    rootRoute({
      method: 'PUT',
      path: '/api/v1/tenants/{tenant}/limits',
      reference: {
        group: 'Tenants',
        summary: 'Set the limits of a tenant',
        details:
          'They replace all earlier limits of the tenant. For a limit that is left out, that of the service applies.',
        parameter: tenantName,
        replies: [limitsReply],
        errors: ['tenant_not_found', 'identity_changed'],
      },
      body: jsonBody(tenantLimitsExpectation, { description: 'Limits of the tenant.', maxBytes }),
      handler: async (request, { body }) => {
        const from = request.clientAddress();
        const { id } = tenants.get(request.parameter);
        const limits = await tenants.setLimits(request.parameter, readLimits(body));
        audit.changed(about(request), from, 'tenant.limits', id);
        return jsonReply(showLimits(limits));
      },
    }),
    rootRoute({
      method: 'DELETE',
      path: '/api/v1/tenants/{tenant}',
      reference: {
        group: 'Tenants',
        summary: 'Delete a tenant',
        details: 'This also deletes its users, keys, roles and datasets.',
        parameter: tenantName,
        replies: [{ status: 200, description: 'The tenant is deleted.', content: textContent }],
        errors: ['tenant_not_found', 'tenant_unchangeable', 'identity_changed'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const { id } = tenants.get(request.parameter);
        await tenants.delete(request.parameter);
        audit.changed(about(request), from, 'tenant.delete', id);
        return textReply(`deleted tenant ${request.parameter}`);
      },
    }),
  ];
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
