import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildWriteRequest } from '../support/remote-write/remote-write-requests.ts';
import { authorization, Service } from '../support/service/service.ts';

const rate = 'datasetIngestBytesPerSecond';
const boundless = { maxColumns: 1000, maxEventBytes: 16_777_216, [rate]: 'unlimited' };

let service: Service;
beforeAll(async () => {
  service = await Service.start({
    env: { MILLRACE_MULTI_TENANT: 'true', MILLRACE_FLUSH_INTERVAL_MS: '100' },
  });
  for (const tenant of ['one', 'two']) await send('PUT', `/api/v1/tenants/${tenant}`, 'default');
}, 60_000);
afterAll(() => service?.dispose());

const send = (method: string, path: string, tenant: string, body?: unknown, credential = authorization) =>
  fetch(service.url + path, {
    method,
    headers: { authorization: credential, 'x-p-tenant': tenant, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const limits = async (method: string, tenant: string, dataset: string, body?: unknown): Promise<unknown> => {
  const reply = await send(method, `/api/v1/logstream/${dataset}/limits`, tenant, body);
  const json = (await reply.json()) as { code?: string };
  return reply.ok ? json : [reply.status, json.code];
};
const post = async (tenant: string, dataset: string, event: object) => {
  const reply = await send('POST', `/api/v1/logstream/${dataset}`, tenant, [event]);
  const { code, limit, setBy } = (await reply.json()) as Record<string, string>;
  return reply.ok ? 200 : [reply.status, code, limit, setBy];
};
/** A body that compression leaves at some 15,000 bytes. */
const samples = () => {
  const labels = [
    ['__name__', 'up'],
    ['noise', randomBytes(15_000).toString('hex')],
  ] as const;
  return new Uint8Array(
    buildWriteRequest([{ labels: [...labels], samples: [{ value: 1, timestampMs: Date.now() }] }]),
  );
};
const remoteWrite = () =>
  fetch(`${service.url}/v1/prometheus/write`, {
    method: 'POST',
    headers: {
      authorization,
      'x-p-tenant': 'one',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
    },
    body: samples(),
  });

const large = { text: 'x'.repeat(3000) };
const wide = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`f${index}`, index]));

it('hold for one dataset, over a restart, until it is deleted', async () => {
  await service.within('one').ingest('app', [{ level: 'info' }]);
  for (const [tenant, dataset] of [
    ['one', 'beside'],
    ['two', 'app'],
  ] as const)
    await service.within(tenant).ingest(dataset, [{ level: 'info' }]);
  expect(await limits('GET', 'one', 'app')).toEqual(boundless);
  expect(await limits('GET', 'one', 'nothing')).toEqual([404, 'dataset_not_found']);
  expect(await limits('PUT', 'one', 'nothing', {})).toEqual([404, 'dataset_not_found']);
  expect(await limits('PUT', 'one', 'app', { maxDatasets: 3 })).toEqual([400, 'bad_limits']);
  const own = { maxColumns: 10, maxEventBytes: 2048 };
  expect(await limits('PUT', 'one', 'app', own)).toEqual({ ...boundless, ...own });

  const holds = async () => {
    expect(await limits('GET', 'one', 'app')).toEqual({ ...boundless, ...own });
    expect(await post('one', 'app', large)).toEqual([413, 'event_too_large', 'maxEventBytes', 'dataset']);
    expect(await post('one', 'beside', large)).toBe(200);
    expect(await post('two', 'app', large)).toBe(200);
  };
  await holds();
  for (const [tenant, dataset, overflows] of [
    ['one', 'app', true],
    ['one', 'beside', false],
    ['two', 'app', false],
  ] as const) {
    expect(await post(tenant, dataset, wide)).toBe(200);
    // Between the new columns and their row the field is there and the row is not.
    await service.drained();
    const found = await service.within(tenant).query(`SELECT f14 FROM ${dataset} WHERE f14 = 14`);
    expect(found).toHaveLength(1);
    const schema = await (await send('GET', `/api/v1/logstream/${dataset}/schema`, tenant)).text();
    expect([tenant, dataset, schema.includes('p_overflow')]).toEqual([tenant, dataset, overflows]);
  }
  await service.kill();
  await service.restart();
  await holds();

  expect((await send('DELETE', '/api/v1/logstream/app', 'one')).status).toBe(200);
  expect((await send('PUT', '/api/v1/logstream/app', 'one')).status).toBe(200);
  expect(await limits('GET', 'one', 'app')).toEqual(boundless);
  expect(await post('one', 'app', large)).toBe(200);
}, 120_000);

