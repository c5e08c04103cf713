import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import { privilegeEntries, roleExpectation } from '../../../auth/privilege-entries.ts';
import type { RoleAdministration } from '../../../identity/roles.ts';
import type { Expectation } from '../../../lib/validation.ts';
import { jsonBody } from '../../server/json-body.ts';
import { jsonReply, textReply } from '../../server/reply.ts';
import { jsonContent, textContent } from '../../server/reply-content.ts';
import type { Route } from '../../server/route.ts';
import { administratorRoute, maxBytes, nameParameter } from './administrator-route.ts';

const roleName = nameParameter('The name of the role.');
const role = roleExpectation.schema;

const defaultRole: Expectation<string | null> = {
  schema: v.nullable(v.string()),
  name: '',
  whole: 'the body must be the name of a role, "name", or null for none',
  code: 'bad_request',
};

/** Roles: named arrays of privileges, shown in the form in which they were written. */
export function roleRoutes(roles: RoleAdministration, audit: AuditLog): Route[] {
  return [
    administratorRoute({
      method: 'GET',
      path: '/api/v1/roles',
      reference: {
        group: 'Identities',
        summary: 'List the roles',
        replies: [
          {
            status: 200,
            description: 'The privileges of all roles, by name.',
            content: jsonContent(v.record(v.string(), privilegeEntries)),
          },
        ],
        errors: [],
      },
      handler: ({ tenant }) => jsonReply(Object.fromEntries(roles.list(tenant))),
    }),
    administratorRoute({
      method: 'GET',
      path: '/api/v1/role/default',
      reference: {
        group: 'Identities',
        summary: 'Show the default role',
        details: 'People who sign in at the identity provider and get no role from it have this one.',
        replies: [
          {
            status: 200,
            description: 'The name of the role; `null` if there is none.',
            content: jsonContent(v.nullable(v.string())),
          },
        ],
        errors: [],
      },
      handler: ({ tenant }) => jsonReply(roles.getDefault(tenant) ?? null),
    }),
    administratorRoute({
      method: 'PUT',
      path: '/api/v1/role/default',
      reference: {
        group: 'Identities',
        summary: 'Set the default role',
        details: '`null` ends it.',
        replies: [
          {
            status: 200,
            description: 'The name of the role, or `null`.',
            content: jsonContent(v.nullable(v.string())),
          },
        ],
        errors: ['role_unknown', 'identity_changed'],
      },
      body: jsonBody(defaultRole, { description: 'The name of a role, or `null`.', maxBytes }),
      handler: async (request, { body: name }) => {
        const from = request.clientAddress();
        await roles.setDefault(request.tenant, name ?? undefined);
        audit.changed(request, from, 'role.default', name ?? '');
        return jsonReply(name);
      },
    }),
    administratorRoute({
      method: 'GET',
      path: '/api/v1/role/{name}',
      reference: {
        group: 'Identities',
        summary: 'Show a role',
        parameter: roleName,
        replies: [{ status: 200, description: 'The role, as it was put.', content: jsonContent(role) }],
        errors: ['not_found'],
      },
      handler: ({ tenant, parameter }) => jsonReply(roles.get(tenant, parameter)),
    }),
    administratorRoute({
      method: 'PUT',
      path: '/api/v1/role/{name}',
      reference: {
        group: 'Identities',
        summary: 'Create or replace a role',
        details: 'What a role grants changes at once for all who have it.',
        parameter: roleName,
        replies: [{ status: 200, description: 'The role, as it was put.', content: jsonContent(role) }],
        errors: ['bad_name', 'bad_role', 'bad_dataset_name', 'too_many_identities', 'identity_changed'],
      },
      body: jsonBody(roleExpectation, { description: 'The privileges that the role grants.', maxBytes }),
      handler: async (request, { body }) => {
        const from = request.clientAddress();
        await roles.put(request.tenant, request.parameter, body);
        audit.changed(request, from, 'role.put', request.parameter);
        return jsonReply(body);
      },
    }),
    administratorRoute({
      method: 'DELETE',
      path: '/api/v1/role/{name}',
      reference: {
        group: 'Identities',
        summary: 'Delete a role',
        details: 'A role that somebody has, or that is the default role, cannot be deleted.',
        parameter: roleName,
        replies: [{ status: 200, description: 'The role is deleted.', content: textContent }],
        errors: ['not_found', 'role_in_use', 'identity_changed'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        await roles.delete(request.tenant, request.parameter);
        audit.changed(request, from, 'role.delete', request.parameter);
        return textReply(`deleted role ${request.parameter}`);
      },
    }),
  ];
}
