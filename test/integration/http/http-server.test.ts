import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Gate } from '../../../src/access/gate.ts';
import { AuditLog } from '../../../src/audit/audit-log.ts';
import { createHttpServer } from '../../../src/http/server/http-server.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import {
  adminCredentials,
  deferred,
  type Harness,
  library,
  oneTenant,
  onNodeHttp,
  RawClient,
  resultOf,
  someCounts,
  startServer,
  waitFor,
} from './http-harness.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await startServer();
});
afterEach(() => harness.close());

const stream = { 'x-p-stream': 'app' };
const head = { Authorization: adminCredentials, 'X-P-Stream': 'app' };

describe('listen', () => {
  it('fails when the port is taken', async () => {
    const second = createHttpServer(library);
    await expect(second.listen('127.0.0.1', harness.port)).rejects.toThrow(
      `cannot listen on 127.0.0.1:${harness.port}`,
    );
    await second.close(0);
  });

  it('fails on an address that is not local', async () => {
    const second = createHttpServer(library);
    await expect(second.listen('192.0.2.1', 0)).rejects.toThrow('cannot listen on 192.0.2.1:0');
    await second.close(0);
  });
});

describe('until the service has read what it has stored', () => {
  it('says that it lives and is not ready, and takes nothing', async () => {
    const server = createHttpServer(library);
    const { port } = await server.listen('127.0.0.1', 0);
    try {
      const ask = async (path: string, init?: RequestInit) =>
        await fetch(`http://127.0.0.1:${port}${path}`, init);
      expect(await (await ask('/api/v1/liveness')).json()).toEqual({ status: 'alive' });
      for (const reply of [
        await ask('/api/v1/readiness'),
        await ask('/api/v1/ingest', { method: 'POST', body: '[]', headers: head }),
        await ask('/nowhere'),
      ]) {
        expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
        expect(await reply.json()).toMatchObject({ code: 'starting' });
      }
      expect(await (await ask('/nowhere', { method: 'HEAD' })).text()).toBe('');
      server.serve({
        routes: harness.routes,
        gate: new Gate({ authenticate: () => undefined }, oneTenant),
        metrics: createMetrics(),
        log: createLogger('silent'),
        audit: new AuditLog(createLogger('silent'), systemClock, { add: () => {} }),
        clock: systemClock,
      });
      expect((await ask('/api/v1/readiness')).status).toBe(200);
      expect((await ask('/nowhere')).status).toBe(404);
    } finally {
      await server.close(0);
    }
  });
});

describe('more connections than there may be', () => {
  it('are told so and closed, and one that ends makes room', async () => {
    const server = createHttpServer({ ...library, maxConnections: 3 });
    const { port } = await server.listen('127.0.0.1', 0);
    try {
      const open: RawClient[] = [];
      for (let count = 1; count <= 3; count += 1) {
        const client = await RawClient.open(port);
        client.request('GET /api/v1/liveness', {});
        await client.until(({ statuses }) => statuses.length === 1);
        open.push(client);
      }
      for (let count = 1; count <= 5; count += 1) {
        const refused = await RawClient.open(port);
        await refused.until(({ closed }) => closed);
        expect(refused.statuses).toEqual([503]);
        expect(refused.received).toContain('"code":"overloaded"');
        expect(refused.received).toContain('Retry-After: 1');
      }
      for (const client of open) {
        client.request('GET /api/v1/liveness', {});
        await client.until(({ statuses }) => statuses.length === 2);
        expect(client.statuses).toEqual([200, 200]);
      }
      open[0]?.socket.destroy();
      await waitFor(async () => {
        const client = await RawClient.open(port);
        client.request('GET /api/v1/liveness', {});
        await client.until(({ statuses }) => statuses.length === 1);
        client.socket.destroy();
        return client.statuses[0] === 200;
      });
    } finally {
      await server.close(0);
    }
  });
});

