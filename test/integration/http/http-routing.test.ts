import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import type { Reply } from '../../../src/http/server/reply.ts';
import { noReference } from '../../support/http/no-reference.ts';
import { auth, type Harness, problemOf, RawClient, resultOf, startServer } from './http-harness.ts';

let harness: Harness;
const jsonBytesReply = (body: readonly Uint8Array[]): Reply => ({
  status: 200,
  contentType: 'application/json',
  body,
});
beforeAll(async () => {
  harness = await startServer([
    {
      method: 'GET',
      path: '/test/throws',
      permission: 'public',
      reference: noReference,
      handler: () => {
        throw new TypeError('secret text');
      },
    },
    {
      method: 'GET',
      path: '/test/bytes',
      permission: 'public',
      reference: noReference,
      handler: () => jsonBytesReply([Buffer.from('[1]')]),
    },
    {
      method: 'GET',
      path: '/test/kept',
      permission: 'public',
      reference: noReference,
      handler: () => ({ ...jsonBytesReply([]), cacheControl: 'max-age=60' }),
    },
    {
      method: 'GET',
      path: '/test/empty',
      permission: 'public',
      reference: noReference,
      handler: () => jsonBytesReply([]),
    },
  ]);
});
afterAll(() => harness.close());

const get = (path: string, init: RequestInit = {}) => fetch(harness.url + path, init);

