import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../../src/http/server/http-server.ts';
import { limits } from '../../../src/limits/limits.ts';
import {
  adminCredentials,
  type Harness,
  library,
  onNodeHttp,
  RawClient,
  startServer,
} from './http-harness.ts';

/** Must be in place before uWebSockets.js is loaded, which `prepareProcess` sees to in the program. */
const parserBytes = Number(process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ?? 4096);

let harness: Harness;
beforeAll(async () => {
  harness = await startServer();
  // From here on the credentials are cached.
  await harness.post('/api/v1/ingest', '[]', { 'x-p-stream': 'app' });
});
afterAll(() => harness.close());

/** A request that must never be served for the sender of the one before it. */
const smuggled = 'GET /api/v1/liveness HTTP/1.1\r\nHost: smuggled\r\n\r\n';
const ingest = `POST /api/v1/ingest HTTP/1.1\r\nHost: test\r\nAuthorization: ${adminCredentials}\r\nX-P-Stream: app\r\n`;

/** Sends these bytes and, in the same piece, another request; until the connection is closed. */
async function outcomeOf(bytes: string, port = harness.port): Promise<RawClient> {
  const client = await RawClient.open(port);
  client.socket.write(bytes + smuggled, 'latin1');
  await client.until(({ closed }) => closed);
  return client;
}

const bodyOf = (client: RawClient) => client.received.slice(client.received.indexOf('\r\n\r\n') + 4);