describe('close', () => {
  it('lets a request under way finish, takes no new connection, and ends when it is done', async () => {
    const gate = deferred();
    harness.ingest.respond = async () => {
      await gate.promise;
      return someCounts;
    };
    const answered = harness.post('/api/v1/ingest', '[]', stream);
    await waitFor(() => harness.ingest.requests.length === 1);
    let closed = false;
    const closing = harness.server.close(10_000).then(() => {
      closed = true;
    });
    await expect(RawClient.open(harness.port)).rejects.toThrow();
    expect(closed).toBe(false);
    gate.resolve();
    const response = await answered;
    expect(response.status).toBe(200);
    expect(response.headers.get('connection')).toBe('close');
    await closing;
  });

  it('refuses a request that comes meanwhile on an open connection', async () => {
    const gate = deferred();
    harness.ingest.respond = async () => {
      await gate.promise;
      return someCounts;
    };
    const idle = await RawClient.open(harness.port);
    const busy = harness.post('/api/v1/ingest', '[]', stream);
    await waitFor(() => harness.ingest.requests.length === 1);
    const closing = harness.server.close(10_000);
    idle.request('POST /api/v1/ingest', { ...head, 'Content-Length': '2' }, '[]');
    await idle.until(({ closed }) => closed);
    expect(idle.statuses).toEqual([503]);
    expect(idle.received).toContain('shutting_down');
    expect(idle.received).toContain('Retry-After: 1');
    gate.resolve();
    expect((await busy).status).toBe(200);
    await closing;
    expect(harness.ingest.requests.length).toBe(1);
  });

  it('closes idle connections', async () => {
    const idle = await RawClient.open(harness.port);
    idle.request('GET /api/v1/liveness', {});
    await idle.until(({ statuses }) => statuses.length === 1);
    await harness.server.close(10_000);
    await idle.until(({ closed }) => closed);
  });

  it('does not wait longer than it is told', async () => {
    harness.ingest.respond = () => deferred<never>().promise;
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', { ...head, 'Content-Length': '2' }, '[]');
    await waitFor(() => harness.ingest.requests.length === 1);
    // The reply never comes.
    await harness.server.close(100);
    await client.until(({ closed }) => closed);
    expect(client.received).toBe('');
  });

  it('may be asked for twice', async () => {
    await Promise.all([harness.server.close(0), harness.server.close(0)]);
  });
});

