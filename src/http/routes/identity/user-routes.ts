import * as v from 'valibot';
import { requireSelf } from '../../../access/gate.ts';
import type { AuditLog } from '../../../audit/audit-log.ts';
import { privilegeEntries, roleObject } from '../../../auth/privilege-entries.ts';
import type { RoleChange } from '../../../identity/roles.ts';
import type { UserAdministration } from '../../../identity/users.ts';
import { serviceRoute } from '../../server/declare-route.ts';
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
  content: jsonContent(v.record(v.string(), privilegeEntries)),
};
const noMembers = v.pipe(v.strictObject({}), v.description('There are no groups.'));

const user = v.variant('method', [
  v.object({ id: v.string(), method: v.literal('native') }),
  v.object({
    id: v.pipe(v.string(), v.description('`oauth:` and the subject.')),
    method: v.literal('oauth'),
    name: v.pipe(v.string(), v.description('As the identity provider named them when they first came.')),
  }),
]);

const describedUser = v.pipe(
  v.object({
    id: v.string(),
    username: v.pipe(v.string(), v.description('What people call them; the id of those with a password.')),
    method: v.picklist(['native', 'oauth']),
    email: v.null(),
    picture: v.null(),
    roles: v.record(v.string(), privilegeEntries),
    group_roles: noMembers,
    user_groups: v.tuple([]),
  }),
  v.title('User'),
);

/**
 * Users, who sign in with a name and password or at the identity provider. A new password is returned as
 * plain text.
 */
export function userRoutes(users: UserAdministration, audit: AuditLog): Route[] {
  const rolesOf = (tenant: string, name: string): Reply =>
    jsonReply(Object.fromEntries(users.entries(tenant, name)));
  const changeRoles = (change: RoleChange, summary: string) =>
    administratorRoute({
      method: change === 'set' ? 'PUT' : 'PATCH',
      path: change === 'set' ? '/api/v1/user/{name}/role' : `/api/v1/user/{name}/role/${change}`,
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
      path: '/api/v1/user',
      reference: {
        group: 'Identities',
        summary: 'List who can sign in',
        replies: [
          {
            status: 200,
            description: 'All users, with the administrator of the configuration.',
            content: jsonContent(v.array(user)),
          },
        ],
        errors: [],
      },
      handler: ({ tenant }) => jsonReply(users.list(tenant)),
    }),
    administratorRoute({
      method: 'GET',
      path: '/api/v1/users',
      reference: {
        group: 'Identities',
        summary: 'Describe all users',
        replies: [
          {
            status: 200,
            description: 'All users but the administrator of the configuration, with what they may do.',
            content: jsonContent(v.array(describedUser)),
          },
        ],
        errors: [],
      },
      handler: ({ tenant }) => jsonReply(users.describeAll(tenant)),
    }),
    administratorRoute({
      method: 'GET',
      path: '/api/v1/users/{name}',
      reference: {
        group: 'Identities',
        summary: 'Describe a user',
        parameter: userName,
        replies: [{ status: 200, description: 'The user.', content: jsonContent(describedUser) }],
        errors: ['not_found', 'root_unchangeable'],
      },
      handler: ({ tenant, parameter }) => jsonReply(users.describe(tenant, parameter)),
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
    serviceRoute({
      method: 'GET',
      path: '/api/v1/user/{name}/role',
      permission: 'identity.self',
      dataset: 'none',
      reference: {
        group: 'Identities',
        summary: 'Show the roles of a user',
        details: 'Users may ask for their own; for those of others it takes the privilege `admin`.',
        parameter: userName,
        replies: [
          {
            status: 200,
            description: 'The roles of the user by name, each in its form with a type.',
            content: jsonContent(
              v.object({ roles: v.record(v.string(), roleObject), group_roles: noMembers }),
            ),
          },
        ],
        errors: ['not_found'],
      },
      handler: ({ principal, tenant, parameter }) => {
        requireSelf(principal, parameter);
        return jsonReply({ roles: Object.fromEntries(users.roles(tenant, parameter)), group_roles: {} });
      },
    }),
    changeRoles('set', 'Give a user these roles alone'),
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
