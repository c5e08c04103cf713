import type { AuditLog } from '../../../audit/audit-log.ts';
import { showPrivilege } from '../../../auth/privilege-entries.ts';
import type { UserAdministration } from '../../../identity/users.ts';
import { parseJsonBody } from '../../server/json-body.ts';
import { jsonReply, type Reply, textReply } from '../../server/reply.ts';
import type { AuthorizedRequest, Route } from '../../server/route.ts';
import {
  type AdministrationRoute,
  administrationBody,
  forAdministrators,
  parseRoleNames,
} from './administration.ts';

/** Users, who sign in with a name and a password or at the identity provider. A new password is the body of the reply, as plain text. */
export function userRoutes(users: UserAdministration, audit: AuditLog): Route[] {
  const rolesOf = (tenant: string, name: string): Reply => {
    const roles = [...users.roles(tenant, name)];
    return jsonReply(
      Object.fromEntries(roles.map(([role, privileges]) => [role, privileges.map(showPrivilege)])),
    );
  };
  const changeRoles = (change: 'add' | 'remove') => async (request: AuthorizedRequest) => {
    const from = request.clientAddress();
    const { tenant, parameter: name } = request;
    await users.changeRoles(tenant, name, change, parseRoleNames(parseJsonBody(request.body)));
    audit.changed(request, from, 'user.roles', name);
    return rolesOf(tenant, name);
  };
  const routes: AdministrationRoute[] = [
    {
      method: 'GET',
      path: '/api/v1/users',
      handler: ({ tenant }) => jsonReply(users.list(tenant)),
    },
    {
      method: 'POST',
      path: '/api/v1/user/{name}',
      body: administrationBody,
      handler: async (request) => {
        const from = request.clientAddress();
        const { tenant, parameter: name, body } = request;
        const roles = body.byteLength === 0 ? [] : parseRoleNames(parseJsonBody(body));
        const password = await users.create(tenant, name, roles);
        audit.changed(request, from, 'user.create', name);
        return textReply(password);
      },
    },
    {
      method: 'DELETE',
      path: '/api/v1/user/{name}',
      handler: async (request) => {
        const from = request.clientAddress();
        await users.delete(request.tenant, request.parameter);
        audit.changed(request, from, 'user.delete', request.parameter);
        return textReply(`deleted user ${request.parameter}`);
      },
    },
    {
      method: 'GET',
      path: '/api/v1/user/{name}/role',
      handler: ({ tenant, parameter }) => rolesOf(tenant, parameter),
    },
    {
      method: 'PATCH',
      path: '/api/v1/user/{name}/role/add',
      body: administrationBody,
      handler: changeRoles('add'),
    },
    {
      method: 'PATCH',
      path: '/api/v1/user/{name}/role/remove',
      body: administrationBody,
      handler: changeRoles('remove'),
    },
    {
      method: 'POST',
      path: '/api/v1/user/{name}/generate-new-password',
      handler: async (request) => {
        const from = request.clientAddress();
        const password = await users.generatePassword(request.tenant, request.parameter);
        audit.changed(request, from, 'user.password', request.parameter);
        return textReply(password);
      },
    },
  ];
  return routes.map(forAdministrators);
}
