import type { ErrorCode } from '../../src/errors.ts';
import type { Route } from '../../src/http/server/route.ts';

/** Errors before the path is read. */
const ofEveryRequest = [
  'bad_framing',
  'bad_header',
  'headers_too_large',
  'starting',
  'shutting_down',
  'internal',
] as const;
/** Errors of routes that need credentials and a tenant. */
const ofCallers = [
  'unauthenticated',
  'credentials_ambiguous',
  'forbidden',
  'bad_tenant_name',
  'tenant_required',
  'tenant_not_supported',
  'tenant_not_found',
  'overloaded',
  'store_unavailable',
  'oidc_unavailable',
] as const;
const ofBodies = ['unsupported_media_type', 'unsupported_encoding', 'body_too_large'] as const;

/** The codes that a request of a route can end with: those of all routes of its kind, and its own. */
export function errorsOf(route: Route): readonly ErrorCode[] {
  const hasParameter = route.path.includes('{');
  const isPublic = route.permission === 'public';
  return [
    ...new Set<ErrorCode>([
      ...route.reference.errors,
      ...(route.body === undefined ? [] : [...route.body.reference.errors, ...ofBodies]),
      ...(route.query === undefined ? [] : (['bad_request'] as const)),
      ...(isPublic || route.dataset === 'none' ? [] : (['bad_dataset_name'] as const)),
      ...(hasParameter ? (['bad_name'] as const) : []),
      ...(isPublic ? [] : ofCallers),
      ...ofEveryRequest,
    ]),
  ];
}