it('an error says whether the dataset, its tenant or the service has set the limit that was met', async () => {
  await service.within('one').ingest('whose', [{ level: 'info' }]);
  const met = async () => (await post('one', 'whose', large)) as unknown;
  await limits('PUT', 'one', 'whose', { maxEventBytes: 2048 });
  expect(await met()).toEqual([413, 'event_too_large', 'maxEventBytes', 'dataset']);
  await send('PUT', '/api/v1/tenants/one/limits', 'default', { maxEventBytes: 1500 });
  expect(await met()).toEqual([413, 'event_too_large', 'maxEventBytes', 'tenant']);
  expect(await limits('PUT', 'one', 'whose', { maxEventBytes: 2048 })).toEqual([400, 'bad_limits']);
  await send('PUT', '/api/v1/tenants/one/limits', 'default', {});
  expect(await limits('DELETE', 'one', 'whose')).toEqual(boundless);
  expect(await met()).toBe(200);
  const huge = { text: 'x'.repeat(17_000_000) };
  expect(await post('one', 'whose', huge)).toEqual([413, 'event_too_large', 'maxEventBytes', 'service']);
}, 60_000);

it('beyond a rate, JSON gets 429 and remote write 503, which alone its senders repeat', async () => {
  const within = service.within('one');
  await within.ingest('paced', [{ level: 'info' }]);
  expect((await remoteWrite()).status).toBe(200);
  for (const dataset of ['paced', 'prometheus']) await limits('PUT', 'one', dataset, { [rate]: 1024 });
  expect(await limits('GET', 'one', 'prometheus')).toEqual({ [rate]: 1024 });
  expect(await limits('PUT', 'one', 'prometheus', { maxColumns: 20 })).toEqual([400, 'bad_limits']);

  expect(await post('one', 'paced', { text: 'x'.repeat(30_000) })).toBe(200);
  expect((await remoteWrite()).status).toBe(200);
  const problem = { code: 'rate_limited', bytesPerSecond: 1024, limit: rate, setBy: 'dataset' };
  for (const [status, reply] of [
    [429, await send('POST', '/api/v1/logstream/paced', 'one', [{ level: 'info' }])],
    [503, await remoteWrite()],
  ] as const) {
    expect([reply.status, Number(reply.headers.get('retry-after')) > 0]).toEqual([status, true]);
    expect(await reply.json()).toMatchObject({ ...problem, status });
  }
  await within.ingest('beside', [{ level: 'info' }]);
  await service.within('two').ingest('paced', [{ level: 'info' }]);
  for (const dataset of ['paced', 'prometheus']) await limits('DELETE', 'one', dataset);
  await within.ingest('paced', [{ level: 'info' }]);
  expect((await remoteWrite()).status).toBe(200);
}, 60_000);

it('are set by those who manage the dataset, in its tenant alone', async () => {
  await service.within('one').ingest('managed', [{ level: 'info' }]);
  await send('PUT', '/api/v1/role/owner', 'one', [{ privilege: 'admin', resource: { dataset: 'managed' } }]);
  const password = await (await send('POST', '/api/v1/user/owner', 'one', ['owner'])).text();
  const owner = `Basic ${Buffer.from(`owner:${password}`).toString('base64')}`;
  const put = async (tenant: string, dataset: string) =>
    (await send('PUT', `/api/v1/logstream/${dataset}/limits`, tenant, { maxColumns: 20 }, owner)).status;
  expect(await put('one', 'managed')).toBe(200);
  expect(await put('one', 'beside')).toBe(403);
  expect(await put('two', 'managed')).toBe(401);
}, 60_000);
