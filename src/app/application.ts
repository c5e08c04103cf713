import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import xxhash from 'xxhash-wasm';
import { Gate } from '../access/gate.ts';
import { AuditTrail } from '../audit/audit-trail.ts';
import { Backups } from '../backup/backups.ts';
import { TenantDatabases } from '../catalog/tenant-databases.ts';
import type { Config } from '../config/config.ts';
import { DatasetAdministration } from '../datasets/dataset-administration.ts';
import { DatasetChanges } from '../datasets/dataset-changes.ts';
import { DatasetMetrics } from '../datasets/dataset-metrics.ts';
import { DatasetRetention } from '../datasets/dataset-retention.ts';
import { DatasetQuestions } from '../datasets/details.ts';
import { DatasetLimits } from '../datasets/limits-of-dataset.ts';
import { Decoder } from '../decode/decoder.ts';
import { RemoteWriteKernel } from '../decode/remote-write/remote-write-kernel.ts';
import { DeadLetters } from '../drain/dead-letters/letters.ts';
import { Drain } from '../drain/drain.ts';
import { registerDrainGauges } from '../drain/drain-gauges.ts';
import { waitForPending } from '../drain/read-your-writes.ts';
import { ReceivedTotals } from '../drain/received-totals.ts';
import { resume } from '../drain/resume.ts';
import { SampleSorter } from '../drain/sample-sorter.ts';
import { AppError } from '../errors.ts';
import { ConsoleFiles } from '../http/routes/console/console-files.ts';
import { routeTable } from '../http/routes/route-table.ts';
import { type MetricsRouteOptions, metricsRoute } from '../http/routes/status/metrics-route.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server/http-server.ts';
import { chooseLibrary } from '../http/server/libraries.ts';
import type { HttpAddress } from '../http/server/listener.ts';
import { Admission } from '../ingest/admission.ts';
import { DecodePool } from '../ingest/decode-pool.ts';
import { IngestRateLimiter } from '../ingest/ingest-rate-limiter.ts';
import { IngestService } from '../ingest/ingest-service.ts';
import { ReplayWindow } from '../ingest/replay-window.ts';
import { RequestIdentifier } from '../ingest/request-identity.ts';
import { systemClock } from '../lib/clock.ts';
import type { DataDirectory } from '../lib/data-directory.ts';
import { isLoopback } from '../lib/ip-address.ts';
import type { Logger } from '../lib/log.ts';
import { createMetrics } from '../lib/metrics.ts';
import { RecentCosts } from '../lib/recent-costs.ts';
import { SharedLock } from '../lib/shared-lock.ts';
import { StartError } from '../lib/start-error.ts';
import { compileLateUntil, lateRequests, lateSmallRequests } from '../lib/v8-tuning.ts';
import { limits } from '../limits/limits.ts';
import { Backlog } from '../wal/backlog.ts';
import { DiskGuard, diskSpace } from '../wal/disk-guard.ts';
import { recoverWal } from '../wal/recovery.ts';
import { ReplayJournal } from '../wal/replay-journal.ts';
import { Wal } from '../wal/wal.ts';
import { openWalDirectory } from '../wal/wal-files.ts';
import { registerDiskGauges, registerWalGauges } from '../wal/wal-gauges.ts';
import type { AppContext } from './app-context.ts';
import { listenOrExplain } from './listen.ts';
import { startAlerts } from './start-alerts.ts';
import { startDocuments } from './start-documents.ts';
import { startIdentities } from './start-identities.ts';
import { startNotifications } from './start-notifications.ts';
import { type Pgwire, startPgwire } from './start-pgwire.ts';
import { startQueries } from './start-queries.ts';
import { type StoreParts, startStore } from './start-store.ts';
import { startTail } from './start-tail.ts';
import { openTlsCertificate, type TlsCertificate } from './tls-certificate.ts';

export interface AppOptions {
  readonly config: Config;
  readonly directory: DataDirectory;
  readonly adminPassword: string;
  readonly version: string;
  readonly log: Logger;
}

export interface App {
  readonly address: HttpAddress;
  /** Where SQL clients connect; undefined: nowhere. */
  readonly pgAddress: Pgwire['address'];
  /** Of the servers, if they speak HTTPS. */
  readonly tls: TlsCertificate | undefined;
  /** Completes the work in progress, then stops the parts in the reverse order of the start. */
  stop(): Promise<void>;
}

