import * as v from 'valibot';
import { type Expectation, listOf } from '../../../lib/validation.ts';
import { limits } from '../../../limits/limits.ts';
import { type Declared, serviceRoute } from '../../server/declare-route.ts';
import type { AuthorizedRequest, ParameterReference, ServiceRoute } from '../../server/route.ts';

/** A route for those who administer the identities of a tenant. */
export const administratorRoute = <Body = undefined>(
  declared: Omit<Declared<ServiceRoute, AuthorizedRequest, Body, undefined>, 'permission' | 'dataset'>,
): ServiceRoute => serviceRoute({ ...declared, permission: 'identity.manage', dataset: 'none' });

/** Names of roles in a request; no more than a tenant can have. */
export const roleNames = listOf(
  v.pipe(v.string(), v.description('The name of a role.')),
  limits.maxRolesPerTenant,
  'are an array of names: ["role"]',
);

export const roleNamesExpectation: Expectation<readonly string[]> = {
  schema: roleNames,
  name: 'roles',
  whole: 'roles are an array of names: ["role"]',
  code: 'bad_request',
};

/** A path parameter that is a name. */
export const nameParameter = (description: string): ParameterReference => ({
  description,
  schema: v.pipe(v.string(), v.minLength(1), v.maxLength(limits.identityNameMaxLength)),
});

/** The largest body of these routes. */
export const maxBytes = limits.maxIdentityBodyBytes;
