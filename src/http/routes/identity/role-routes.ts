import type { AuditLog } from '../../../audit/audit-log.ts';
import { parseRole, showPrivilege } from '../../../auth/privilege-entries.ts';
import { AppError } from '../../../errors.ts';
import type { RoleAdministration } from '../../../identity/roles.ts';
import type { Privilege } from '../../../model/identity.ts';
import { parseJsonBody } from '../../server/json-body.ts';
import { jsonReply, textReply } from '../../server/reply.ts';
import type { Route } from '../../server/route.ts';
import { type AdministrationRoute, administrationBody, forAdministrators } from './administration.ts';

/** Roles: named arrays of privileges. */
export function roleRoutes(roles: RoleAdministration, audit: AuditLog): Route[] {
  const show = (privileges: readonly Privilege[]) => privileges.map(showPrivilege);
  const routes: AdministrationRoute[] = [
    {
      method: 'GET',
      path: '/api/v1/roles',
      handler: ({ tenant }) =>
        jsonReply(
          Object.fromEntries([...roles.list(tenant)].map(([name, privileges]) => [name, show(privileges)])),
        ),
    },
    {
      method: 'GET',
      path: '/api/v1/role/default',
      handler: ({ tenant }) => jsonReply(roles.getDefault(tenant) ?? null),
    },
    {
      method: 'PUT',
      path: '/api/v1/role/default',
      body: administrationBody,
      handler: async (request) => {
        const from = request.clientAddress();
        const name = parseJsonBody(request.body);
        if (typeof name !== 'string')
          throw new AppError('bad_request', 'the body must be the name of a role: "name"');
        await roles.setDefault(request.tenant, name);
        audit.changed(request, from, 'role.default', name);
        return jsonReply(name);
      },
    },
    {
      method: 'GET',
      path: '/api/v1/role/{name}',
      handler: ({ tenant, parameter }) => jsonReply(show(roles.get(tenant, parameter))),
    },
    {
      method: 'PUT',
      path: '/api/v1/role/{name}',
      body: administrationBody,
      handler: async (request) => {
        const from = request.clientAddress();
        const privileges = parseRole(parseJsonBody(request.body));
        await roles.put(request.tenant, request.parameter, privileges);
        audit.changed(request, from, 'role.put', request.parameter);
        return jsonReply(show(privileges));
      },
    },
    {
      method: 'DELETE',
      path: '/api/v1/role/{name}',
      handler: async (request) => {
        const from = request.clientAddress();
        await roles.delete(request.tenant, request.parameter);
        audit.changed(request, from, 'role.delete', request.parameter);
        return textReply(`deleted role ${request.parameter}`);
      },
    },
  ];
  return routes.map(forAdministrators);
}
