import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { catalogOf } from '../../sql/fixtures.ts';
import { administrator, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { pgPassword, startPgServer, type TestPgServer } from '../../support/sql/pg-server.ts';

const sessions = 1000;

let store: TestStore;
let server: TestPgServer;
const clients: pg.Client[] = [];

beforeAll(async () => {
  store = await openTestStore();
  // One user may not have all of them.
  const users = Object.fromEntries(['other', 'third'].map((name) => [name, { ...administrator, name }]));
  server = await startPgServer(queryService(store.store, catalogOf([])), { users });
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await server?.stop();
  await store?.close();
});

async function open(user: string): Promise<void> {
  const { port } = server;
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user,
    password: pgPassword,
    database: 'millrace',
  });
  await client.connect();
  clients.push(client);
}

test('1,000 sessions are open at once, each with settings of its own', async () => {
  const atOnce = limits.pgMaxUnauthenticatedPerClient / 2;
  while (clients.length < sessions) {
    const user = clients.length < sessions / 2 ? 'admin' : 'other';
    await Promise.all(Array.from({ length: atOnce }, () => open(user)));
  }
  for (const [index, client] of clients.entries())
    await client.query(`SET application_name = 'number ${index}'`);
  const names = await Promise.all(
    clients.map(async (client) => (await client.query('SHOW application_name')).rows[0]),
  );
  expect(names).toEqual(clients.map((_, index) => ({ application_name: `number ${index}` })));
  const answers = await Promise.all(
    clients.map(async (client) => (await client.query('SELECT 1 AS one')).rows[0]),
  );
  expect(answers).toEqual(clients.map(() => ({ one: 1 })));
}, 120_000);

test('one more is told whose bound is reached', async () => {
  expect(clients).toHaveLength(sessions);
  await expect(open('other')).rejects.toMatchObject({
    code: '53300',
    message: 'too many connections for role "other": at most 500 at once',
  });
  await expect(open('third')).rejects.toMatchObject({
    code: '53300',
    message: 'too many connections for tenant "default": at most 1000 at once',
  });
});
