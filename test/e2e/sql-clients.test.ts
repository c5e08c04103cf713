import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/lib/child.ts';
import { authorization, Service } from '../support/service/service.ts';

/** SQL clients against the built service: who may sign in, what they see, and when their sessions end. */
let service: Service;
let port: number;

beforeAll(async () => {
  port = await freePort();
  service = await Service.start({
    env: {
      MILLRACE_PG_ADDR: `127.0.0.1:${port}`,
      MILLRACE_MULTI_TENANT: 'true',
      MILLRACE_LOG_LEVEL: 'trace',
    },
  });
});
afterAll(() => service?.dispose());

const { username, password } = Service.credentials;

async function connected(user = username, secret = password, database = 'millrace'): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port, user, password: secret, database });
  client.on('error', () => undefined); // the service may end the session
  await client.connect();
  return client;
}

async function administer(method: string, path: string, body?: unknown, tenant = 'default'): Promise<string> {
  const reply = await fetch(service.url + path, {
    method,
    headers: { authorization, 'x-p-tenant': tenant, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  expect([path, reply.status, text]).toEqual([path, 200, text]);
  return text;
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error as { code?: unknown }).code ?? String(error),
  );

test('who reads one dataset sees that, and nothing of another', async () => {
  const all = service.within('default');
  await all.ingest('mine', [{ level: 'info', n: 1 }]);
  await all.ingest('theirs', [{ level: 'info', n: 2 }]);
  await service.drained();
  await administer('PUT', '/api/v1/role/narrow', [{ privilege: 'reader', resource: { dataset: 'mine' } }]);
  const made = await administer('POST', '/api/v1/user/alice', ['narrow']);
  const alice = await connected('alice', made);
  expect((await alice.query('SELECT level, n FROM mine')).rows).toEqual([{ level: 'info', n: 1 }]);
  expect(['42P01', '42501']).toContain(await codeOf(alice.query('SELECT * FROM theirs')));
  expect((await alice.query('SELECT table_name FROM information_schema.tables')).rows).not.toContainEqual({
    table_name: 'theirs',
  });
  // The privileges of now count, not those of the sign-in.
  await administer('PUT', '/api/v1/role/narrow', [{ privilege: 'reader', resource: { dataset: 'theirs' } }]);
  expect((await alice.query('SELECT n FROM theirs')).rows).toEqual([{ n: 2 }]);
  await alice.end();
});

describe('API keys', () => {
  let key: { readonly keyId: string; readonly apiKey: string };
  beforeAll(async () => {
    await administer('PUT', '/api/v1/role/reads', [{ privilege: 'reader', resource: { dataset: 'mine' } }]);
    const body = { keyName: 'grafana', roles: ['reads'] };
    key = JSON.parse(await administer('POST', '/api/console/v1/apikeys', body)) as typeof key;
  });

  test('one signs in by its name and by its id, with its value', async () => {
    for (const user of ['grafana', key.keyId]) {
      const client = await connected(user, key.apiKey);
      expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
      await client.end();
    }
    expect(await codeOf(connected('grafana', 'another value'))).toBe('28P01');
  });

  test('one that is deleted ends its sessions, and signs in no more', async () => {
    const client = await connected('grafana', key.apiKey);
    const ended = new Promise((resolve) => client.once('error', resolve));
    await administer('DELETE', `/api/console/v1/apikeys/${key.keyId}`);
    expect(await ended).toMatchObject({ code: '28000' });
    expect(await codeOf(connected('grafana', key.apiKey))).toBe('28P01');
  });
});

test('a database is a tenant, whose users and datasets are its own', async () => {
  await administer('PUT', '/api/v1/tenants/acme');
  await service.within('acme').ingest('mine', [{ of: 'acme' }]);
  await service.drained();
  await administer('PUT', '/api/v1/role/reads', [{ privilege: 'reader' }], 'acme');
  const made = await administer('POST', '/api/v1/user/bob', ['reads'], 'acme');
  const bob = await connected('bob', made, 'acme');
  expect((await bob.query('SELECT "of" FROM mine')).rows).toEqual([{ of: 'acme' }]);
  await bob.end();
  expect(await codeOf(connected('bob', made))).toBe('28P01');
  expect(await codeOf(connected('bob', made, 'nowhere'))).toBe('28P01');
  expect(await codeOf(connected(username, password, 'nowhere'))).toBe('3D000');
  await administer('DELETE', '/api/v1/tenants/acme');
});

test('no secret is in the log', async () => {
  const made = await administer('POST', '/api/v1/user/carol', []);
  await (await connected('carol', made)).end();
  await codeOf(connected('carol', 'a wrong guess'));
  const output = service.child.stdout + service.child.stderr;
  for (const secret of [made, password, 'a wrong guess']) expect(output).not.toContain(secret);
});

test('a stop ends idle sessions with the reason, and is not held up by them', async () => {
  const client = await connected();
  const ended = new Promise((resolve) => client.once('error', resolve));
  const exit = service.stop();
  expect(await ended).toMatchObject({ code: '57P01' });
  expect(await exit).toMatchObject({ code: 0 });
});
