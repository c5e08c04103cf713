import { request } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import {
  adminCredentials,
  auth,
  type Harness,
  maxBodyBytes,
  problemOf,
  RawClient,
  someCounts,
  startServer,
  waitFor,
} from './http-harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startServer();
  await harness.post('/api/v1/ingest', '[]', stream); // the credentials are known from here on
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.ingest.requests.length = 0;
  harness.ingest.reserved.length = 0;
  harness.ingest.reserveError = undefined;
  harness.ingest.admitError = undefined;
});

const stream = { 'x-p-stream': 'app' };
const head = { Authorization: adminCredentials, 'X-P-Stream': 'app' };
const bodies = () => harness.ingest.requests.map(({ body }) => Buffer.from(body).toString('latin1'));
const settled = () => waitFor(() => harness.ingest.openReservations === 0);

/** Posts through node:http, chunked when no length is given. */
const nodePost = (
  pieces: readonly Uint8Array[],
  headers: Readonly<Record<string, string | number>>,
): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      `${harness.url}/api/v1/ingest`,
      { method: 'POST', headers: { ...auth, ...stream, ...headers } },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => {
          text += chunk;
        });
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    for (const piece of pieces) outgoing.write(piece);
    outgoing.end();
  });

describe('a body', () => {
  it('arrives byte for byte, with its length declared or chunked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 150_000 }), { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        async (pieces, chunked) => {
          const whole = Buffer.concat(pieces);
          const headers = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': whole.length };
          expect((await nodePost(pieces, headers)).status).toBe(200);
          const received = harness.ingest.requests.at(-1)?.body ?? new Uint8Array(0);
          expect(Buffer.compare(received, whole)).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
    expect(harness.ingest.openReservations).toBe(0);
  });

  it('may be empty', async () => {
    expect((await harness.post('/api/v1/ingest', '', stream)).status).toBe(200);
    expect((await nodePost([], { 'transfer-encoding': 'chunked' })).status).toBe(200);
    expect(bodies()).toEqual(['', '']);
  });

  it('may come slowly', async () => {
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', { ...head, 'Content-Length': '10' });
    for (const piece of ['ab', 'cdefg', 'hi', 'j']) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      client.socket.write(piece);
    }
    await client.until(({ statuses }) => statuses.length > 0);
    expect(client.statuses).toEqual([200]);
    expect(bodies()).toEqual(['abcdefghij']);
    client.socket.destroy();
  });

  it('holds its room from the first byte to the reply', async () => {
    let open = 0;
    harness.ingest.respond = () => {
      open = harness.ingest.openReservations;
      return someCounts;
    };
    await harness.post('/api/v1/ingest', 'x'.repeat(1000), stream);
    expect(open).toBe(1);
    expect(harness.ingest.reserved).toEqual([1000]);
    expect(harness.ingest.openReservations).toBe(0);
  });

  it('that is asked for with Expect: 100-continue is taken', async () => {
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', { ...head, 'Content-Length': '3', Expect: '100-continue' });
    await client.until(({ received }) => received.includes('100 Continue'));
    client.socket.write('abc');
    await client.until(({ statuses }) => statuses.includes(200));
    expect(bodies()).toEqual(['abc']);
    client.socket.destroy();
  });

  it('that is refused while it comes gets its reply, also where the connection ends with that', async () => {
    const body = Buffer.alloc(20 * 2 ** 20, 'x');
    const headers = { connection: 'close', 'content-length': body.length };
    const wrong = { authorization: `Basic ${Buffer.from('admin:wrong password').toString('base64')}` };
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        nodePost([body], index % 2 === 0 ? headers : { ...headers, ...wrong }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(
      replies.map((_, index) => (index % 2 === 0 ? 413 : 401)),
    );
  });

  it('that is refused and does not come to its end is waited for no longer than bounded', async () => {
    const client = await RawClient.open(harness.port);
    const length = String(maxBodyBytes + 1);
    client.request('POST /api/v1/ingest', { ...head, 'Content-Length': length, Connection: 'close' }, 'x');
    await client.until(({ statuses }) => statuses.length > 0);
    expect(client.statuses).toEqual([413]);
  });

  it('of an upload that breaks off is dropped and its room given back', async () => {
    for (const headers of [{ 'Content-Length': '100' }, { 'Transfer-Encoding': 'chunked' }]) {
      const client = await RawClient.open(harness.port);
      client.request('POST /api/v1/ingest', { ...head, ...headers }, '5\r\nabcde\r\n');
      await waitFor(() => harness.ingest.openReservations === 1);
      client.socket.destroy();
      await settled();
    }
    expect(harness.ingest.requests).toEqual([]);
  });

  it('with a transfer coding other than chunked is refused', async () => {
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', { ...head, 'Transfer-Encoding': 'gzip, chunked' }, '0\r\n\r\n');
    await client.until(({ received }) => received.includes('}'));
    expect(client.statuses).toEqual([400]);
    expect(client.received).toContain('bad_framing');
    client.socket.destroy();
  });

  it.each([
    ['two lengths', { 'Content-Length': '3', 'content-length': '5' }, 'abcde'],
    ['a length that is no number', { 'Content-Length': '3x' }, 'abc'],
    ['a negative length', { 'Content-Length': '-3' }, 'abc'],
    ['a length and chunks', { 'Content-Length': '3', 'Transfer-Encoding': 'chunked' }, '0\r\n\r\n'],
    ['a chunk size that is no number', { 'Transfer-Encoding': 'chunked' }, 'zz\r\nabc\r\n'],
  ])('with %s is refused, and nothing is written or kept', async (_, headers, body) => {
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', { ...head, ...headers } as Record<string, string>, body);
    await client.until(({ statuses }) => statuses.length > 0);
    expect(client.statuses[0]).toBe(400);
    await settled();
    expect(harness.ingest.requests).toEqual([]);
    client.socket.destroy();
  });
});

