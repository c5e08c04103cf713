import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ClickHouseServer, openStoreOn } from '../support/clickhouse/clickhouse-server.ts';
import { testStore } from '../support/clickhouse/test-store.ts';
import { authorization, Service } from '../support/service/service.ts';

async function startServer(): Promise<ClickHouseServer> {
  const server = await ClickHouseServer.start();
  onTestFinished(() => server.dispose());
  return server;
}

async function startNode(server: ClickHouseServer, flushIntervalMs: number): Promise<Service> {
  const env = {
    MILLRACE_CLICKHOUSE_URL: server.url,
    MILLRACE_MULTI_TENANT: 'true',
    MILLRACE_SECRET: 's'.repeat(32),
    MILLRACE_FLUSH_INTERVAL_MS: String(flushIntervalMs),
  };
  const service = await Service.start({ env });
  onTestFinished(() => service.dispose());
  return service;
}

const administer = async (node: Service, method: string, path: string, body?: unknown, tenant?: string) => {
  const reply = await fetch(`${node.url}${path}`, {
    method,
    headers: {
      authorization,
      'content-type': 'application/json',
      ...(tenant === undefined ? {} : { 'x-p-tenant': tenant }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply.text();
};

/** What a credential gets of a tenant. */
const statusOf = async (node: Service, tenant: string, credential: Record<string, string>) =>
  (await fetch(`${node.url}/api/v1/about`, { headers: { ...credential, 'x-p-tenant': tenant } })).status;

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(50);
}

test('a tenant deleted on one node is gone on the others, with what waits in their logs', async () => {
  const server = await startServer();
  const [one, two] = [await startNode(server, 100), await startNode(server, 60_000)];
  for (const tenant of ['acme', 'globex']) await administer(one, 'PUT', `/api/v1/tenants/${tenant}`);
  await administer(one, 'PUT', '/api/v1/role/all', [{ privilege: 'admin' }], 'acme');
  const made = await administer(
    one,
    'POST',
    '/api/console/v1/apikeys',
    { keyName: 'k', roles: ['all'] },
    'acme',
  );
  const key = { 'x-api-key': (JSON.parse(made) as { apiKey: string }).apiKey };
  await until(async () => (await statusOf(two, 'acme', key)) === 200);

  // The first makes the database; what the second has stays in its log.
  await one.within('acme').ingest('app', [{ of: 'one' }]);
  await one.drained();
  await two.within('acme').ingest('app', [{ of: 'two' }]);
  await two.within('globex').ingest('app', [{ of: 'two' }]);

  await administer(one, 'DELETE', '/api/v1/tenants/acme');
  expect(await statusOf(one, 'acme', key)).toBe(401);
  await administer(one, 'PUT', '/api/v1/tenants/acme');
  await one.within('acme').ingest('app', [{ of: 'one again' }]);
  await until(async () => (await statusOf(two, 'acme', key)) === 401);
  await until(async () => (await statusOf(two, 'acme', { authorization })) === 200);
  await two.within('acme').ingest('app', [{ of: 'two again' }]);

  expect(await two.stop()).toEqual({ code: 0, signal: null });
  await one.drained();
  const store = testStore(openStoreOn(server), async () => {});
  onTestFinished(() => store.close());
  const databases = await store.rows<{ name: string }>(
    "SELECT name FROM system.databases WHERE startsWith(name, 't_') AND name != 't_default' ORDER BY name",
  );
  expect(databases.map(({ name }) => name)).toEqual(['t_acme.2', 't_globex']);
  // Neither its keys nor what else it had.
  const left = store.rows("SELECT kind FROM millrace.metadata WHERE tenant = 'acme'");
  expect(await left).toEqual([]);
  const rows = (tenant: string) =>
    store.rows(`SELECT \`of:str\` AS of FROM \`t_${tenant}\`.\`app.events\` ORDER BY of`);
  expect(await rows('acme.2')).toEqual([{ of: 'one again' }, { of: 'two again' }]);
  expect(await rows('globex')).toEqual([{ of: 'two' }]);
}, 120_000);