/** Composes the service and starts it. Each part starts after the parts that it needs. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, directory, log } = options;
  const context: AppContext = { config, directory, log, clock: systemClock, metrics: createMetrics() };
  context.metrics.buildInfo.set({ version: options.version, node_version: process.version }, 1);
  const tls = config.tls === undefined ? undefined : await openTlsCertificate(config.tls, log);
  const server = createHttpServer({ library: config.httpServer, tls: config.tls });
  // The server listens first: health checks get an answer even while a long log is still being read.
  const address = await listenOrExplain(server, config.httpAddr, {
    flag: '--http-addr',
    env: 'MILLRACE_HTTP_ADDR',
  });
  const metricsServer = await listenForMetrics(config, log);
  sayWhichServer(config, log);
  const servers = metricsServer === undefined ? [server] : [server, metricsServer];
  const storeParts = await startStore(context);
  const logParts = await startLog(context, storeParts);
  const ingestParts = await startIngest(context, storeParts, logParts);
  const queryParts = startQueries(context, options.version, { ...storeParts, ...logParts });
  const tails = startTail(context, { ...storeParts, ...queryParts });
  const datasetMetrics = config.metricsDatasets
    ? DatasetMetrics.start({ ...storeParts, metrics: context.metrics, timers: context.clock, log })
    : undefined;
  const documentParts = startDocuments(context, storeParts, queryParts.query);
  const identities = await startIdentities(
    context,
    storeParts,
    options.adminPassword,
    ingestParts.trail,
    () => logParts.drain.newestNumber,
    [documentParts.documents],
  );
  const { documents } = documentParts;
  const notifications = startNotifications(context, config, { documents, box: identities.box });
  const alerts = startAlerts(context, storeParts, {
    node: directory.node,
    isShared: config.clickhouseUrl !== undefined,
    documents,
    query: queryParts.query,
    principalOf: identities.principalOf,
    notifications,
  });
  storeParts.cleaner.add(identities.identityStore, logParts.replays, storeParts.catalog);
  storeParts.cleaner.add(new TenantDatabases(storeParts.store), storeParts.received, logParts.deadLetters);
  storeParts.cleaner.add(identities.metadataOfTenants);
  // Deletions that an earlier process did not complete. Until the store answers, none are known.
  if (storeParts.tenants.loaded) void storeParts.cleaner.clean();

  const datasetChanges = new DatasetChanges();
  const backups =
    config.clickhouseUrl === undefined
      ? new Backups({
          dataDir: directory.path,
          backupDir: config.backupDir,
          version: options.version,
          store: storeParts.store,
          ...logParts,
          log,
        })
      : undefined;

  let stopping = false;
  const metrics: MetricsRouteOptions = {
    registry: context.metrics.registry,
    clock: context.clock,
    needsCredentials: config.metricsAuth === 'required',
  };
  const gate = new Gate(identities.authorizer, {
    multiTenant: config.multiTenant,
    idOf: (name) => storeParts.tenants.idOf(name),
    hasEnded: (id) => storeParts.tenants.hasEnded(id),
  });
  const http: HttpServerOptions = {
    routes: routeTable({
      audit: identities.audit,
      metrics: metricsServer === undefined ? metrics : undefined,
      status: {
        version: options.version,
        notReady: () =>
          stopping ? new AppError('shutting_down', 'the service is shutting down') : undefined,
        storeAvailable: () => storeParts.monitor.available,
        openApi,
      },
      ingest: { ingest: ingestParts.ingest, maxBodyBytes: config.maxBodyBytes },
      query: queryParts.query,
      tails,
      datasets: {
        administration: new DatasetAdministration({
          catalog: storeParts.catalog,
          cleaner: storeParts.cleaner,
          caughtUp: identities.caughtUp,
          waitForPending: (tenant, id) => waitForPending(logParts.wal, logParts.drain, tenant, [id]),
        }),
        questions: new DatasetQuestions({
          ...storeParts,
          waiting: (tenant, id, date) => logParts.received.pending(tenant, id, date),
        }),
        retention: new DatasetRetention({ ...storeParts, changes: datasetChanges }),
        limits: new DatasetLimits({ ...storeParts, changes: datasetChanges }),
      },
      dashboards: documentParts,
      alerts: alerts.alerts,
      identities: identities.administrations,
      notifications: { ...notifications, records: alerts.records },
      login: identities.login,
      session: {
        sessions: identities.sessions,
        gate,
        identify: (presented, clientAddress) => identities.authorizer.identify(presented, clientAddress),
        clock: context.clock,
        multiTenant: config.multiTenant,
        publicOrigin: config.oidc?.publicOrigin,
      },
      console: await ConsoleFiles.load(fileURLToPath(new URL('../../console/', import.meta.url))),
      backups,
      hasDefaultDatasets: config.defaultDatasets,
    }),
    gate,
    metrics: context.metrics,
    log,
    audit: identities.audit,
    clock: context.clock,
    publicOrigin: config.oidc?.publicOrigin,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    onRequest: compileLateUntil(lateRequests),
  };
  server.serve(http);
  metricsServer?.serve({ ...http, routes: [metricsRoute(metrics)] });
  const pgwire = await startPgwire(context, {
    gate,
    accounts: identities.scramAccounts,
    query: queryParts.query,
    audit: identities.audit,
  });
  tls?.follow([...servers, ...(pgwire.server === undefined ? [] : [pgwire.server])]);

  return {
    address,
    pgAddress: pgwire.address,
    tls,
    stop: async () => {
      stopping = true;
      tls?.stop();
      ingestParts.admission.close();
      tails.stop();
      await Promise.all([
        ...servers.map((each) => each.close(limits.shutdownRequestsMs)),
        pgwire.stop(limits.shutdownRequestsMs),
      ]);
      await notifications.stop();
      await alerts.stop();
      await ingestParts.trail.stop();
      await queryParts.translations.close();
      await ingestParts.decoders.close();
      await backups?.stop();
      await logParts.wal.close();
      await logParts.drain.stop(limits.shutdownDrainMs);
      await logParts.journal.close();
      logParts.disk.stop();
      await identities.stop();
      await documentParts.stop();
      await storeParts.cleaner.stop();
      await datasetMetrics?.stop();
      storeParts.monitor.stop();
      await storeParts.store.close();
    },
  };
}

/** Made by `npm run docs`; read when somebody asks for it. */
const openApi = (): Promise<Uint8Array> =>
  readFile(new URL('../../docs/reference/openapi.json', import.meta.url));

