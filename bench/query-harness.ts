import { availableParallelism } from 'node:os';
import { Gate } from '../src/access/gate.ts';
import { AuditLog } from '../src/audit/audit-log.ts';
import { Authorizer } from '../src/auth/authorizer.ts';
import { administratorAccount, PasswordIdentities } from '../src/auth/identity-sources.ts';
import type { CatalogView, DatasetInfo } from '../src/catalog/dataset-entry.ts';
import { openEmbeddedStore } from '../src/clickhouse/embedded/embedded-store.ts';
import { datasetStatements } from '../src/clickhouse/table-definitions.ts';
import { queryRoutes } from '../src/http/routes/query/query-routes.ts';
import { createHttpServer } from '../src/http/server/http-server.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createLogger } from '../src/lib/log.ts';
import { createMetrics } from '../src/lib/metrics.ts';
import { limits } from '../src/limits/limits.ts';
import { type FieldType, fieldColumnName, fieldColumnType } from '../src/model/column.ts';
import { defaultTenant } from '../src/model/dataset.ts';
import type { Principal } from '../src/model/identity.ts';
import { QueryService } from '../src/query/query-service.ts';
import { Translator } from '../src/query/translator.ts';
import { semanticSettings } from '../src/sql/print/semantic-settings.ts';
import { Service } from '../test/support/service/service.ts';
import { translationParts } from './translation-parts.ts';

/** The query service in this process, on one predefined dataset. */
export interface QueryHarness {
  readonly queries: Readonly<Record<string, string>>;
  translate(sql: string): Promise<unknown>;
  /** The statement for the store, with the format and settings of its result. */
  statement(sql: string): Promise<string>;
  /** Serves `/api/v1/query` on 100,000 events in a new directory of the engine. */
  serve(directory: string): Promise<{ readonly url: string; close(): Promise<void> }>;
  close(): Promise<void>;
}

const fields: Readonly<Record<string, FieldType>> = {
  level: 'str',
  service: 'str',
  status: 'num',
  ms: 'num',
};
const columns = Object.entries(fields).map(([name, type]) => ({
  name: fieldColumnName(name, type),
  type: fieldColumnType[type],
}));
const app: DatasetInfo = {
  tenant: defaultTenant,
  name: 'app',
  id: 'app',
  kind: 'events',
  columns: new Map(columns.map((column) => [column.name, column])),
  ready: true,
};
const catalog: CatalogView = {
  version: () => 1,
  get: (_, name) => (name === 'app' ? app : undefined),
  list: () => [app],
};
const principal: Principal = {
  kind: 'root',
  name: Service.credentials.username,
  tenant: defaultTenant,
  privileges: [{ privilege: 'admin' }],
};

const queries = {
  'one row': "SELECT count(*) FROM app WHERE level = 'error'",
  groups: `SELECT service, level, count(*) AS n, avg(ms) AS mean FROM app
    WHERE p_timestamp > now() - interval '1 hour' GROUP BY service, level ORDER BY n DESC LIMIT 20`,
  'ten lines': `WITH slow AS (
      SELECT service, date_trunc('minute', p_timestamp) AS minute, count(*) AS n, max(ms) AS worst
      FROM app WHERE status >= 500 AND ms > 100 GROUP BY 1, 2
    ), ranked AS (
      SELECT service, minute, n, worst, rank() OVER (PARTITION BY service ORDER BY n DESC) AS place
      FROM slow
    )
    SELECT service, minute, n, worst, CASE WHEN n > 100 THEN 'many' WHEN n > 10 THEN 'some' ELSE 'few' END AS size
    FROM ranked WHERE place <= 3 AND service IN ('checkout', 'payment')
    ORDER BY service, place LIMIT 50`,
} as const;

export function queryHarness(): QueryHarness {
  const log = createLogger('silent');
  const parts = { ...translationParts(), catalog, waitForLatest: () => Promise.resolve(true) };
  const translator = new Translator(parts);
  const translate = (sql: string) => {
    const times = { startMicros: undefined, endMicros: undefined, nowMicros: systemClock.nowMicros() };
    return translator.translate({ principal, tenant: defaultTenant, sql, times });
  };
  return {
    queries,
    translate,
    statement: async (sql) => {
      const settings = Object.entries(semanticSettings).map(([name, value]) =>
        typeof value === 'number' ? `${name} = ${value}` : `${name} = '${value}'`,
      );
      return `${(await translate(sql)).sql}\nFORMAT JSONEachRow\nSETTINGS ${settings.join(', ')}`;
    },
    serve: async (directory) => {
      const metrics = createMetrics();
      const store = await openEmbeddedStore(directory, metrics, log);
      for (const statement of loadStatements()) await store.command(statement);
      const query = new QueryService({
        ...parts,
        store,
        clock: systemClock,
        log,
        bounds: {
          timeoutMs: limits.queryTimeoutMs,
          maxMemoryBytes: limits.queryMaxMemoryBytes,
          maxThreads: availableParallelism(),
          maxResultRows: limits.queryMaxResultRows,
          maxResultBytes: limits.queryMaxResultBytes,
        },
        exportBounds: { maxPerTenant: limits.maxExports, timeoutMs: limits.exportTimeoutMs },
        mayExport: () => false,
      });
      const { username, password } = Service.credentials;
      const account = administratorAccount(username, password);
      const passwords = new PasswordIdentities((_, name) => (name === username ? account : undefined));
      const authorizer = new Authorizer([passwords]);
      const server = createHttpServer();
      server.serve({
        routes: queryRoutes(query),
        gate: new Gate(authorizer, { multiTenant: false, idOf: () => undefined, hasEnded: () => false }),
        metrics,
        log,
        audit: new AuditLog(log, systemClock, { add: () => {} }),
        clock: systemClock,
      });
      const { host, port } = await server.listen('127.0.0.1', 0);
      return {
        url: `http://${host}:${port}/api/v1/query`,
        close: async () => {
          await server.close(0);
          await store.close();
        },
      };
    },
    close: () => parts.translations.close(),
  };
}

/** 100,000 events of the last hour. */
function loadStatements(): readonly string[] {
  const table = 't_default.`app.events`';
  const added = columns.map(({ name, type }) => `ADD COLUMN \`${name}\` ${type}`).join(', ');
  return [
    ...datasetStatements(defaultTenant, 'app', 'events'),
    `ALTER TABLE ${table} ${added}`,
    `INSERT INTO ${table} SELECT now64(6) - number / 30, ['info', 'info', 'warn', 'error'][number % 4 + 1],
      ['checkout', 'payment', 'catalog', 'search'][number % 3 + 1], 200 + number % 4 * 100, number % 997 FROM numbers(100000)`,
  ];
}
