import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { parseNetworks } from '../../../src/lib/ip-address.ts';
import { limits } from '../../../src/limits/limits.ts';
import { AddressGuard, type Resolver } from '../../../src/notifications/address-guard.ts';
import {
  outcomeOfError,
  outcomeOfReply,
  postToTarget,
  type RequestTimeouts,
  retryAfterMs,
} from '../../../src/notifications/target-request.ts';
import { rejectedError } from '../../support/lib/caught.ts';

const loopback = parseNetworks('127.0.0.1, ::1');
const closing: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  closing.push(close);
  return (server.address() as AddressInfo).port;
}

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A receiver that answers as told. */
async function receiver(answer: (reply: ServerResponse, request: IncomingMessage) => void) {
  const received: Received[] = [];
  const port = await listening(
    createServer(async (request, reply) => {
      let body = '';
      for await (const piece of request) body += String(piece);
      received.push({ headers: request.headers, body });
      answer(reply, request);
    }),
  );
  return { port, received };
}

interface Asked {
  readonly resolve?: Resolver;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeouts?: RequestTimeouts;
  readonly mustBeListed?: boolean;
  readonly signal?: AbortSignal;
  readonly allowed?: ReturnType<typeof parseNetworks>;
}

const post = (url: string, asked: Asked = {}) =>
  postToTarget(
    new AddressGuard('allowed' in asked ? asked.allowed : loopback, asked.resolve),
    {
      url: new URL(url),
      headers: asked.headers ?? {},
      body: '{"é":1}',
      skipTlsCheck: false,
      mustBeListed: asked.mustBeListed ?? false,
    },
    asked.signal ?? new AbortController().signal,
    asked.timeouts,
  );

