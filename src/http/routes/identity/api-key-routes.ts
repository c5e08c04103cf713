import type { AuditLog } from '../../../audit/audit-log.ts';
import { AppError } from '../../../errors.ts';
import type { ApiKeyAdministration } from '../../../identity/api-keys.ts';
import { parseJsonBody } from '../../server/json-body.ts';
import { jsonReply } from '../../server/reply.ts';
import type { Route } from '../../server/route.ts';
import {
  type AdministrationRoute,
  administrationBody,
  forAdministrators,
  parseRoleNames,
} from './administration.ts';

/** API keys. Their values are in the replies to making one and to asking for one by its id, and nowhere else. */
export function apiKeyRoutes(keys: ApiKeyAdministration, audit: AuditLog): Route[] {
  const routes: AdministrationRoute[] = [
    {
      method: 'GET',
      path: '/api/console/v1/apikeys',
      handler: ({ tenant }) => jsonReply(keys.list(tenant)),
    },
    {
      method: 'POST',
      path: '/api/console/v1/apikeys',
      body: administrationBody,
      handler: async (request) => {
        const from = request.clientAddress();
        const { keyName, roles } = parseNewKey(request.body);
        const key = await keys.create(request.tenant, keyName, roles, request.principal.name);
        audit.changed(request, from, 'apikey.create', `${key.keyId} ${keyName}`);
        return jsonReply(key);
      },
    },
    {
      method: 'GET',
      path: '/api/console/v1/apikeys/{keyId}',
      handler: (request) => {
        const key = keys.get(request.tenant, request.parameter);
        audit.changed(request, request.clientAddress(), 'apikey.read', `${key.keyId} ${key.keyName}`);
        return jsonReply(key);
      },
    },
    {
      method: 'DELETE',
      path: '/api/console/v1/apikeys/{keyId}',
      handler: async (request) => {
        const from = request.clientAddress();
        const keyId = request.parameter;
        const keyName = await keys.delete(request.tenant, keyId);
        audit.changed(request, from, 'apikey.delete', `${keyId} ${keyName}`);
        return jsonReply({ keyId, keyName, message: 'the API key is deleted and good no more' });
      },
    },
  ];
  return routes.map(forAdministrators);
}

/** @throws AppError `bad_json`, `bad_request` */
function parseNewKey(body: Uint8Array): { readonly keyName: string; readonly roles: readonly string[] } {
  const value = parseJsonBody(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('bad_request', 'the body must be an object: {"keyName": "name", "roles": ["role"]}');
  }
  const { keyName, roles, ...others }: { keyName?: unknown; roles?: unknown } = value;
  const [stray] = Object.keys(others);
  if (stray !== undefined) {
    const reason = `${JSON.stringify(stray.slice(0, 40))} is not a member of a new key; known are keyName, roles`;
    throw new AppError('bad_request', reason);
  }
  if (typeof keyName !== 'string') throw new AppError('bad_request', 'keyName must be a string');
  return { keyName, roles: parseRoleNames(roles) };
}
