import type { RouteReference } from '../../../src/http/server/route.ts';

/** Of a route that is in no reference. */
export const noReference: RouteReference = { group: 'Status', summary: 'A test.', replies: [], errors: [] };
