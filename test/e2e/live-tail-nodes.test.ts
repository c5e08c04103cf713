import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { ClickHouseServer } from '../support/clickhouse/clickhouse-server.ts';
import { authorization, Service } from '../support/service/service.ts';
import { administer, TailClient } from '../support/service/tail-client.ts';

/** Live tails of two nodes that share a store. */
let server: ClickHouseServer;
let one: Service;
let two: Service;
beforeAll(async () => {
  server = await ClickHouseServer.start();
  const env = {
    MILLRACE_CLICKHOUSE_URL: server.url,
    MILLRACE_SECRET: 'the same on all nodes, and long enough',
    MILLRACE_FLUSH_INTERVAL_MS: '100',
    MILLRACE_IDENTITY_LEASE_MS: '6000',
  };
  [one, two] = await Promise.all([Service.start({ env }), Service.start({ env })]);
}, 60_000);
afterAll(async () => {
  await Promise.all([one?.dispose(), two?.dispose()]);
  await server?.dispose();
});

const tail = async (at: Service, headers: Record<string, string> = { authorization }) => {
  const client = await TailClient.open(at.url, 'app', { headers });
  onTestFinished(() => client.leave());
  expect(client.response.status).toBe(200);
  return client;
};

it('have the rows of both, each once and in one order', async () => {
  await one.ingest('app', [{ writer: 0, n: 0 }]);
  await Promise.all([one.drained(), two.drained()]);
  await expect
    .poll(
      async () =>
        (await fetch(`${two.url}/api/v1/logstream/app/schema`, { headers: { authorization } })).status,
    )
    .toBe(200);
  const clients = [await tail(one), await tail(two)];
  const perWriter = 60;
  const write = async (at: Service, writer: number) => {
    for (let n = 0; n < perWriter; n += 5) {
      await at.ingest(
        'app',
        Array.from({ length: 5 }, (_, index) => ({ writer, n: n + index })),
      );
    }
  };
  await Promise.all([write(one, 1), write(two, 2)]);
  const rowsOf = (client: TailClient) =>
    client.read.rows.filter(({ writer }) => writer !== 0).map(({ writer, n }) => `${writer}/${n}`);
  for (const client of clients) await expect.poll(() => rowsOf(client).length).toBe(2 * perWriter);
  const [first = [], second] = clients.map(rowsOf);
  // The store has one order, whichever node reads it.
  expect(first).toEqual(second);
  expect(new Set(first).size).toBe(2 * perWriter);
  for (const writer of [1, 2]) {
    const own = first.filter((row) => row.startsWith(`${writer}/`));
    expect(own).toEqual(Array.from({ length: perWriter }, (_, n) => `${writer}/${n}`));
  }
});

it('resume at the other node, and end when the other node deletes the key', async () => {
  await administer(one.url, 'PUT', '/api/v1/role/reading', [
    { privilege: 'reader', resource: { dataset: 'app' } },
  ]);
  const { apiKey, keyId } = await administer<{ apiKey: string; keyId: string }>(
    one.url,
    'POST',
    '/api/console/v1/apikeys',
    { keyName: 'reading', roles: ['reading'] },
  );
  const headers = { 'x-api-key': apiKey };
  const before = await tail(one, headers);
  await two.ingest('app', [{ writer: 3, n: 1 }]);
  await expect.poll(() => before.read.rows.map(({ n }) => n)).toEqual([1]);
  const { lastId } = before.read;
  before.leave();
  await one.ingest('app', [{ writer: 3, n: 2 }]);
  // The other node learns of the key within a second or so.
  let after = await TailClient.open(two.url, 'app', { headers, lastEventId: lastId });
  while (after.response.status === 401) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    after = await TailClient.open(two.url, 'app', { headers, lastEventId: lastId });
  }
  expect(after.response.status).toBe(200);
  onTestFinished(() => after.leave());
  await expect.poll(() => after.read.rows.map(({ n }) => n)).toEqual([2]);
  await administer(one.url, 'DELETE', `/api/console/v1/apikeys/${keyId}`);
  await expect.poll(() => after.isEnded).toBe(true);
  expect(after.read.end?.code).toBe('unauthenticated');
});
