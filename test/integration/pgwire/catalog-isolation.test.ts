import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readableRows } from '../../../src/auth/policy.ts';
import type { CatalogView, DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { fieldColumnName, fieldColumnType } from '../../../src/model/column.ts';
import { type DatasetKind, defaultTenant } from '../../../src/model/dataset.ts';
import type { Principal, Privilege } from '../../../src/model/identity.ts';
import type { QueryService } from '../../../src/query/query-service.ts';
import { systemRelations } from '../../../src/sql/system-catalog/system-relations.ts';
import { asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { pgPassword, startPgServer, type TestPgServer } from '../../support/sql/pg-server.ts';

/**
 * Names that somebody may not see are planted wherever the catalog shows names: datasets of each kind,
 * fields, tenants, users, applications and statements of other sessions. Each reader then reads all rows and
 * columns of all relations, over the wire and as HTTP does.
 */

const planted = /zq_/;

function dataset(tenant: string, name: string, kind: DatasetKind, fields: readonly string[]): DatasetInfo {
  const columns = fields.map((field) => {
    const column = fieldColumnName(field, 'str');
    return [column, { name: column, type: fieldColumnType.str }] as const;
  });
  return { tenant, name, id: name, kind, columns: new Map(columns), ready: true };
}

const kinds = ['events', 'logs', 'traces', 'metrics'] as const;
const infos: readonly DatasetInfo[] = [
  dataset(defaultTenant, 'app', 'events', ['level', 'message']),
  ...kinds.map((kind) => dataset(defaultTenant, `zq_${kind}`, kind, ['zq_field'])),
  dataset('zq_tenant', 'app', 'events', ['zq_field']),
  dataset('zq_tenant', 'zq_events_too', 'events', ['zq_field']),
  dataset('elsewhere', 'own', 'events', ['field']),
];
const catalog: CatalogView = {
  version: () => 0,
  get: (tenant, name) => infos.find((info) => info.tenant === tenant && info.name === name),
  list: (tenant) => infos.filter((info) => info.tenant === tenant),
};

const user = (name: string, privileges: readonly Privilege[], tenant: string = defaultTenant): Principal => ({
  kind: 'user',
  name,
  tenant,
  privileges,
});

const readers = {
  one: user('one', [{ privilege: 'reader', dataset: 'app' }]),
  narrowed: user('narrowed', [
    { privilege: 'reader', dataset: 'app', tag: { field: 'level', value: 'warn' } },
  ]),
  ingestor: user('ingestor', [{ privilege: 'ingestor' }, { privilege: 'reader', dataset: 'app' }]),
  foreigner: user('foreigner', [{ privilege: 'admin' }], 'elsewhere'),
} as const;
type Reader = keyof typeof readers;
const names = Object.keys(readers) as readonly Reader[];

let store: TestStore;
let service: QueryService;
let server: TestPgServer;
const clients = new Map<string, pg.Client>();

beforeAll(async () => {
  store = await openTestStore();
  service = queryService(store.store, catalog, { readableRows });
  const users = { ...readers, zq_user: user('zq_user', [{ privilege: 'reader' }]) };
  server = await startPgServer(service, { users, tenants: ['elsewhere', 'zq_tenant'] });
  for (const name of [...names, 'zq_user', 'admin']) {
    const client = new pg.Client({
      host: '127.0.0.1',
      port: server.port,
      user: name,
      password: pgPassword,
      database: name === 'foreigner' ? 'elsewhere' : 'millrace',
      application_name: name === 'zq_user' ? 'zq_application' : 'a client',
    });
    await client.connect();
    clients.set(name, client);
  }
  await clients.get('zq_user')?.query('select 1 as zq_column /* zq_statement */');
});

afterAll(async () => {
  for (const client of clients.values()) await client.end();
  await server?.stop();
  await store?.close();
});

type Ask = (sql: string) => Promise<{ readonly rows: readonly (readonly unknown[])[] }>;

const fronts: ReadonlyArray<readonly [front: string, askAs: (reader: Reader) => Ask]> = [
  [
    'over the wire',
    (reader) => async (text) => {
      const client = clients.get(reader);
      if (client === undefined) throw new Error('not connected');
      return await client.query<unknown[]>({ text, rowMode: 'array' });
    },
  ],
  [
    'as over HTTP',
    (reader) => (sql) => {
      const principal = readers[reader];
      return asker(service)(sql, { principal, tenant: principal.tenant });
    },
  ],
];

const paths = systemRelations.map(({ schema, name }) => `${schema}.${name}`);

test('the administrator sees what is planted', async () => {
  const seen: string[] = [];
  for (const path of paths) {
    const rows = await clients.get('admin')?.query({ text: `select * from ${path}`, rowMode: 'array' });
    if (planted.test(JSON.stringify(rows?.rows))) seen.push(path);
  }
  expect(seen).toEqual(
    expect.arrayContaining(
      (
        'pg_catalog.pg_class pg_catalog.pg_attribute pg_catalog.pg_namespace pg_catalog.pg_tables pg_catalog.pg_views ' +
        'pg_catalog.pg_stat_activity pg_catalog.pg_stat_user_tables information_schema.tables ' +
        'information_schema.columns information_schema.schemata information_schema.table_privileges'
      ).split(' '),
    ),
  );
});

describe.each(fronts)('%s', (_, askAs) => {
  test.each(names)('%s sees no foreign name in any relation', async (reader) => {
    const ask = askAs(reader);
    expect(paths.length).toBeGreaterThan(200);
    for (const path of paths) {
      const { rows } = await ask(`select * from ${path}`);
      expect(`${path} ${JSON.stringify(rows)}`).not.toMatch(planted);
    }
  });

  test.each(names)('%s cannot tell a foreign name from none', async (reader) => {
    const ask = askAs(reader);
    const said = (sql: string): Promise<string> =>
      ask(sql).then(
        ({ rows }) => JSON.stringify(rows),
        (error: Error) => error.message,
      );
    const questions = [
      "select to_regclass('NAME')",
      "select to_regclass('NAME.series')",
      "select to_regnamespace('NAME')",
      "select to_regrole('NAME')",
      "select 'NAME'::regclass",
      "select 'NAME.series'::regclass",
      "select 'NAME'::regnamespace",
      "select 'NAME'::regrole",
      "select has_table_privilege('NAME', 'select')",
      "select has_schema_privilege('NAME', 'usage')",
      "select has_column_privilege('NAME', 'zq_field', 'select')",
      "select has_database_privilege('NAME', 'connect')",
      "select has_table_privilege('NAME', 'app', 'select')",
      "select pg_has_role('NAME', 'usage')",
      "select pg_get_viewdef('NAME')",
      "select pg_relation_size('NAME')",
      "select pg_database_size('NAME')",
      "select pg_get_serial_sequence('NAME', 'zq_field')",
    ];
    for (const question of questions) {
      const of = async (name: string): Promise<string> =>
        (await said(question.replaceAll('NAME', name))).replaceAll(name, 'NAME');
      const none = await of('qq_nothing');
      for (const name of ['zq_events', 'zq_metrics', 'zq_user', 'zq_tenant'])
        expect(await of(name)).toBe(none);
    }
  });
});
