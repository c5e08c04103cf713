import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { median } from '../support/lib/median.ts';
import { authorization, Service, type ServiceClient } from '../support/service/service.ts';

let service: Service;
let noisy: ServiceClient;
let quiet: ServiceClient;

const send = (method: string, path: string, tenant: string, body?: unknown, credential = authorization) =>
  fetch(service.url + path, {
    method,
    headers: { authorization: credential, 'x-p-tenant': tenant, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
/** Creates a user of the tenant, with the generated password. */
async function makeUser(tenant: string, name: string): Promise<string> {
  await send('PUT', '/api/v1/role/all', tenant, [{ privilege: 'admin' }]);
  const password = await (await send('POST', `/api/v1/user/${name}`, tenant, ['all'])).text();
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

beforeAll(async () => {
  service = await Service.start({
    env: { MILLRACE_MULTI_TENANT: 'true', MILLRACE_FLUSH_INTERVAL_MS: '100' },
  });
  [noisy, quiet] = [service.within('noisy'), service.within('quiet')];
  for (const tenant of ['noisy', 'quiet']) await send('PUT', `/api/v1/tenants/${tenant}`, 'default');
  await quiet.ingest('app', [{ level: 'info' }]);
  await service.drained();
}, 60_000);
afterAll(() => service?.dispose());

/** Repeats something on several connections until it is stopped. */
class Flood {
  readonly #atATime: number;
  #answered = 0;
  #stopped = false;
  readonly #running: Promise<unknown>;

  constructor(atATime: number, work: () => Promise<unknown>) {
    this.#atATime = atATime;
    this.#running = Promise.all(Array.from({ length: atATime }, () => this.#once(work)));
  }

  async #once(work: () => Promise<unknown>): Promise<void> {
    while (!this.#stopped) {
      await work();
      this.#answered += 1;
    }
  }

  /** Waits until each connection has waited behind all the others. */
  async inFull(): Promise<void> {
    const answered = () => this.#answered;
    await expect.poll(answered, { timeout: 60_000, interval: 20 }).toBeGreaterThanOrEqual(this.#atATime);
  }

  /**
   * Runs `work` repeatedly, one after another.
   * @returns the median of how many requests of the flood were answered meanwhile. Behind the whole flood it
   *   is about the number of its connections. It counts requests, so the machine's speed does not matter.
   */
  async answeredBeside(count: number, work: (index: number) => Promise<unknown>): Promise<number> {
    const counts: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const before = this.#answered;
      await work(index);
      counts.push(this.#answered - before);
    }
    return median(counts);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}

test('queries of a tenant do not wait behind those of another that sends dozens at a time', async () => {
  const heavy = 'SELECT count(*) AS n FROM generate_series(1, 3000000) AS g(n) WHERE n % 7 = 3';
  const flood = new Flood(30, () => noisy.query(heavy));
  await flood.inFull();
  const answered = await flood.answeredBeside(7, () => quiet.query('SELECT count(*) AS n FROM app'));
  await flood.stop();
  expect(answered).toBeLessThan(30 / 3);
}, 120_000);

test('writes of a tenant do not wait behind those of another that sends large bodies by the dozen', async () => {
  // Both go to the decoding workers, which have much more to do for the large ones than it takes to send
  // them. Written down once: what it takes to do so would hold up the others in this process.
  const events = Array.from({ length: 20_000 }, (_, index) => ({ index, text: `${index} `.repeat(16) }));
  const [large, small] = [JSON.stringify(events), JSON.stringify(events.slice(0, 100))];
  const write = async (tenant: string, body: string) => {
    const headers = {
      authorization,
      'x-p-tenant': tenant,
      'x-p-stream': 'app',
      'content-type': 'application/json',
    };
    const reply = await fetch(`${service.url}/api/v1/ingest`, { method: 'POST', headers, body });
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('accepted')]);
  };
  const flood = new Flood(40, () => write('noisy', large));
  await flood.inFull();
  const answered = await flood.answeredBeside(9, () => write('quiet', small));
  await flood.stop();
  expect(answered).toBeLessThan(40 / 2);
}, 120_000);

test('sign-ins of a tenant do not wait behind wrong passwords for another', async () => {
  const users = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => makeUser('quiet', name)));
  const statuses = new Set<number>();
  const guess = async () => {
    const wrong = `Basic ${Buffer.from(`root:${randomUUID()}`).toString('base64')}`;
    const { status } = await send('GET', '/api/v1/about', 'noisy', undefined, wrong);
    statuses.add(status);
  };
  const flood = new Flood(20, guess);
  await flood.inFull();
  const answered = await flood.answeredBeside(users.length, async (index) => {
    const reply = await send('GET', '/api/v1/about', 'quiet', undefined, users[index]);
    expect(reply.status).toBe(200);
  });
  await flood.stop();
  expect([...statuses]).toEqual([401]);
  expect(answered).toBeLessThan(20 / 3);
}, 120_000);

test('limits of a tenant hold for it alone, for the datasets that it has too, and after a restart', async () => {
  const codeOf = async (tenant: string, path: string, method: string, body?: unknown) => {
    const reply = await send(method, path, tenant, body);
    const text = await reply.text();
    return reply.ok ? reply.status : [reply.status, (JSON.parse(text) as { code: string }).code];
  };
  const put = (body: unknown) => codeOf('default', '/api/v1/tenants/noisy/limits', 'PUT', body);
  const post = (dataset: string, tenant: string, event: object) =>
    codeOf(tenant, `/api/v1/logstream/${dataset}`, 'POST', [event]);
  const large = { text: 'x'.repeat(3000) };
  const wide = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`f${index}`, index]));

  await noisy.ingest('app', [{ level: 'info' }]);
  expect(await put({ maxDatasets: 0 })).toEqual([400, 'bad_limits']);
  expect(await codeOf('default', '/api/v1/tenants/nobody/limits', 'PUT', {})).toEqual([
    404,
    'tenant_not_found',
  ]);
  const own = { maxDatasets: 2, maxColumns: 10, maxEventBytes: 2048 };
  expect(await put(own)).toBe(200);
  const holds = async () => {
    const shown = await (await send('GET', '/api/v1/tenants/noisy/limits', 'default')).json();
    const inForce = {
      ...own,
      tenantIngestBytesPerSecond: 'unlimited',
      datasetIngestBytesPerSecond: 'unlimited',
    };
    expect(shown).toEqual(inForce);
    expect(await codeOf('noisy', '/api/v1/logstream/third', 'PUT')).toEqual([409, 'too_many_datasets']);
    expect(await post('app', 'noisy', large)).toEqual([413, 'event_too_large']);
    expect(await post('app', 'quiet', large)).toBe(200);
  };
  await holds();
  for (const [tenant, hasOverflow] of [
    ['noisy', true],
    ['quiet', false],
  ] as const) {
    expect(await post('app', tenant, wide)).toBe(200);
    const within = service.within(tenant);
    expect(await within.query('SELECT f1, f14 FROM app WHERE f14 = 14')).toMatchObject([{ f1: 1 }]);
    const schema = await (await send('GET', '/api/v1/logstream/app/schema', tenant)).text();
    expect([tenant, schema.includes('p_overflow')]).toEqual([tenant, hasOverflow]);
  }
  await service.stop();
  await service.restart();
  await holds();

  // Now a rate limit instead, which counts the bytes from here on.
  expect(await put({ tenantIngestBytesPerSecond: 1024 })).toBe(200);
  expect(await post('app', 'noisy', { text: 'x'.repeat(30_000) })).toBe(200);
  const refused = await send('POST', '/api/v1/logstream/app', 'noisy', [{ level: 'info' }]);
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect(await post('app', 'quiet', { level: 'info' })).toBe(200);
  expect(await put({})).toBe(200);
  expect(await post('app', 'noisy', { level: 'info' })).toBe(200);
}, 120_000);
