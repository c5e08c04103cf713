import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import type { ApiKeyAdministration } from '../../../identity/api-keys.ts';
import { type Expectation, members } from '../../../lib/validation.ts';
import { jsonBody } from '../../server/json-body.ts';
import { jsonReply } from '../../server/reply.ts';
import { jsonContent, timestamp } from '../../server/reply-content.ts';
import type { Route } from '../../server/route.ts';
import { administratorRoute, maxBytes, nameParameter, roleNames } from './administrator-route.ts';

const keyId = nameParameter('The id of the key, a ULID.');

const newKey = members(
  { keyName: v.string('must be a string'), roles: roleNames },
  'is not a member of a new key; known are keyName, roles',
);
const newKeyExpectation: Expectation<v.InferOutput<typeof newKey>> = {
  schema: v.pipe(newKey, v.title('NewApiKey')),
  name: '',
  whole: 'the body must be an object: {"keyName": "name", "roles": ["role"]}',
  code: 'bad_request',
};

const apiKey = v.pipe(
  v.object({
    keyId: v.pipe(v.string(), v.description('A ULID.')),
    keyName: v.string(),
    apiKey: v.pipe(
      v.string(),
      v.description('A UUID; in a list of keys, asterisks and its last four characters.'),
    ),
    roles: v.array(v.string()),
    createdBy: v.string(),
    createdAt: timestamp,
    modifiedAt: timestamp,
  }),
  v.title('ApiKey'),
);
const deletedKey = v.object({ keyId: v.string(), keyName: v.string(), message: v.string() });

/**
 * API keys. Only two replies show the value of a key: that to its creation, and that to a request for it by
 * id.
 */
export function apiKeyRoutes(keys: ApiKeyAdministration, audit: AuditLog): Route[] {
  return [
    administratorRoute({
      method: 'GET',
      path: '/api/console/v1/apikeys',
      reference: {
        group: 'Identities',
        summary: 'List the API keys',
        replies: [
          {
            status: 200,
            description: 'All keys, with their values masked.',
            content: jsonContent(v.array(apiKey)),
          },
        ],
        errors: [],
      },
      handler: ({ tenant }) => jsonReply(keys.list(tenant)),
    }),
    administratorRoute({
      method: 'POST',
      path: '/api/console/v1/apikeys',
      reference: {
        group: 'Identities',
        summary: 'Create an API key',
        replies: [{ status: 200, description: 'The key in full.', content: jsonContent(apiKey) }],
        errors: [
          'bad_name',
          'bad_role',
          'identity_exists',
          'role_unknown',
          'too_many_identities',
          'identity_changed',
        ],
      },
      body: jsonBody(newKeyExpectation, { description: 'The name of the key and its roles.', maxBytes }),
      handler: async (request, { body: { keyName, roles } }) => {
        const from = request.clientAddress();
        const key = await keys.create(request.tenant, keyName, roles, request.principal.name);
        audit.changed(request, from, 'apikey.create', `${key.keyId} ${keyName}`);
        return jsonReply(key);
      },
    }),
    administratorRoute({
      method: 'GET',
      path: '/api/console/v1/apikeys/{keyId}',
      reference: {
        group: 'Identities',
        summary: 'Show an API key',
        details: 'The audit trail records who has asked for it.',
        parameter: keyId,
        replies: [{ status: 200, description: 'The key in full.', content: jsonContent(apiKey) }],
        errors: ['not_found', 'secret_changed'],
      },
      handler: (request) => {
        const key = keys.get(request.tenant, request.parameter);
        audit.changed(request, request.clientAddress(), 'apikey.read', `${key.keyId} ${key.keyName}`);
        return jsonReply(key);
      },
    }),
    administratorRoute({
      method: 'DELETE',
      path: '/api/console/v1/apikeys/{keyId}',
      reference: {
        group: 'Identities',
        summary: 'Delete an API key',
        details: 'When the reply is sent, the key is invalid on all nodes.',
        parameter: keyId,
        replies: [{ status: 200, description: 'The key is deleted.', content: jsonContent(deletedKey) }],
        errors: ['not_found', 'identity_changed'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const keyId = request.parameter;
        const keyName = await keys.delete(request.tenant, keyId);
        audit.changed(request, from, 'apikey.delete', `${keyId} ${keyName}`);
        return jsonReply({ keyId, keyName, message: 'the API key is deleted and no longer valid' });
      },
    }),
  ];
}