describe('a body that is too large', () => {
  it('fits to the byte', async () => {
    const largest = Buffer.alloc(maxBodyBytes);
    expect((await nodePost([largest], { 'content-length': largest.length })).status).toBe(200);
    expect((await nodePost([largest], { 'transfer-encoding': 'chunked' })).status).toBe(200);
    expect(harness.ingest.requests.map(({ body }) => body.length)).toEqual([maxBodyBytes, maxBodyBytes]);
  });

  it('is refused by its declared length before a byte is read', async () => {
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', { ...head, 'Content-Length': String(maxBodyBytes + 1) });
    await client.until(({ received }) => received.includes('}'));
    expect(client.statuses).toEqual([413]);
    expect(client.received).toContain(`"maxBytes":${maxBodyBytes}`);
    expect(harness.ingest.reserved).toEqual([]);
    client.socket.destroy();
  });

  it('is refused while it grows, and the connection is cut', async () => {
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', { ...head, 'Transfer-Encoding': 'chunked' });
    const piece = 'x'.repeat(0x10000);
    for (let sent = 0; sent <= maxBodyBytes + 0x10000 && !client.closed; sent += piece.length) {
      client.socket.write(`10000\r\n${piece}\r\n`);
    }
    await client.until(({ statuses, closed }) => statuses.length > 0 && closed);
    expect(client.statuses).toEqual([413]);
    expect(client.received).toContain('Connection: close');
    await settled();
    expect(harness.ingest.requests).toEqual([]);
    const reservedBytes = harness.ingest.reserved.reduce((total, bytes) => total + bytes, 0);
    expect(reservedBytes).toBeLessThanOrEqual(maxBodyBytes);
  });

  it('does not keep a client that sends all of it from seeing the reply', async () => {
    const body = Buffer.alloc(32 * 1024 * 1024);
    const byNode = await nodePost([body], { 'content-length': body.length });
    expect(byNode.status).toBe(413);
    expect(JSON.parse(byNode.text)).toMatchObject({ code: 'body_too_large' });
    const byFetch = await harness.post('/api/v1/ingest', body, stream);
    expect((await problemOf(byFetch)).code).toBe('body_too_large');
    const unknown = await harness.post('/api/v1/ingest', body, { ...stream, 'x-api-key': 'unknown' });
    expect(unknown.status).toBe(401);
  });

  it('has its own bound on each route', async () => {
    const response = await harness.post('/api/v1/query', Buffer.alloc(1024 * 1024 + 1, ' '));
    expect(response.status).toBe(413);
  });
});

describe('a refusal before the body', () => {
  it('leaves the connection usable when the rest of the body has come', async () => {
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', { Authorization: 'Basic nobody', 'Content-Length': '10' }, 'abc');
    await client.until(({ received }) => received.includes('}'));
    // What follows is still that body, whatever it looks like.
    client.socket.write('GET / X');
    client.request('GET /api/v1/liveness', {});
    await client.until(({ statuses }) => statuses.length === 2);
    expect(client.statuses).toEqual([401, 200]);
    client.socket.destroy();
  });

  it('for want of room says when to come again', async () => {
    harness.ingest.reserveError = new AppError('overloaded', 'too many bodies');
    const response = await harness.post('/api/v1/ingest', 'x'.repeat(100), stream);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect((await problemOf(response)).code).toBe('overloaded');
  });

  it.each([
    ['/api/v1/ingest', 'application/json', 429, 429],
    ['/v1/logs', 'application/json', 429, 8],
    ['/v1/prometheus/write', 'application/x-protobuf', 503, 503],
  ])(
    'of %s that comes too fast is refused as its senders understand it',
    async (path, type, status, code) => {
      const retryAfterSeconds = 7.1;
      harness.ingest.admitError = new AppError('rate_limited', 'too fast', { retryAfterSeconds });
      const headers = { ...stream, 'content-type': type, 'content-encoding': 'snappy' };
      const response = await harness.post(
        path,
        'x'.repeat(100),
        path === '/v1/logs' ? { 'content-type': type } : headers,
      );
      expect([response.status, response.headers.get('retry-after')]).toEqual([status, '8']);
      expect(await response.json()).toMatchObject(
        path === '/v1/logs' ? { code } : { code: 'rate_limited', status: code },
      );
      expect([harness.ingest.reserved, harness.ingest.requests]).toEqual([[], []]);
    },
  );

  it('for want of room in the middle of a chunked body gives back what it had', async () => {
    harness.ingest.reserveLimitBytes = 200_000;
    harness.ingest.reserveError = new AppError('overloaded', 'too many bodies');
    const pieces = Array.from({ length: 8 }, () => Buffer.alloc(60_000));
    const reply = await nodePost(pieces, { 'transfer-encoding': 'chunked' }).catch((error: unknown) => error);
    // The connection is closed while the rest of the body is sent, so a client that only writes may miss the
    // reply.
    if (!(reply instanceof Error)) expect(reply).toMatchObject({ status: 503 });
    await settled();
    expect(harness.ingest.reserved).toEqual([65_536, 65_536]);
    expect(harness.ingest.requests).toEqual([]);
  });
});