/**
 * One line: which HTTP library serves and why, and what to do where that has a flaw. And who can listen in.
 */
function sayWhichServer({ httpServer, httpAddr, tls, trustedProxies }: Config, log: Logger): void {
  const { name: server, why, advice } = chooseLibrary(httpServer, tls);
  if (advice === undefined) log.info({ server, why }, 'HTTP server');
  else log.warn({ server, why, advice }, 'HTTP server');
  if (tls === undefined && trustedProxies === undefined && !isLoopback(httpAddr.host)) {
    log.warn(
      { address: `${httpAddr.host}:${httpAddr.port}` },
      'passwords and data go over the network as plain HTTP: set MILLRACE_TLS_CERT and MILLRACE_TLS_KEY, or put a proxy with TLS in front and name it in MILLRACE_TRUSTED_PROXIES',
    );
  }
}

/** The server of `/metrics`, if it has an address of its own. */
async function listenForMetrics(
  { metricsAddr, httpServer: library, tls }: Config,
  log: Logger,
): Promise<HttpServer | undefined> {
  if (metricsAddr === undefined) return undefined;
  const server = createHttpServer({ library, tls });
  const { host, port } = await listenOrExplain(server, metricsAddr, {
    flag: '--metrics-addr',
    env: 'MILLRACE_METRICS_ADDR',
  });
  log.info({ address: `${host}:${port}` }, 'listening for scrapes of /metrics');
  return server;
}

