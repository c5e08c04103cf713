import type { AlertAdministration } from '../../alerts/alert-administration.ts';
import type { AuditLog } from '../../audit/audit-log.ts';
import type { Backups } from '../../backup/backups.ts';
import type { Dashboards } from '../../dashboards/dashboards.ts';
import type { SavedFilters } from '../../dashboards/saved-filters.ts';
import type { ApiKeyAdministration } from '../../identity/api-keys.ts';
import type { RoleAdministration } from '../../identity/roles.ts';
import type { TenantAdministration } from '../../identity/tenant-administration.ts';
import type { UserAdministration } from '../../identity/users.ts';
import type { Silences } from '../../notifications/silences.ts';
import type { Query } from '../../query/request.ts';
import type { LiveTails } from '../../tail/live-tails.ts';
import type { Route } from '../server/route.ts';
import { alertRoutes } from './alerts/alert-routes.ts';
import { backupRoutes } from './backup/backup-routes.ts';
import type { ConsoleFiles } from './console/console-files.ts';
import { consoleRoutes } from './console/console-routes.ts';
import { dashboardRoutes } from './dashboards/dashboard-routes.ts';
import { filterRoutes } from './dashboards/filter-routes.ts';
import { type DatasetRoutesOptions, datasetRoutes } from './datasets/dataset-routes.ts';
import { apiKeyRoutes } from './identity/api-key-routes.ts';
import { type LoginRouteOptions, loginRoutes } from './identity/login-routes.ts';
import { roleRoutes } from './identity/role-routes.ts';
import { type SessionRouteOptions, sessionRoutes } from './identity/session-routes.ts';
import { tenantRoutes } from './identity/tenant-routes.ts';
import { userRoutes } from './identity/user-routes.ts';
import { type IngestRouteOptions, ingestRoutes } from './ingest/ingest-routes.ts';
import { otlpRoutes } from './ingest/otlp-routes.ts';
import { remoteWriteRoutes } from './ingest/remote-write-routes.ts';
import { silenceRoutes } from './notifications/silence-routes.ts';
import { type TargetRouteOptions, targetRoutes } from './notifications/target-routes.ts';
import { queryRoutes } from './query/query-routes.ts';
import { type MetricsRouteOptions, metricsRoute } from './status/metrics-route.ts';
import { type StatusRouteOptions, statusRoutes } from './status/status-routes.ts';
import { tailRoutes } from './tail/tail-routes.ts';

/** The parts of the service that the routes use. */
export interface RouteTableParts {
  readonly audit: AuditLog;
  readonly status: StatusRouteOptions;
  /** Undefined if metrics have an address of their own. */
  readonly metrics: MetricsRouteOptions | undefined;
  readonly ingest: IngestRouteOptions;
  readonly query: Query;
  readonly tails: Pick<LiveTails, 'open'>;
  readonly datasets: Omit<DatasetRoutesOptions, 'audit'>;
  readonly dashboards: {
    readonly dashboards: Dashboards;
    readonly filters: SavedFilters;
  };
  readonly alerts: AlertAdministration;
  readonly identities: {
    readonly roles: RoleAdministration;
    readonly users: UserAdministration;
    readonly apiKeys: ApiKeyAdministration;
    readonly tenants: TenantAdministration;
  };
  readonly notifications: TargetRouteOptions & { readonly silences: Silences };
  /** If false, a request that names no dataset is refused in every protocol; true unless given. */
  readonly hasDefaultDatasets?: boolean | undefined;
  /** Undefined if there is no identity provider. */
  readonly login: LoginRouteOptions | undefined;
  readonly session: Omit<SessionRouteOptions, 'audit' | 'login'>;
  /** The built pages of the console; undefined where they were not built. */
  readonly console: ConsoleFiles | undefined;
  /** Undefined with a ClickHouse server. */
  readonly backups: Backups | undefined;
}

/**
 * All routes. The server and the reference of the API use the same table.
 */
export function routeTable(parts: RouteTableParts): readonly Route[] {
  const { audit, status, metrics, ingest, query, datasets, dashboards, identities, login } = parts;
  const { hasDefaultDatasets = true, notifications } = parts;
  const routes: readonly Route[] = [
    ...(metrics === undefined ? [] : [metricsRoute(metrics)]),
    ...statusRoutes(status, parts.console),
    ...(parts.console === undefined ? [] : consoleRoutes(parts.console)),
    ...ingestRoutes(ingest),
    ...remoteWriteRoutes(ingest),
    ...otlpRoutes(ingest),
    ...queryRoutes(query, audit),
    ...tailRoutes(parts.tails, audit),
    ...datasetRoutes({ ...datasets, audit }),
    ...dashboardRoutes({ ...dashboards, audit }),
    ...filterRoutes({ ...dashboards, audit }),
    ...roleRoutes(identities.roles, audit),
    ...userRoutes(identities.users, audit),
    ...apiKeyRoutes(identities.apiKeys, audit),
    ...tenantRoutes(identities.tenants, audit),
    ...alertRoutes(parts.alerts, audit),
    ...targetRoutes(notifications, audit),
    ...silenceRoutes(notifications.silences, audit),
    ...backupRoutes(parts.backups, audit),
    ...sessionRoutes({ ...parts.session, audit, login: login?.login }),
    ...(login === undefined ? [] : loginRoutes(login)),
  ];
  return hasDefaultDatasets ? routes : routes.map(withoutDefaultDataset);
}

function withoutDefaultDataset(route: Route): Route {
  if (route.dataset !== 'header') return route;
  const { defaultDataset: _, ...rest } = route;
  return rest;
}
