import { pino } from 'pino';
import { Gate } from '../../../src/access/gate.ts';
import type { Tenancy } from '../../../src/access/tenancy.ts';
import { createOidc } from '../../../src/app/create-oidc.ts';
import { startAlerts } from '../../../src/app/start-alerts.ts';
import { createOauthUsers } from '../../../src/app/start-identities.ts';
import { startNotifications } from '../../../src/app/start-notifications.ts';
import { AuditLog } from '../../../src/audit/audit-log.ts';
import type { AuditRow } from '../../../src/audit/audit-trail.ts';
import { Authorizer } from '../../../src/auth/authorizer.ts';
import { administratorAccount, PasswordIdentities } from '../../../src/auth/identity-sources.ts';
import { SecretBox } from '../../../src/auth/secret-box.ts';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { ReceivedTable } from '../../../src/catalog/received-table.ts';
import { TenantCleaner } from '../../../src/catalog/tenant-cleaner.ts';
import { TenantDatabases } from '../../../src/catalog/tenant-databases.ts';
import { Tenants } from '../../../src/catalog/tenants.ts';
import type { Store } from '../../../src/clickhouse/store.ts';
import type { NotificationConfig } from '../../../src/config/notification-options.ts';
import type { OidcConfig } from '../../../src/config/oidc-options.ts';
import { Dashboards } from '../../../src/dashboards/dashboards.ts';
import { Favorites } from '../../../src/dashboards/favorites.ts';
import { SavedFilters } from '../../../src/dashboards/saved-filters.ts';
import { DatasetAdministration } from '../../../src/datasets/dataset-administration.ts';
import { DatasetChanges } from '../../../src/datasets/dataset-changes.ts';
import { DatasetRetention } from '../../../src/datasets/dataset-retention.ts';
import { DatasetQuestions } from '../../../src/datasets/details.ts';
import { DatasetLimits } from '../../../src/datasets/limits-of-dataset.ts';
import { DocumentStore } from '../../../src/documents/document-store.ts';
import { AppError } from '../../../src/errors.ts';
import { routeTable } from '../../../src/http/routes/route-table.ts';
import { createHttpServer } from '../../../src/http/server/http-server.ts';
import type { Route } from '../../../src/http/server/route.ts';
import { ApiKeyAdministration, ApiKeyIdentities } from '../../../src/identity/api-keys.ts';
import { IdentityStore } from '../../../src/identity/identity-store.ts';
import { RoleAdministration } from '../../../src/identity/roles.ts';
import { Sessions } from '../../../src/identity/sessions.ts';
import { TenantAdministration } from '../../../src/identity/tenant-administration.ts';
import { UserAdministration } from '../../../src/identity/users.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import type { Networks } from '../../../src/lib/ip-address.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import type { Resolver } from '../../../src/notifications/address-guard.ts';
import { library, maxBodyBytes, RecordingIngest, RecordingQuery } from '../http/http-harness.ts';

export type Credential = Readonly<Record<string, string>>;

export const basic = (name: string, password: string): Credential => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});
export const root = basic('admin', 'sesame');
export const apiKey = (key: string): Credential => ({ 'x-api-key': key });

export interface IdentityNode {
  readonly url: string;
  readonly identityStore: IdentityStore;
  readonly documents: DocumentStore;
  readonly ingest: RecordingIngest;
  readonly query: RecordingQuery;
  readonly routes: readonly Route[];
  readonly logLines: string[];
  readonly auditRows: AuditRow[];
  /** Sends a value as JSON, or no body; as the root administrator, if nobody else is named. */
  send(method: string, path: string, body?: unknown, credential?: Credential): Promise<Response>;
  /** The JSON of a reply that must be 200. */
  json<T>(method: string, path: string, body?: unknown, credential?: Credential): Promise<T>;
  close(): Promise<void>;
}

export interface IdentityNodeOptions {
  readonly secret?: string;
  readonly multiTenant?: boolean;
  readonly oidc?: OidcConfig;
  /** Of the audit log. */
  readonly auditClock?: Clock;
  readonly trustedProxies?: Networks | undefined;
  readonly notifications?: Partial<NotificationConfig>;
  /** Of the names of targets. */
  readonly resolve?: Resolver;
}

const noNotifications: NotificationConfig = {
  targetAllowedNetworks: undefined,
  smtpUrl: undefined,
  smtpFrom: undefined,
  smtpDomains: undefined,
  publicUrl: undefined,
};

/**
 * A node with every route group, real but for what is behind ingest and query; the tables of
 * metadata must exist.
 */