describe('a request to a target', () => {
  it('posts JSON on a connection of its own, and reads the reply', async () => {
    const { port, received } = await receiver((reply) =>
      reply.writeHead(202, { 'retry-after': '7' }).end('yes'),
    );
    const reply = await post(`http://127.0.0.1:${port}/hook?a=b`, { headers: { 'x-own': 'value' } });
    expect(reply).toEqual({ status: 202, retryAfterMs: 7000, text: 'yes' });
    expect(received[0]?.body).toBe('{"é":1}');
    expect(received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '8',
      connection: 'close',
      'x-own': 'value',
      host: `127.0.0.1:${port}`,
    });
  });

  it('asks for a name once, and connects to the address that was checked', async () => {
    const { port, received } = await receiver((reply) => reply.end());
    const answers = ['127.0.0.1', '10.0.0.1'];
    const asked: string[] = [];
    // The name server says something else the second time.
    const resolve: Resolver = async (host) => {
      asked.push(host);
      return [answers[asked.length - 1] ?? ''];
    };
    expect((await post(`http://rebind.example:${port}/`, { resolve })).status).toBe(200);
    expect(asked).toEqual(['rebind.example']);
    expect(received[0]?.headers.host).toBe(`rebind.example:${port}`);
  });

  it('connects to nothing if the second answer of the name server is special', async () => {
    const { port, received } = await receiver((reply) => reply.end());
    const allowed = parseNetworks('192.0.2.1');
    const resolve: Resolver = async () => ['127.0.0.1'];
    const error = await rejectedError(post(`http://rebind.example:${port}/`, { resolve, allowed }));
    expect(error.code).toBe('target_refused');
    expect(received).toEqual([]);
  });

  it('follows no redirect', async () => {
    const { port, received } = await receiver((reply, request) =>
      reply.writeHead(307, { location: `http://${request.headers.host}/again` }).end(),
    );
    const reply = await post(`http://127.0.0.1:${port}/`);
    expect(reply.status).toBe(307);
    expect(outcomeOfReply(reply)).toMatchObject({ kind: 'failed', error: { status: 307 } });
    expect(received).toHaveLength(1);
  });

  it('uses no proxy of the environment', async () => {
    const proxy = await receiver((reply) => reply.end());
    const { port, received } = await receiver((reply) => reply.end());
    const before = process.env['http_proxy'];
    process.env['http_proxy'] = `http://127.0.0.1:${proxy.port}`;
    try {
      await post(`http://127.0.0.1:${port}/`);
    } finally {
      if (before === undefined) delete process.env['http_proxy'];
      else process.env['http_proxy'] = before;
    }
    expect([received.length, proxy.received.length]).toEqual([1, 0]);
  });

  it('reads little of a reply that does not end', async () => {
    let sent = 0;
    const { port } = await receiver((reply) => {
      const piece = Buffer.alloc(1024, 'x');
      const write = () => {
        while (!reply.destroyed && reply.write(piece)) sent += piece.length;
      };
      reply.on('drain', write);
      write();
    });
    const reply = await post(`http://127.0.0.1:${port}/`);
    expect(reply.text).toHaveLength(limits.maxTargetReplyBytes);
    // What the buffers of the sockets take.
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  it('ends when there is no whole reply in time, whatever trickles in', async () => {
    const timers: NodeJS.Timeout[] = [];
    const { port } = await receiver((reply) => {
      timers.push(setInterval(() => reply.write('x'), 20));
      reply.on('close', () => timers.forEach(clearInterval));
    });
    const timeouts = { connectMs: 10_000, totalMs: 300 };
    const error = await rejectedError(post(`http://127.0.0.1:${port}/`, { timeouts }));
    expect(error.code).toBe('target_unreachable');
    expect(error.message).toBe('no whole reply after 300 ms');
    expect(outcomeOfError(error).kind).toBe('retry');
  });

  it('ends when no TLS connection is made in time', async () => {
    // It accepts, and says nothing.
    const port = await listening(createTcpServer(() => {}));
    const timeouts = { connectMs: 200, totalMs: 60_000 };
    const error = await rejectedError(post(`https://127.0.0.1:${port}/`, { timeouts }));
    expect(error.message).toBe('no connection after 200 ms');
  });

  it('is tried again when the connection is refused or closed', async () => {
    const closed = await listening(createTcpServer((socket) => socket.destroy()));
    const port = await listening(createServer());
    await closing.pop()?.();
    for (const each of [closed, port]) {
      const error = await rejectedError(post(`http://127.0.0.1:${each}/`));
      expect(outcomeOfError(error)).toMatchObject({ kind: 'retry', error: { code: 'target_unreachable' } });
    }
  });

  it('is refused for headers that are too large, and for another protocol', async () => {
    const large = await receiver((reply) => reply.writeHead(200, { 'x-large': 'x'.repeat(20_000) }).end());
    expect((await rejectedError(post(`http://127.0.0.1:${large.port}/`))).code).toBe('target_unreachable');
    const other = await listening(
      createTcpServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () =>
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
        );
      }),
    );
    expect((await rejectedError(post(`http://127.0.0.1:${other}/`))).code).toBe('target_unreachable');
  });

  it('ends when the service stops', async () => {
    const { port } = await receiver(() => stop.abort());
    const stop = new AbortController();
    const error = await rejectedError(post(`http://127.0.0.1:${port}/`, { signal: stop.signal }));
    expect(error.message).toBe('the service is stopping');
    expect((await rejectedError(post(`http://127.0.0.1:${port}/`, { signal: stop.signal }))).message).toBe(
      'the service is stopping',
    );
  });

  it('takes credentials over plain HTTP only to networks of the operator', async () => {
    const { port, received } = await receiver((reply) => reply.end());
    const headers = { Authorization: 'Bearer x' };
    expect((await post(`http://127.0.0.1:${port}/`, { headers })).status).toBe(200);
    const resolve: Resolver = async () => ['8.8.8.8'];
    const refused = await rejectedError(post(`http://public.example:${port}/`, { headers, resolve }));
    expect(refused.code).toBe('target_refused');
    expect(outcomeOfError(refused).kind).toBe('failed');
    const elsewhere = post(`http://public.example:${port}/`, { resolve, mustBeListed: true });
    expect((await rejectedError(elsewhere)).code).toBe('target_refused');
    expect(received).toHaveLength(1);
  });
});

describe('the outcome of a reply', () => {
  const kind = (status: number) => outcomeOfReply({ status, retryAfterMs: undefined, text: '' }).kind;

  it('is what most services mean by a status', () => {
    expect([200, 202, 204].map(kind)).toEqual(['delivered', 'delivered', 'delivered']);
    expect([408, 429, 500, 503, 504].map(kind)).toEqual(['retry', 'retry', 'retry', 'retry', 'retry']);
    expect([301, 400, 401, 403, 404, 410, 413].map(kind)).toEqual(Array(7).fill('failed'));
  });

  it('says how long to wait', () => {
    expect(outcomeOfReply({ status: 429, retryAfterMs: 30_000, text: '' })).toMatchObject({
      afterMs: 30_000,
    });
    const nowMs = Date.UTC(2026, 0, 31, 12);
    expect(retryAfterMs('120', nowMs)).toBe(120_000);
    expect(retryAfterMs('Sat, 31 Jan 2026 12:01:00 GMT', nowMs)).toBe(60_000);
    expect(retryAfterMs('Sat, 31 Jan 2026 11:00:00 GMT', nowMs)).toBe(0);
    expect(retryAfterMs('soon', nowMs)).toBeUndefined();
    expect(retryAfterMs(undefined, nowMs)).toBeUndefined();
  });

  it('shows nothing of the body', () => {
    const outcome = outcomeOfReply({ status: 500, retryAfterMs: undefined, text: 'secret of the network' });
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });
});
