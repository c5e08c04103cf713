import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from '../integration/http/http-harness.ts';
import { authorization, Service } from '../support/service/service.ts';

/** What clients of the HTTP API may ask for, and what they may leave out, by the configuration. */
const page = 'http://localhost:3000';
let service: Service;
beforeAll(async () => {
  service = await Service.start({
    env: { MILLRACE_DEFAULT_DATASETS: 'false', MILLRACE_CORS_ORIGINS: `https://app.example.com, ${page}` },
  });
}, 60_000);
afterAll(() => service?.dispose());

const post = (path: string, headers: Record<string, string>, body = '{}') =>
  fetch(service.url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body,
  });
const ask = (query: string, headers: Record<string, string> = {}) =>
  post('/api/v1/query', headers, JSON.stringify({ query }));

describe('without default datasets', () => {
  it.each(['/v1/logs', '/v1/traces', '/v1/metrics'])('%s needs a dataset', async (path) => {
    const refused = await post(path, {});
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('X-P-Stream');
    expect((await post(path, { 'x-p-stream': `named${path.replaceAll('/', '-')}` })).status).toBe(200);
  });

  it('remote write needs one as well', async () => {
    const refused = await post('/v1/prometheus/write', { 'content-type': 'application/x-protobuf' });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('X-P-Stream')]);
  });
});

describe('Millrace-Consistency', () => {
  it('latest sees what was acknowledged before', async () => {
    // A dataset that is there and has its columns, so that the query misses nothing without the header.
    await service.ingest('app', [{ id: 0 }]);
    await service.drained();
    for (const id of [1, 2, 3]) {
      await service.ingest('app', [{ id }]);
      const reply = await ask('SELECT max(id) AS id FROM app', { 'millrace-consistency': 'latest' });
      expect([reply.status, await reply.json()]).toEqual([200, [{ id }]]);
    }
    // A field that is new is there too, and one with values of another type.
    await service.ingest('app', [{ id: 'text', more: 1 }]);
    const reply = await ask('SELECT id, more FROM app WHERE more = 1', { 'millrace-consistency': 'latest' });
    expect(await reply.json()).toEqual([{ id: 'text', more: 1 }]);
  });

  it('is latest or nothing', async () => {
    const refused = await ask('SELECT 1', { 'millrace-consistency': 'strong' });
    expect([refused.status, (await problemOf(refused)).code]).toEqual([400, 'bad_header']);
  });
});

describe('pages of other origins', () => {
  it('may call and read where they are listed', async () => {
    const preflight = await fetch(`${service.url}/api/v1/query`, {
      method: 'OPTIONS',
      headers: {
        origin: page,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, page]);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization, content-type');
    const cross = { origin: page, 'sec-fetch-site': 'cross-site' };
    const reply = await ask('SELECT 1 AS one', cross);
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, page]);
    expect(reply.headers.get('vary')).toContain('Origin');
    const refused = await ask('SELECT nosuch', cross);
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([400, page]);
  });

  it('get nothing where they are not', async () => {
    const cross = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const reply = await ask('SELECT 1 AS one', cross);
    expect(reply.status).toBe(403);
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  });
});

it('the first page names every group of routes', async () => {
  const text = await (await fetch(`${service.url}/`)).text();
  const document = await fetch(`${service.url}/api/v1/openapi.json`, { headers: { authorization } });
  const { paths } = (await document.json()) as { paths: Record<string, Record<string, { tags: string[] }>> };
  const groups = Object.values(paths).flatMap((path) =>
    Object.values(path).flatMap(({ tags }) => tags ?? []),
  );
  expect(new Set(groups).size).toBeGreaterThan(5);
  for (const group of new Set(groups)) expect(text).toMatch(new RegExp(`^${group}$`, 'm'));
});