export async function startIdentityNode(
  store: Store,
  name: string,
  options: IdentityNodeOptions = {},
): Promise<IdentityNode> {
  const { secret = 's'.repeat(32), multiTenant = false, oidc: oidcConfig } = options;
  const logLines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logLines.push(line) });
  const box = new SecretBox(secret);
  const administrator = administratorAccount('admin', 'sesame');
  const metadata = new MetadataLog(store, name);
  const cleaner: TenantCleaner = new TenantCleaner({
    hasEnded: (tenant, dataset) => catalog.hasEnded(tenant, dataset),
    timers: systemClock,
    log,
  });
  const tenants = new Tenants(metadata, () => void cleaner.clean());
  const catalog: Catalog = new Catalog(store, metadata, tenants, () => void cleaner.clean());
  await catalog.load();
  const identityStore: IdentityStore = new IdentityStore(metadata, tenants, () => authorizer.forgetRefused());
  cleaner.add(identityStore, catalog, new TenantDatabases(store));
  const passwords = new PasswordIdentities((tenant, user) =>
    user === 'admin' ? administrator : identityStore.user(tenant, user),
  );
  const auditRows: AuditRow[] = [];
  const trail = { add: (_: string, row: AuditRow) => void auditRows.push(row) };
  const audit = new AuditLog(log, options.auditClock ?? systemClock, trail);
  const context = { clock: systemClock, log };
  const oauthUsers = createOauthUsers(oidcConfig, { identityStore, tenants, ...context });
  const sessions = new Sessions(oauthUsers, systemClock, oidcConfig?.sessionLifetimeMs ?? 60_000);
  const oidc = oidcConfig && createOidc(oidcConfig, { context, oauthUsers, box, audit, sessions });
  const authorizer = new Authorizer([
    passwords,
    new ApiKeyIdentities(identityStore, box),
    sessions,
    ...(oidc?.sources ?? []),
  ]);
  const metrics = createMetrics();
  const ingest = new RecordingIngest();
  const query = new RecordingQuery();
  const documents = new DocumentStore({
    log: metadata,
    hasEnded: (tenant) => tenants.hasEnded(tenant),
    clock: systemClock,
    metrics,
  });
  cleaner.add(documents);
  await documents.refresh();
  const datasetChanges = new DatasetChanges();
  const notifications = startNotifications(
    { clock: systemClock, metrics, log },
    { ...noNotifications, ...options.notifications },
    { documents, box, ...(options.resolve === undefined ? {} : { resolve: options.resolve }) },
  );
  const alerts = startAlerts(
    { clock: systemClock, metrics, log },
    { metadata, tenants, cleaner },
    {
      node: name,
      isShared: false,
      documents,
      query,
      principalOf: (tenant, { kind, name: user }) =>
        kind === 'root' ? administrator.principal : identityStore.user(tenant, user)?.principal,
      notifications,
    },
  );
  const tenancy: Tenancy = {
    multiTenant,
    idOf: (tenant) => tenants.idOf(tenant),
    hasEnded: (id) => tenants.hasEnded(id),
  };
  const gate = new Gate(authorizer, tenancy);
  const routes = routeTable({
    audit,
    status: {
      version: '1.2.3',
      notReady: () => undefined,
      storeAvailable: () => true,
      openApi: async () => Buffer.from('{}'),
    },
    metrics: { registry: metrics.registry, clock: systemClock, needsCredentials: false },
    ingest: { ingest, maxBodyBytes },
    query,
    tails: {
      open: () => Promise.reject(new AppError('dataset_not_found', 'no dataset has a live tail here')),
    },
    datasets: {
      administration: new DatasetAdministration({
        catalog,
        cleaner,
        caughtUp: () => Promise.resolve(),
        waitForPending: () => Promise.resolve(),
      }),
      questions: new DatasetQuestions({
        received: new ReceivedTable(store),
        waiting: () => ({ events: 0, bytes: 0 }),
        catalog,
        store,
      }),
      retention: new DatasetRetention({ catalog, store, changes: datasetChanges }),
      limits: new DatasetLimits({ catalog, changes: datasetChanges }),
    },
    dashboards: {
      dashboards: new Dashboards(documents, new Favorites(documents)),
      filters: new SavedFilters(documents, query),
    },
    identities: {
      roles: new RoleAdministration(identityStore),
      users: new UserAdministration(identityStore, 'admin', oauthUsers),
      apiKeys: new ApiKeyAdministration(identityStore, box, systemClock),
      tenants: new TenantAdministration({
        tenants,
        cleaner,
        clock: systemClock,
        multiTenant,
        caughtUp: () => Promise.resolve(),
      }),
    },
    notifications: {
      ...notifications,
      records: alerts.records,
    },
    alerts: alerts.alerts,
    backups: undefined,
    login: oidc?.login,
    session: {
      sessions,
      gate,
      identify: (presented, clientAddress) => authorizer.identify(presented, clientAddress),
      clock: systemClock,
      multiTenant,
      publicOrigin: oidcConfig?.publicOrigin,
    },
    console: undefined,
  });
  const server = createHttpServer(library);
  const { trustedProxies } = options;
  server.serve({ routes, gate, metrics, log, audit, clock: systemClock, trustedProxies });
  const { port } = await server.listen('127.0.0.1', 0);
  const url = `http://127.0.0.1:${port}`;
  const send: IdentityNode['send'] = (method, path, body, credential = root) =>
    fetch(url + path, {
      method,
      headers: {
        ...credential,
        'x-p-stream': 'app',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    url,
    identityStore,
    documents,
    ingest,
    query,
    routes,
    logLines,
    auditRows,
    send,
    json: async <T>(method: string, path: string, body?: unknown, credential?: Credential) => {
      const reply = await send(method, path, body, credential);
      const text = await reply.text();
      if (reply.status !== 200) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
      return JSON.parse(text) as T;
    },
    close: async () => {
      await server.close(0);
      await notifications.stop();
      await alerts.stop();
    },
  };
}