/** Headers, and a body that ends where one reader of them could think that it does. */
const misframed: ReadonlyArray<readonly [what: string, headers: string, body: string]> = [
  ['two different lengths', 'Content-Length: 3\r\nContent-Length: 5', 'abc'],
  ['the larger of two lengths first', 'Content-Length: 5\r\nContent-Length: 3', 'abcde'],
  ['the same length twice', 'Content-Length: 3\r\nContent-Length: 3', 'abc'],
  ['a list of lengths', 'Content-Length: 3, 3', 'abc'],
  ['an empty length', 'Content-Length:', ''],
  ['a length with a sign', 'Content-Length: +5', 'abcde'],
  ['a negative length', 'Content-Length: -5', 'abcde'],
  ['a length with a blank in it', 'Content-Length: 5 5', 'abcde'],
  ['a hexadecimal length', 'Content-Length: 0x5', 'abcde'],
  ['a length with an exponent', 'Content-Length: 1e1', 'abcdefghij'],
  ['a length with a fraction', 'Content-Length: 5.0', 'abcde'],
  ['a length beyond all numbers', `Content-Length: ${'9'.repeat(30)}`, 'abcde'],
  ['a coding that is not chunked', 'Transfer-Encoding: xchunked', '0\r\n\r\n'],
  ['a coding before chunked', 'Transfer-Encoding: gzip, chunked', '0\r\n\r\n'],
  ['a coding behind chunked', 'Transfer-Encoding: chunked, gzip', '0\r\n\r\n'],
  ['chunked twice in a list', 'Transfer-Encoding: chunked, chunked', '0\r\n\r\n'],
  ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
  ['another coding behind chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', '0\r\n\r\n'],
  ['the coding identity', 'Transfer-Encoding: identity', ''],
  ['an empty coding', 'Transfer-Encoding:', '0\r\n\r\n'],
  ['a length and a coding', 'Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
  ['a coding and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5', '0\r\n\r\n'],
  ['two hosts', 'Host: other', ''],
];

describe('a request whose end is not certain', () => {
  it.each(misframed)('with %s is answered once, and nothing behind it', async (_, headers, body) => {
    const written = harness.ingest.requests.length;
    const client = await outcomeOf(`${ingest}${headers}\r\n\r\n${body}`);
    expect(client.statuses).toEqual([400]);
    expect(client.received).toContain('Connection: close');
    expect(client.received).not.toContain('alive');
    expect(harness.ingest.requests.length).toBe(written);
  });

  it.each([
    ['a public route', 'GET /api/v1/liveness'],
    ['no route', 'GET /nowhere'],
    ['a route that it may not use', 'POST /v1/logs'],
    ['no body', 'HEAD /api/v1/liveness'],
  ])('is refused with a code where it asks for %s', async (_, line) => {
    const client = await outcomeOf(
      `${line} HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabc`,
    );
    expect(client.statuses).toEqual([400]);
    expect(JSON.parse(bodyOf(client))).toMatchObject({ code: 'bad_framing' });
  });

  it('is refused by a service that is still starting', async () => {
    const server = createHttpServer(library);
    const { port } = await server.listen('127.0.0.1', 0);
    try {
      for (const [, headers, body] of misframed) {
        const client = await outcomeOf(`GET / HTTP/1.1\r\nHost: test\r\n${headers}\r\n\r\n${body}`, port);
        expect([headers, client.statuses]).toEqual([headers, [400]]);
      }
      const head = 'GET /api/v1/liveness HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n';
      expect((await outcomeOf(`${head}0\r\n\r\n`, port)).statuses).toEqual([200]);
    } finally {
      await server.close(0);
    }
  });
});

describe('a request line that is none', () => {
  it.each([
    ['HTTP/0.9', 'GET /\r\n'],
    // node:http takes these two.
    ...(onNodeHttp
      ? []
      : [
          ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: test\r\n\r\n'],
          ['two blanks', 'GET  / HTTP/1.1\r\nHost: test\r\n\r\n'],
        ]),
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an absolute target', 'GET http://test/ HTTP/1.1\r\nHost: test\r\n\r\n'],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n'],
    ['bare line feeds', 'GET / HTTP/1.1\nHost: test\n\n'],
    ['a blank in the target', 'GET /a b HTTP/1.1\r\nHost: test\r\n\r\n'],
    ['a NUL in the target', 'GET /a\0b HTTP/1.1\r\nHost: test\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\nX: y\r\n\r\n'],
  ])('%s is answered once, by an error, and nothing behind it', async (_, bytes) => {
    const client = await outcomeOf(bytes);
    expect(client.statuses).toHaveLength(1);
    expect([400, 505]).toContain(client.statuses[0]);
    expect(client.received).toContain('Connection: close');
  });
});

describe('a header that is none', () => {
  const heads = [
    'Content-Length : 3',
    'Transfer-Encoding : chunked',
    'X: a\r\n folded',
    'Transfer-Encoding:\r\n chunked',
    'X: a\0b',
    'X\0: a',
    'X: a\rb',
    'X: a\nY: b',
    'no colon',
    'X(: a',
    ' X: a',
    'Content-Length: \x0b3',
    Array.from({ length: 120 }, (_, index) => `X-${index}: a`).join('\r\n'),
  ];

  const send = () => Promise.all(heads.map((head) => outcomeOf(`${ingest}${head}\r\n\r\nabc`)));

  // uWebSockets.js waits for more, though none could mend it: until ten seconds are over.
  it.skipIf(onNodeHttp)('gets no answer, and nothing behind it, until its connection is closed', async () => {
    const written = harness.ingest.requests.length;
    for (const [index, client] of (await send()).entries()) {
      expect([heads[index], client.statuses.filter((status) => status !== 431)]).toEqual([heads[index], []]);
    }
    expect(harness.ingest.requests.length).toBe(written);
  });

  it.runIf(onNodeHttp)('gets an error on node:http, and nothing behind it', async () => {
    const written = harness.ingest.requests.length;
    for (const [index, client] of (await send()).entries()) {
      expect([heads[index], client.statuses]).toEqual([
        heads[index],
        [index === heads.length - 1 ? 431 : 400],
      ]);
      expect(client.received).toContain('Connection: close');
    }
    expect(harness.ingest.requests.length).toBe(written);
  });
});

describe('chunks', () => {
  const chunked = (body: string, head = ingest) =>
    outcomeOf(`${head}Transfer-Encoding: chunked\r\n\r\n${body}`);

  const wellFormed: ReadonlyArray<readonly [what: string, body: string]> = [
    ['as they should be', '3\r\nabc\r\n0\r\n\r\n'],
    ['with a trailer', '3\r\nabc\r\n0\r\nX: y\r\n\r\n'],
    ['with an extension', '3;a="b"\r\nabc\r\n0\r\n\r\n'],
  ];

  /** What uWebSockets.js takes for chunks, and what it refuses by itself. */
  it.each<readonly [what: string, body: string]>([
    ...(onNodeHttp ? [] : wellFormed),
    ['with words behind the size', '3 words\r\nabc\r\n0\r\n\r\n'],
    ['with a digit that is none', 'g\r\nabcdefghijklmnop\r\n0\r\n\r\n'],
    ['with bare line feeds', '3\nabc\r\n0\n\r\n'],
    ['with no line break behind the data', '3\r\nabcXX0\r\n\r\n'],
    ['with other bytes at the end', '3\r\nabc\r\n0\r\nXX'],
    ['with an empty size', '\r\n\r\n'],
    ['with a signed size', '+3\r\nabc\r\n0\r\n\r\n'],
    ['with a size beyond all numbers', 'fffffffffffffffff\r\nabc\r\n0\r\n\r\n'],
  ])('%s are followed by no other request', async (_, body) => {
    const client = await chunked(body);
    expect(client.statuses.length).toBeLessThanOrEqual(1);
    expect(client.received).not.toContain('alive');
  });

  const behindChunks = async (bytes: string): Promise<RawClient> => {
    const client = await RawClient.open(harness.port);
    client.socket.write(bytes + smuggled.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), 'latin1');
    await client.until(({ closed }) => closed);
    return client;
  };

  it.runIf(onNodeHttp).each(wellFormed)(
    '%s are followed by another request on node:http',
    async (_, body) => {
      const client = await behindChunks(`${ingest}Transfer-Encoding: chunked\r\n\r\n${body}`);
      expect(client.statuses).toEqual([200, 200]);
      expect(Buffer.from(harness.ingest.requests.at(-1)?.body ?? []).toString()).toBe('abc');
    },
  );

  it.skipIf(onNodeHttp).each([
    ['a route', ingest],
    ['a public route', 'GET /api/v1/readiness HTTP/1.1\r\nHost: test\r\n'],
    ['no route', 'POST /nowhere HTTP/1.1\r\nHost: test\r\n'],
    ['nobody', 'POST /api/v1/ingest HTTP/1.1\r\nHost: test\r\n'],
    ['a query', `POST /api/v1/query HTTP/1.1\r\nHost: test\r\nAuthorization: ${adminCredentials}\r\n`],
  ])('for %s get a reply that ends the connection', async (_, head) => {
    const client = await RawClient.open(harness.port);
    const body = '{"query":"SELECT 1"}';
    client.socket.write(
      `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    );
    await client.until(({ closed }) => closed);
    expect(client.statuses).toHaveLength(1);
    expect(client.received).toContain('Connection: close');
  });

  it('that are refused are let in so far that their sender sees why', async () => {
    const client = await RawClient.open(harness.port);
    client.socket.write('POST /nowhere HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n');
    const piece = 'x'.repeat(0x8000);
    for (let bytes = 0; bytes < limits.maxDiscardedBodyBytes / 2; bytes += piece.length) {
      client.socket.write(`8000\r\n${piece}\r\n`);
    }
    client.socket.write('0\r\n\r\n');
    await client.until(({ closed }) => closed);
    expect(client.statuses).toEqual([404]);
  });

  it('that are refused are not let in without end', async () => {
    const client = await RawClient.open(harness.port);
    client.socket.write('POST /nowhere HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n');
    const piece = 'x'.repeat(0x8000);
    let sent = 0;
    while (!client.closed) {
      client.socket.write(`8000\r\n${piece}\r\n`);
      await new Promise(setImmediate);
      sent += piece.length;
      // Kernels of both sides hold some; none holds as much.
      expect(sent).toBeLessThan(64 * limits.maxDiscardedBodyBytes);
    }
  });
});

describe('headers', () => {
  const get = (headers: string) => `GET /api/v1/liveness HTTP/1.1\r\nHost: test\r\n${headers}\r\n`;

  it.each([
    ['in one header', (bytes: number) => get(`X: ${'a'.repeat(bytes)}\r\n`)],
    ['in many headers', (bytes: number) => get(`X: ${'a'.repeat(bytes / 50)}\r\n`.repeat(50))],
    ['in the target', (bytes: number) => get('').replace('liveness', `liveness?${'a'.repeat(bytes)}`)],
  ])('that are too large %s get 431, and nothing behind them', async (_, request) => {
    const client = await outcomeOf(request(limits.maxHeaderBytes));
    expect(client.statuses).toEqual([431]);
    expect(client.received).toContain('Connection: close');
    const small = await RawClient.open(harness.port);
    small.socket.write(request(Math.min(limits.maxHeaderBytes, parserBytes) - 1000));
    await small.until(({ statuses }) => statuses.length > 0);
    expect(small.statuses).toEqual([200]);
    small.socket.destroy();
  });

  it('without an end get 431', async () => {
    const client = await RawClient.open(harness.port);
    client.socket.write('GET / HTTP/1.1\r\nX: ');
    while (!client.closed) {
      client.socket.write('a'.repeat(1000));
      await new Promise(setImmediate);
    }
    expect(client.statuses).toEqual([431]);
  });

  it('or a body that come too slowly end with their connections', async () => {
    const [head, body] = [await RawClient.open(harness.port), await RawClient.open(harness.port)];
    body.socket.write(`${ingest}Content-Length: 1000\r\n\r\n`);
    head.socket.write('GET /api/v1/liveness HTTP/1.1\r\nHost: test\r\nX: ');
    // Less than 16 KiB/s: each byte comes well before ten seconds are over.
    const dripping = setInterval(() => {
      for (const { socket, closed } of [head, body]) if (!closed) socket.write('a');
    }, 500);
    try {
      await Promise.all([head, body].map((client) => client.until(({ closed }) => closed)));
    } finally {
      clearInterval(dripping);
    }
    expect([head.received, body.received]).toEqual(['', '']);
  });
});