describe('the route table', () => {
  it('has these public routes and no others', () => {
    const open = harness.routes.filter((route) => route.permission === 'public').map((route) => route.path);
    expect(open.filter((path) => !path.startsWith('/test/'))).toEqual([
      '/',
      '/api/v1/liveness',
      '/api/v1/readiness',
      '/metrics',
    ]);
  });

  it('asks for credentials on every other route, whatever else is wrong', async () => {
    const closed = harness.routes.filter((route) => route.permission !== 'public');
    expect(closed.length).toBeGreaterThan(3);
    for (const route of closed) {
      const response = await get(route.path, {
        method: route.method,
        ...(route.method === 'GET' ? {} : { body: '{', headers: { 'content-type': 'text/nonsense' } }),
      });
      expect([route.path, response.status]).toEqual([route.path, 401]);
      await response.body?.cancel();
    }
  });

  it('answers an unknown path with 404', async () => {
    for (const path of ['/api/v1/nothing', '/api/v1/ingest/', '/API/v1/ingest', '//', '/api/v1/logstream/']) {
      const response = await get(path, { method: 'POST', body: 'x' });
      expect(response.status).toBe(404);
      expect((await problemOf(response)).code).toBe('not_found');
    }
  });

  it('answers an unknown method with 405 and the methods that there are', async () => {
    const response = await get('/api/v1/ingest', { method: 'DELETE' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect((await problemOf(response)).code).toBe('method_not_allowed');
    const liveness = await get('/api/v1/liveness', { method: 'POST', body: 'x' });
    expect(liveness.headers.get('allow')).toBe('GET, HEAD');
    const client = await RawClient.open(harness.port);
    client.request('BREW /api/v1/liveness', {});
    await client.until(({ statuses }) => statuses.length > 0);
    expect(client.statuses).toEqual([405]);
    client.socket.destroy();
  });
});

describe('HEAD', () => {
  it.each(['/api/v1/liveness', '/metrics', '/test/bytes', '/', '/api/v1/about'])(
    'has the headers of GET and no body on %s',
    async (path) => {
      const whole = await get(path, { headers: auth });
      const bytes = (await whole.arrayBuffer()).byteLength;
      const head = await get(path, { method: 'HEAD', headers: auth });
      expect(head.status).toBe(200);
      expect(head.headers.get('content-type')).toBe(whole.headers.get('content-type'));
      if (path !== '/metrics') expect(head.headers.get('content-length')).toBe(String(bytes));
      expect(await head.text()).toBe('');
    },
  );

  it('leaves the connection usable, for errors too', async () => {
    const client = await RawClient.open(harness.port);
    for (const [index, path] of [
      '/api/v1/liveness',
      '/nothing',
      '/test/bytes',
      '/api/v1/liveness',
    ].entries()) {
      client.request(`HEAD ${path}`, {});
      await client.until(({ statuses }) => statuses.length === index + 1);
    }
    expect(client.statuses).toEqual([200, 404, 200, 200]);
    expect(client.received).not.toContain('{');
    client.socket.destroy();
  });
});

describe('replies', () => {
  it('are for nobody to keep and for no browser to guess at, and do not name the server', async () => {
    harness.query.respond = () => resultOf(['a'], [Buffer.alloc(100_000, '1')]);
    const query = { method: 'POST', body: Buffer.from('{"query":"SELECT 1"}'), headers: auth };
    for (const [path, init, status] of [
      ['/', {}, 200],
      ['/api/v1/liveness', { method: 'HEAD' }, 200],
      ['/test/bytes', {}, 200],
      ['/test/empty', {}, 200],
      ['/test/throws', {}, 500],
      ['/nowhere', {}, 404],
      ['/api/v1/query', { method: 'POST' }, 401],
      ['/api/v1/query', query, 200],
      ['/v1/logs', { method: 'POST', body: '{}' }, 401],
      ['/v1/prometheus/write', { method: 'DELETE' }, 405],
    ] as const) {
      const response = await get(path, init);
      await response.arrayBuffer();
      expect([path, response.status]).toEqual([path, status]);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('uwebsockets')).toBeNull();
    }
  });

  it('of a route that says so may be kept', async () => {
    expect((await get('/test/kept')).headers.get('cache-control')).toBe('max-age=60');
  });

  it('hide what went wrong inside, and log it', async () => {
    const response = await get('/test/throws');
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain('secret');
    expect(JSON.parse(text)).toMatchObject({ code: 'internal', status: 500 });
    expect(harness.logLines.some((line) => line.includes('secret text') && line.includes('TypeError'))).toBe(
      true,
    );
  });

  it('are problems in the words of RFC 9457', async () => {
    const response = await get('/nothing');
    expect(await response.json()).toEqual({
      type: 'urn:millrace:error:not_found',
      title: 'There is nothing here',
      status: 404,
      detail: 'no route has this path',
      code: 'not_found',
    });
  });

  it('may be empty', async () => {
    const response = await get('/test/empty');
    expect(response.headers.get('content-length')).toBe('0');
    expect(await response.text()).toBe('');
  });

  it('carry no header that a client wrote', async () => {
    const response = await fetch(`${harness.url}/api/v1/logstream/a%0d%0aX-Injected:%201`, {
      method: 'POST',
      body: '[]',
      headers: auth,
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('x-injected')).toBeNull();
    expect((await problemOf(response)).detail).not.toContain('X-Injected');
  });
});

describe('status routes', () => {
  it('tell the service alive and ready', async () => {
    expect(await (await get('/api/v1/liveness')).json()).toEqual({ status: 'alive' });
    expect(await (await get('/api/v1/readiness')).json()).toEqual({
      status: 'ready',
      store: 'available',
    });
  });

  it('say why the service is not ready, and when to ask again', async () => {
    harness.notReady = new AppError('store_unavailable', 'the store is starting', { retryAfterSeconds: 1.2 });
    const response = await get('/api/v1/readiness');
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await problemOf(response)).toMatchObject({
      code: 'store_unavailable',
      detail: 'the store is starting',
    });
    harness.notReady = undefined;
    expect((await get('/api/v1/readiness')).status).toBe(200);
  });

  it('tell the version to those who may know', async () => {
    expect(await (await get('/api/v1/about', { headers: auth })).json()).toEqual({
      name: 'millrace',
      version: '1.2.3',
      node: process.versions.node,
    });
    expect((await get('/api/v1/about', { headers: { 'x-api-key': 'ingestor' } })).status).toBe(403);
  });

  it('point a visitor to the API', async () => {
    const response = await get('/');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toContain('POST /api/v1/ingest');
  });
});

describe('/metrics', () => {
  const sample = async (line: string) =>
    (await (await get('/metrics')).text()).split('\n').find((text) => text.startsWith(line));

  it('counts by route pattern, method and status, and never by what a client wrote', async () => {
    for (const path of ['/api/v1/logstream/one', '/api/v1/logstream/two']) {
      await harness.post(path, '[]');
    }
    await get('/wp-login.php?x=1');
    const client = await RawClient.open(harness.port);
    client.request('QWERTY /api/v1/ingest', {});
    await client.until(({ statuses }) => statuses.length > 0);
    client.socket.destroy();
    const text = await (await get('/metrics')).text();
    expect(text).toMatch(
      /millrace_http_requests_total\{route="\/api\/v1\/logstream\/\{dataset\}",method="POST",status="200"\} 2\n/,
    );
    expect(text).toMatch(/millrace_http_requests_total\{route="unmatched",method="any",status="404"\} /);
    expect(text).toMatch(/millrace_http_request_duration_seconds_count\{route="unmatched"\} /);
    expect(text).not.toMatch(/wp-login|QWERTY|logstream\/one/);
  });

  it('counts body bytes as sent, and rejects by code', async () => {
    const line = 'millrace_http_request_body_bytes_total{route="/api/v1/ingest"}';
    const before = Number((await sample(line))?.split(' ')[1] ?? 0);
    await harness.post('/api/v1/ingest', 'x'.repeat(1234), { 'x-p-stream': 'app' });
    expect(Number((await sample(line))?.split(' ')[1])).toBe(before + 1234);
    const rejects = async () =>
      Number((await sample('millrace_rejects_total{code="bad_dataset_name"}'))?.split(' ')[1] ?? 0);
    const rejected = await rejects();
    await harness.post('/api/v1/ingest', '[]', { 'x-p-stream': '-1' });
    expect(await rejects()).toBe(rejected + 1);
  });
});
