import { AppError } from '../../../errors.ts';
import { limits } from '../../../limits/limits.ts';
import { acceptMediaTypes } from '../../server/content-type.ts';
import type { BodyRules, Route, ServiceRoute } from '../../server/route.ts';

/** A route for those who administer the identities of a tenant. */
export type AdministrationRoute = Omit<ServiceRoute, 'permission' | 'dataset'>;

export const forAdministrators = (route: AdministrationRoute): Route => ({
  ...route,
  permission: 'identity.manage',
  dataset: 'none',
});

/** Small JSON documents. */
export const administrationBody: BodyRules = {
  maxBytes: limits.maxIdentityBodyBytes,
  contentType: acceptMediaTypes(['application/json']),
  encodings: ['identity'],
};

/**
 * The names of roles: an array of strings.
 * @throws AppError `bad_request`
 */
export function parseRoleNames(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  throw new AppError('bad_request', 'roles are an array of names: ["role"]');
}