describe('a connection', () => {
  it('carries requests one after another', async () => {
    const client = await RawClient.open(harness.port);
    for (let round = 1; round <= 50; round += 1) {
      client.request(
        'POST /api/v1/ingest',
        { ...head, 'Content-Length': '5' },
        `b${String(round).padStart(4)}`,
      );
      await client.until(({ statuses }) => statuses.length === round);
    }
    expect(new Set(client.statuses)).toEqual(new Set([200]));
    expect(harness.ingest.requests.map(({ body }) => Number(Buffer.from(body).toString().slice(1)))).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
    client.socket.destroy();
  });

  it('carries pipelined requests that are answered at once', async () => {
    const client = await RawClient.open(harness.port);
    const get = 'GET /api/v1/liveness HTTP/1.1\r\nHost: test\r\n\r\n';
    client.socket.write(get + get + get.replace('liveness', 'nothing') + get);
    await client.until(({ statuses }) => statuses.length === 4);
    expect(client.statuses).toEqual([200, 200, 404, 200]);
    client.socket.destroy();
  });

  it.runIf(onNodeHttp)('carries pipelined requests in their order, one at a time, on node:http', async () => {
    const gate = deferred();
    harness.ingest.respond = async () => {
      await gate.promise;
      return someCounts;
    };
    await harness.post('/api/v1/query', '{"query":"SELECT 1"}'); // the credentials are known from here on
    const client = await RawClient.open(harness.port);
    const post = { ...head, 'Content-Length': '2' };
    client.request('POST /api/v1/ingest', post, '[]');
    client.request('POST /api/v1/ingest', post, '[]');
    client.request('GET /api/v1/nothing', {});
    client.request('GET /api/v1/liveness', { Connection: 'close' });
    client.request('GET /api/v1/liveness', {});
    await waitFor(() => harness.ingest.requests.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(harness.ingest.requests.length).toBe(1);
    gate.resolve();
    await client.until(({ closed }) => closed);
    // Nothing behind a request that ends the connection.
    expect(client.statuses).toEqual([200, 200, 404, 200]);
  });

  it.runIf(onNodeHttp)('ends under more pipelined requests than may wait', async () => {
    harness.ingest.respond = () => deferred<never>().promise;
    await harness.post('/api/v1/query', '{"query":"SELECT 1"}');
    const client = await RawClient.open(harness.port);
    const get = 'GET /api/v1/liveness HTTP/1.1\r\nHost: test\r\n\r\n';
    client.request('POST /api/v1/ingest', { ...head, 'Content-Length': '2' }, '[]');
    await waitFor(() => harness.ingest.requests.length === 1);
    client.socket.write(get.repeat(limits.maxPipelinedRequests + 1));
    await client.until(({ closed }) => closed);
    expect(client.received).toBe('');
    await harness.server.close(0);
  });

  it.runIf(onNodeHttp)('that carries what is no request behind one ends when that is answered', async () => {
    const gate = deferred();
    harness.ingest.respond = async () => {
      await gate.promise;
      return someCounts;
    };
    await harness.post('/api/v1/query', '{"query":"SELECT 1"}');
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', { ...head, 'Content-Length': '2' }, '[]');
    await waitFor(() => harness.ingest.requests.length === 1);
    client.socket.write('\0\0\0\0\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    gate.resolve();
    await client.until(({ closed }) => closed);
    expect(client.statuses).toEqual([200]);
    expect(client.received).toContain('Connection: close');
  });

  it.runIf(onNodeHttp)('may speak HTTP/1.0', async () => {
    const client = await RawClient.open(harness.port);
    client.socket.write('GET /api/v1/liveness HTTP/1.0\r\n\r\n');
    await client.until(({ closed }) => closed);
    expect(client.statuses).toEqual([200]);
    expect(client.received.split('\r\n\r\n')[1]).toBe('{"status":"alive"}');
    harness.query.respond = () => resultOf(['a'], [Buffer.alloc(100_000, '1')]);
    const body = '{"query":"SELECT 1"}';
    const query = await RawClient.open(harness.port);
    const lines = [`Authorization: ${adminCredentials}`, `Content-Length: ${body.length}`];
    query.socket.write(`POST /api/v1/query HTTP/1.0\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
    await query.until(({ closed }) => closed);
    expect(query.received).not.toContain('Transfer-Encoding');
    expect(query.received.split('\r\n\r\n')[1]).toBe('1'.repeat(100_000));
  });

  it.skipIf(onNodeHttp)(
    'is closed, without a wrong reply, when a request comes before the last was answered',
    async () => {
      const gate = deferred();
      harness.ingest.respond = async () => {
        await gate.promise;
        return someCounts;
      };
      await harness.post('/api/v1/query', '{"query":"SELECT 1"}'); // the credentials are known from here on
      const client = await RawClient.open(harness.port);
      client.request('POST /api/v1/ingest', { ...head, 'Content-Length': '2' }, '[]');
      await waitFor(() => harness.ingest.requests.length === 1);
      client.request('GET /api/v1/liveness', {});
      await client.until(({ closed }) => closed);
      gate.resolve();
      await waitFor(() => harness.ingest.openReservations === 0);
      expect(client.received).toBe('');
    },
  );

  it('survives its client leaving during the write, which is finished and counted', async () => {
    const gate = deferred();
    harness.ingest.respond = async () => {
      await gate.promise;
      return someCounts;
    };
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', { ...head, 'Content-Length': '2' }, '[]');
    await waitFor(() => harness.ingest.requests.length === 1);
    client.socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    // The body is still in use: its room is not free before the write has ended.
    expect(harness.ingest.openReservations).toBe(1);
    gate.resolve();
    await waitFor(() => harness.ingest.openReservations === 0);
    await waitFor(async () => (await harness.metrics.registry.metrics()).includes('status="499"} 1'));
  });
});

describe('a large reply', () => {
  function* slices(bytes: Buffer) {
    for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
  }
  const records = Buffer.alloc(64 * 1024 * 1024, '{"a":1},');

  it('comes whole, whatever the pace of the client', async () => {
    harness.query.respond = () => resultOf(['a'], slices(records));
    const response = await harness.post('/api/v1/query?fields=true', '{"query":"SELECT 1"}');
    const whole = Buffer.from(await response.arrayBuffer());
    const prefix = '{"fields":["a"],"records":';
    const suffix = ',"statistics":{"elapsedMs":12.346,"rowsRead":5,"bytesRead":40}}';
    expect(whole.length).toBe(prefix.length + records.length + suffix.length);
    expect(whole.subarray(0, prefix.length).toString()).toBe(prefix);
    expect(Buffer.compare(whole.subarray(prefix.length, -suffix.length), records)).toBe(0);
    expect(whole.subarray(-suffix.length).toString()).toBe(suffix);
  });

  it('is not made for a client that does not read, and ends when it leaves', async () => {
    let madeBytes = 0;
    let ended = false;
    function* made() {
      try {
        for (;;) {
          madeBytes += 1024 * 1024;
          yield Buffer.alloc(1024 * 1024, '{"a":1},');
        }
      } finally {
        ended = true;
      }
    }
    harness.query.respond = () => resultOf(['a'], made());
    const client = await RawClient.open(harness.port);
    client.socket.pause();
    const body = '{"query":"SELECT 1"}';
    const rssBefore = process.memoryUsage.rss();
    client.request('POST /api/v1/query', { ...head, 'Content-Length': String(body.length) }, body);
    await waitFor(() => harness.query.requests.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(process.memoryUsage.rss() - rssBefore).toBeLessThan(32 * 1024 * 1024);
    // What the sockets of both sides hold, and a piece.
    expect(madeBytes).toBeLessThan(16 * 1024 * 1024);
    expect(ended).toBe(false);
    client.socket.destroy();
    await waitFor(() => ended);
    await waitFor(async () => (await harness.metrics.registry.metrics()).includes('status="499"} 1'));
    // The server has nothing left to wait for.
    await harness.server.close(2 ** 30);
  });
});
