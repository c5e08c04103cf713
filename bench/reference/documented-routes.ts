import { ConsoleFiles } from '../../src/http/routes/console/console-files.ts';
import { type RouteTableParts, routeTable } from '../../src/http/routes/route-table.ts';
import type { Route } from '../../src/http/server/route.ts';
import { limits } from '../../src/limits/limits.ts';

/**
 * A part that is never called: the reference is made from the descriptions of routes, not from their
 * handlers.
 */
const neverAsked = new Proxy(
  {},
  {
    get: (_, name) => () => {
      throw new Error(`BUG: the reference of the API calls ${String(name)}`);
    },
  },
);

/** All routes of a service with an identity provider and with metrics on the same address. */
export function documentedRoutes(): readonly Route[] {
  const part = neverAsked as never;
  const parts: RouteTableParts = {
    audit: part,
    status: part,
    metrics: { registry: part, clock: part, needsCredentials: true },
    ingest: { ingest: part, maxBodyBytes: limits.maxBodyBytes },
    query: part,
    tails: part,
    datasets: { administration: part, questions: part, retention: part, limits: part },
    dashboards: { dashboards: part, filters: part },
    identities: { roles: part, users: part, apiKeys: part, tenants: part },
    alerts: part,
    notifications: { targets: part, tests: part, records: part, policy: part, silences: part },
    login: part,
    backups: part,
    session: part,
    console: ConsoleFiles.of([]),
  };
  return routeTable(parts);
}