/** Opens the log, replays what an earlier process left in it, and starts the drain into the store. */
async function startLog(context: AppContext, storeParts: StoreParts) {
  const { store, catalog, monitor, registry } = storeParts;
  const { config, directory, clock, metrics, log } = context;
  const open = (name: string) => openWalDirectory(join(directory.path, name));
  const files = await open('wal');
  const recovery = await recoverWal(files, log, metrics);
  if (config.clickhouseUrl !== undefined && monitor.available)
    refuseOlderDirectory(directory, await registry.reportedSegment(), recovery.nextNumber);
  const backlog = new Backlog(files);
  const { replayWindowMs: windowMs } = config;
  const replays = new ReplayWindow({ clock, metrics, windowMs });
  const journal = await ReplayJournal.open({
    files: await open('replay'),
    clock,
    log,
    windowMs,
    onStored: (tenant, dataset, request) => replays.recover(tenant, dataset, request),
  });
  const deadLetters = await DeadLetters.open({ files: await open('dead'), metrics, log });
  const received = new ReceivedTotals({
    node: directory.node,
    table: storeParts.received,
    destination: ({ tenant, dataset, kind, presumed = false }) =>
      catalog.destination(tenant, dataset, kind, presumed),
    segments: () => wal.segments(),
    log,
  });
  const storeWrites = new SharedLock();
  const drain = new Drain({
    storeWrites,
    node: directory.node,
    backlog,
    store,
    catalog,
    deadLetters,
    sorter: new SampleSorter(await webAssembly('../drain/sorter/sorter.wasm'), clock),
    clock,
    log,
    metrics,
    storeReturned: monitor.returned,
    onNoAnswer: () => monitor.suspect(),
    lowVolume: {
      maxWaitMs: config.lowVolumeFlushIntervalMs,
      maxBytes: Math.min(limits.walMaxRetainedBytes, config.walMaxBytes / 4),
    },
    beforeRemove: async (segment) => {
      await journal.keep(segment);
      await received.addSegment(segment);
    },
  });
  resume(recovery, {
    catalog,
    backlog,
    drain,
    onRecord: ({ tenant, dataset, request }) => {
      if (request !== undefined) replays.recover(tenant, dataset, request);
    },
  });
  const wal: Wal = await Wal.open({
    files,
    clock,
    log,
    metrics,
    recovery,
    backlog,
    maxBytes: config.walMaxBytes,
    segmentMaxAgeMs: config.flushIntervalMs,
    onSealed: (segment) => drain.add(segment),
  });
  registerWalGauges(metrics.registry, wal);
  registerDrainGauges(metrics.registry, drain);
  const disk = await DiskGuard.start({ measure: () => diskSpace(directory.path), timers: clock, log });
  registerDiskGauges(metrics.registry, disk);
  drain.start();
  return { wal, backlog, drain, storeWrites, received, deadLetters, replays, journal, disk };
}

/**
 * Inserts are named by the node and the number of the segment. A copy of the directory that was left behind
 * by the store would use names again that the store remembers, which takes new rows for repetitions and drops
 * them.
 * @throws StartError
 */
function refuseOlderDirectory({ path }: DataDirectory, reported: number, nextNumber: number): void {
  if (reported < nextNumber) return;
  throw new StartError(
    `the data directory ${path} is older than what the ClickHouse server has of it: its log goes on with segment ${nextNumber}, and the server has ${reported}; start with an empty directory that has its secret and admin-password alone`,
  );
}

type LogParts = Awaited<ReturnType<typeof startLog>>;

async function startIngest(context: AppContext, { catalog }: StoreParts, { wal, disk, replays }: LogParts) {
  const { config, directory, clock, metrics, log } = context;
  const hashes = await xxhash();
  const kernel = await webAssembly('../decode/remote-write/kernel/kernel.wasm');
  const decoders = new DecodePool({
    worker: new URL('../../workers/decode.js', import.meta.url),
    threads: config.workers,
    inline: (outcomes) => new Decoder(outcomes, hashes, new RemoteWriteKernel(kernel)),
    onInline: compileLateUntil(lateSmallRequests),
    costs: new RecentCosts({
      clock,
      halfLifeMs: limits.decodeCostHalfLifeMs,
      maxParties: limits.maxTenants,
    }),
    metrics,
    log,
  });
  const admission = new Admission({ metrics, shared: config.multiTenant });
  const ingest = new IngestService({
    admission,
    rates: new IngestRateLimiter({ clock, limitsOf: (tenant, dataset) => catalog.limitsOf(tenant, dataset) }),
    catalog,
    decoders,
    wal,
    disk,
    identifier: new RequestIdentifier(hashes, directory.node),
    replays,
    clock,
    metrics,
    log,
    maxBodyBytes: config.maxBodyBytes,
  });
  const onLost = (rows: number) => metrics.auditRowsLost.inc(rows);
  const checkRoom = () => {
    disk.check();
    wal.checkRoom();
  };
  const trail = new AuditTrail({ ingest, checkRoom, timers: clock, log, onLost });
  return { ingest, trail, admission, decoders };
}

/** @param path relative to this file */
const webAssembly = async (path: string): Promise<WebAssembly.Module> =>
  new WebAssembly.Module(await readFile(new URL(path, import.meta.url)));
