import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ClickHouseServer } from '../support/clickhouse/clickhouse-server.ts';
import { freePort } from '../support/lib/child.ts';
import { authorization, Service } from '../support/service/service.ts';

const leaseMs = 6000;

let server: ClickHouseServer;
/** Of a service whose lease has the usual length: minutes. */
let env: Readonly<Record<string, string>>;
let one: Service;
let two: Service;
/** Where `two` listens for SQL clients. */
let sqlPort: number;
beforeAll(async () => {
  server = await ClickHouseServer.start();
  env = {
    MILLRACE_CLICKHOUSE_URL: server.url,
    MILLRACE_SECRET: 'the same on all nodes, and long enough',
  };
  const impatient = { env: { ...env, MILLRACE_IDENTITY_LEASE_MS: String(leaseMs) } };
  sqlPort = await freePort();
  const withSql = { env: { ...impatient.env, MILLRACE_PG_ADDR: `127.0.0.1:${sqlPort}` } };
  [one, two] = await Promise.all([Service.start(impatient), Service.start(withSql)]);
}, 60_000);
afterAll(async () => {
  await Promise.all([one?.dispose(), two?.dispose()]);
  await server?.dispose();
});

const keys = '/api/console/v1/apikeys';
const send = (
  at: Service,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { authorization },
) =>
  fetch(at.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const ok = async <T>(reply: Promise<Response>): Promise<T> => {
  const { status, text } = await reply.then(async (each) => ({
    status: each.status,
    text: await each.text(),
  }));
  expect([status, text]).toEqual([200, text]);
  return JSON.parse(text) as T;
};
const makeKey = (at: Service, keyName: string) =>
  ok<{ keyId: string; apiKey: string }>(send(at, 'POST', keys, { keyName, roles: ['ingesting'] }));
/** What becomes of an ingest with this key. */
const ingest = async (at: Service, key: string) =>
  (await send(at, 'POST', '/api/v1/ingest', [{}], { 'x-api-key': key, 'x-p-stream': 'app' })).status;
const eventually = async (holds: () => Promise<boolean>, withinMs = 60_000): Promise<void> => {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`never held: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

describe('two processes on one store', () => {
  it('learn of each other’s roles and keys', async () => {
    await ok(send(one, 'PUT', '/api/v1/role/ingesting', [{ privilege: 'ingestor' }]));
    await eventually(async () => (await send(two, 'GET', '/api/v1/role/ingesting')).status === 200);
    const { apiKey } = await makeKey(two, 'made there');
    expect(await ingest(two, apiKey)).toBe(200);
    await eventually(async () => (await ingest(one, apiKey)) === 200);
  }, 120_000);

  it('see each other’s dashboards within the poll, and one of two editors wins', async () => {
    const dashboards = '/api/v1/dashboards';
    const body = { title: 'shared', tiles: [] };
    const { dashboardId } = await ok<{ dashboardId: string }>(send(one, 'POST', dashboards, body));
    const path = `${dashboards}/${dashboardId}`;
    await eventually(async () => (await send(two, 'GET', path)).status === 200);
    const headers = { authorization, 'if-match': '"1"' };
    const edits = await Promise.all(
      [one, two].map((at, index) => send(at, 'PUT', path, { title: `by ${index}` }, headers)),
    );
    expect(edits.map(({ status }) => status).sort()).toEqual([200, 412]);
    const winner = edits.findIndex(({ status }) => status === 200);
    for (const at of [one, two]) {
      await eventually(async () => {
        const { revision, title } = await ok<{ revision: number; title: string }>(send(at, 'GET', path));
        return revision === 2 && title === `by ${winner}`;
      });
    }
    // Without the header, both take effect, one after the other.
    await Promise.all([one, two].map((at, index) => ok(send(at, 'PUT', `${path}?tags=t${index}`))));
    const revisions = await ok<ReadonlyArray<{ revision: number }>>(send(two, 'GET', `${path}/revisions`));
    expect(revisions.map(({ revision }) => revision)).toEqual([4, 3, 2, 1]);
    expect((await send(one, 'DELETE', path)).status).toBe(200);
    await eventually(async () => (await send(two, 'GET', path)).status === 404);
  }, 120_000);

  it.each([
    ['keys', (at: Service, name: string) => send(at, 'POST', keys, { keyName: name, roles: [] })],
    ['users', (at: Service, name: string) => send(at, 'POST', `/api/v1/user/${name}`, [])],
  ] as const)(
    'give each name to one of those who want it: %s',
    async (_, make) => {
      for (let round = 0; round < 5; round += 1) {
        const name = `contested-${round}`;
        const replies = await Promise.all([one, two, one, two].map((at) => make(at, name)));
        expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      }
      const listed = await Promise.all(
        [one, two].map(async (at) => {
          let count = 0;
          await eventually(async () => {
            const names = [
              ...(await ok<{ keyName: string }[]>(send(at, 'GET', keys))).map(({ keyName }) => keyName),
              ...(await ok<{ id: string }[]>(send(at, 'GET', '/api/v1/users'))).map(({ id }) => id),
            ];
            count = names.filter((name) => name.startsWith('contested-')).length;
            return count % 5 === 0 && count > 0;
          });
          return count;
        }),
      );
      expect(listed[0]).toBe(listed[1]);
    },
    120_000,
  );

  it('know how a dataset is to be with the reply to its making, and learn of each other’s columns', async () => {
    const put = await send(one, 'PUT', '/api/v1/logstream/timed', undefined, {
      authorization,
      'x-p-time-partition': 'at',
    });
    expect(put.status).toBe(200);
    await expect(two.ingest('timed', [{ n: 1 }])).rejects.toThrow(/: 400 .*lacks the field/);
    await one.ingest('timed', [{ at: 1_700_000_000, from_one: 1 }]);
    await two.ingest('timed', [{ at: 1_700_000_001, from_two: 2 }]);
    const rows = (at: Service) =>
      at.query('SELECT from_one, from_two FROM timed ORDER BY p_timestamp').catch(() => []);
    for (const at of [one, two]) await eventually(async () => (await rows(at)).length === 2);
    expect(await rows(one)).toEqual([
      { from_one: 1, from_two: null },
      { from_one: null, from_two: 2 },
    ]);
    expect(await rows(two)).toEqual(await rows(one));
  }, 120_000);

  it('show what one of them acknowledged: that one to a query for the latest, the other as soon as it is stored', async () => {
    const asks = (at: Service, headers = {}) =>
      ok<{ n: number }[]>(
        send(
          at,
          'POST',
          '/api/v1/query',
          { query: 'SELECT max(n) AS n FROM latest' },
          { authorization, ...headers },
        ),
      );
    const latest = { 'millrace-consistency': 'latest' };
    await one.ingest('latest', [{ n: 0 }]);
    await eventually(async () => (await asks(two).catch(() => []))[0]?.n === 0);
    for (const [writer, other, n] of [
      [one, two, 1],
      [two, one, 2],
      [one, two, 3],
    ] as const) {
      await writer.ingest('latest', [{ n }]);
      expect(await asks(writer, latest)).toEqual([{ n }]);
      // It is in the store that both share, so no node can miss it any more.
      expect(await asks(other)).toEqual([{ n }]);
    }
    // Of the other's rows a query for the latest promises nothing but that it does not wait for ever.
    await one.ingest('latest', [{ n: 100 }]);
    expect([3, 100]).toContain((await asks(two, latest))[0]?.n);
    await eventually(async () => (await asks(two, latest))[0]?.n === 100);
  }, 120_000);

  it('agree on what a role grants when both change it at the same time', async () => {
    for (let round = 0; round < 3; round += 1) {
      const put = (at: Service, privilege: string) =>
        send(at, 'PUT', '/api/v1/role/contested', [{ privilege }]);
      const statuses = (await Promise.all([put(one, 'reader'), put(two, 'writer')])).map(
        ({ status }) => status,
      );
      expect(statuses).toContain(200);
      expect([200, 409]).toEqual(expect.arrayContaining(statuses));
      const shown = (at: Service) => send(at, 'GET', '/api/v1/role/contested').then((each) => each.text());
      await eventually(async () => (await shown(one)) === (await shown(two)));
    }
  }, 120_000);

  it('end the sessions of a key that another one has deleted', async () => {
    const { keyId, apiKey: password } = await makeKey(one, 'of a SQL client');
    const address = { host: '127.0.0.1', port: sqlPort, database: 'millrace' };
    const signIn = async (): Promise<pg.Client> => {
      const client = new pg.Client({ ...address, user: keyId, password });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    };
    await eventually(() =>
      signIn().then(
        (client) => client.end().then(() => true),
        () => false,
      ),
    );
    const idle = await signIn();
    const ended = new Promise((resolve) => idle.once('error', resolve));
    await ok(send(one, 'DELETE', `${keys}/${keyId}`));
    expect(await ended).toMatchObject({ code: '28000' });
    await expect(signIn()).rejects.toMatchObject({ code: '28P01' });
  }, 120_000);

  it('refuse a deleted key, both, as soon as the reply to its deletion is there', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { keyId, apiKey } = await makeKey(one, `short-lived ${round}`);
      await eventually(async () => (await ingest(two, apiKey)) === 200);
      await ok(send(one, 'DELETE', `${keys}/${keyId}`));
      expect(await ingest(two, apiKey)).toBe(401);
      expect(await ingest(one, apiKey)).toBe(401);
    }
  }, 120_000);

  it('do not wait for one that has stopped', async () => {
    // Their lease outlasts the test, so there is no end to a wait.
    const [three, four] = await Promise.all([Service.start({ env }), Service.start({ env })]);
    onTestFinished(async () => {
      await Promise.all([three.dispose(), four.dispose()]);
    });
    const { keyId } = await makeKey(three, 'deleted by three');
    await four.stop();
    await ok(send(three, 'DELETE', `${keys}/${keyId}`));
    // The others need not wait for it, either.
    await three.stop();
  }, 120_000);

  it('wait for one that hangs until it trusts nothing any more, and it lets nobody in then', async () => {
    const { keyId, apiKey } = await makeKey(one, 'remembered by two');
    await eventually(async () => (await ingest(two, apiKey)) === 200);
    two.child.kill('SIGSTOP');
    const startMs = performance.now();
    await ok(send(one, 'DELETE', `${keys}/${keyId}`));
    expect(performance.now() - startMs).toBeGreaterThan(leaseMs / 2);
    two.child.kill('SIGCONT');
    // It has not read the log yet: it knows that it does not know.
    expect([401, 503]).toContain(await ingest(two, apiKey));
    await eventually(async () => (await ingest(two, apiKey)) === 401);
  }, 120_000);

  it('let nobody but the administrator in when the store has been away for a lease, until it is back', async () => {
    const { apiKey } = await makeKey(one, 'through an outage');
    await eventually(async () => (await ingest(two, apiKey)) === 200);
    await server.kill();
    expect(await ingest(two, apiKey)).toBe(200);
    await eventually(async () => (await ingest(two, apiKey)) === 503, 3 * leaseMs);
    expect(await two.ingest('app', [{ by: 'root' }])).toBe(1);
    await server.start();
    await eventually(async () => (await ingest(two, apiKey)) === 200);
    await eventually(async () => (await ingest(one, apiKey)) === 200);
  }, 120_000);
});
