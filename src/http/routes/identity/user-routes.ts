import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import { roleExpectation, showPrivilege } from '../../../auth/privilege-entries.ts';
import type { UserAdministration } from '../../../identity/users.ts';
import { jsonBody, optionalJsonBody } from '../../server/json-body.ts';
import { jsonReply, type Reply, textReply } from '../../server/reply.ts';
import { jsonContent, textContent } from '../../server/reply-content.ts';
import type { AuthorizedRequest, Route } from '../../server/route.ts';
import { administratorRoute, maxBytes, nameParameter, roleNamesExpectation } from './administrator-route.ts';

const userName = nameParameter(
  'The name of the user; `oauth:` and the subject for somebody who signs in at the identity provider.',
);
const newPassword = {
  status: 200,
  description: 'The password, which is shown this once.',
  content: textContent,
};
const rolesReply = {
  status: 200,
  description: 'The roles of the user, and what each grants.',
  content: jsonContent(v.record(v.string(), roleExpectation.schema)),
};

const user = v.variant('method', [
  v.object({ id: v.string(), method: v.literal('native') }),
  v.object({
    id: v.pipe(v.string(), v.description('`oauth:` and the subject.')),
    method: v.literal('oauth'),
    name: v.pipe(v.string(), v.description('As the identity provider named them when they first came.')),
  }),
]);

/**
 * Users, who sign in with a name and a password or at the identity provider. A new password is the body of
 * the reply, as plain text.
 */
export function userRoutes(users: UserAdministration, audit: AuditLog): Route[] {
  const rolesOf = (tenant: string, name: string): Reply => {
    const roles = [...users.roles(tenant, name)];
    return jsonReply(
      Object.fromEntries(roles.map(([role, privileges]) => [role, privileges.map(showPrivilege)])),
    );
  };
  const changeRoles = (change: 'add' | 'remove', summary: string) =>
    administratorRoute({
      method: 'PATCH',
      path: `/api/v1/user/{name}/role/${change}`,
      reference: {
        group: 'Identities',
        summary,
        parameter: userName,
        replies: [rolesReply],
        errors: [
          'not_found',
          'root_unchangeable',
          'role_unknown',
          'bad_role',
          'identity_changed',
          'too_many_identities',
        ],
      },
      body: jsonBody(roleNamesExpectation, { description: 'Names of roles.', maxBytes }),
      handler: async (request: AuthorizedRequest, { body: roles }) => {
        const from = request.clientAddress();
        const { tenant, parameter: name } = request;
        await users.changeRoles(tenant, name, change, roles);
        audit.changed(request, from, 'user.roles', name);
        return rolesOf(tenant, name);
      },
    });
  return [
    administratorRoute({
      method: 'GET',
      path: '/api/v1/users',
      reference: {
        group: 'Identities',
        summary: 'List the users',
        replies: [{ status: 200, description: 'All users.', content: jsonContent(v.array(user)) }],
        errors: [],
      },
      handler: ({ tenant }) => jsonReply(users.list(tenant)),
    }),
    administratorRoute({
      method: 'POST',
      path: '/api/v1/user/{name}',
      reference: {
        group: 'Identities',
        summary: 'Create a user',
        parameter: userName,
        replies: [newPassword],
        errors: [
          'bad_name',
          'bad_role',
          'identity_exists',
          'role_unknown',
          'root_unchangeable',
          'too_many_identities',
          'identity_changed',
        ],
      },
      body: optionalJsonBody(roleNamesExpectation, { description: 'Names of roles.', maxBytes }),
      handler: async (request, { body: roles = [] }) => {
        const from = request.clientAddress();
        const { tenant, parameter: name } = request;
        const password = await users.create(tenant, name, roles);
        audit.changed(request, from, 'user.create', name);
        return textReply(password);
      },
    }),
    administratorRoute({
      method: 'DELETE',
      path: '/api/v1/user/{name}',
      reference: {
        group: 'Identities',
        summary: 'Delete a user',
        parameter: userName,
        replies: [{ status: 200, description: 'The user is deleted.', content: textContent }],
        errors: ['not_found', 'root_unchangeable', 'identity_changed'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        await users.delete(request.tenant, request.parameter);
        audit.changed(request, from, 'user.delete', request.parameter);
        return textReply(`deleted user ${request.parameter}`);
      },
    }),
    administratorRoute({
      method: 'GET',
      path: '/api/v1/user/{name}/role',
      reference: {
        group: 'Identities',
        summary: 'Show the roles of a user',
        parameter: userName,
        replies: [rolesReply],
        errors: ['not_found', 'root_unchangeable'],
      },
      handler: ({ tenant, parameter }) => rolesOf(tenant, parameter),
    }),
    changeRoles('add', 'Give roles to a user'),
    changeRoles('remove', 'Take roles from a user'),
    administratorRoute({
      method: 'POST',
      path: '/api/v1/user/{name}/generate-new-password',
      reference: {
        group: 'Identities',
        summary: 'Give a user a new password',
        details: 'The old password is no longer valid.',
        parameter: userName,
        replies: [newPassword],
        errors: ['bad_request', 'not_found', 'root_unchangeable', 'identity_changed'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const password = await users.generatePassword(request.tenant, request.parameter);
        audit.changed(request, from, 'user.password', request.parameter);
        return textReply(password);
      },
    }),
  ];
}
