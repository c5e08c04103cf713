import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  adminCredentials,
  type Harness,
  library,
  onNodeHttp,
  RawClient,
  startServer,
  waitFor,
} from './http-harness.ts';

/**
 * What RFC 9112 wants of a server, request by request: those that h1spec sends
 * (https://github.com/uNetworking/h1spec), and each place at which one can be cut. The service has no route
 * that echoes, so a body is looked for where it arrives.
 */
let harness: Harness;
beforeAll(async () => {
  harness = await startServer();
  // The credentials are known from here on.
  await harness.post('/api/v1/ingest', '[]', { 'x-p-stream': 'app' });
});
afterAll(() => harness.close());

const host = 'Host: example.com\r\n';
const get = 'GET /api/v1/liveness HTTP/1.1\r\n';
const post = `POST /api/v1/ingest HTTP/1.1\r\n${host}Authorization: ${adminCredentials}\r\nX-P-Stream: app\r\n`;

/** The build of uWebSockets.js for Node 20 answers 505 to a request line that is not all there. */
const isOlderUws = !onNodeHttp && process.versions.modules === '115';

/** The first status that comes back, or 0 if the connection is closed without one. */
async function statusOf(request: string): Promise<number> {
  const client = await RawClient.open(harness.port);
  client.socket.write(request, 'latin1');
  await client.until(({ statuses, closed }) => statuses.length > 0 || closed);
  client.socket.destroy();
  return client.statuses[0] ?? 0;
}

const isRefused = (status: number): boolean => status >= 400 && status <= 505;

describe(`a request on ${library.library}`, () => {
  it.each([
    ['no HTTP version', 'GET / \r\n\r\n'],
    ['another HTTP version', `GET / HTTP/9.9\r\n${host}\r\n`],
    ['words before it', `Extra lineGET / HTTP/1.1\r\n${host}\r\n`],
    ['no Host', `${get}Content-Length: 5\r\n\r\n`],
    ['two Hosts', `${get}${host}Host: example.org\r\n\r\n`],
    ['an empty Host and another', `${get}Host:\r\n${host}\r\n`],
    [
      'a negative length beyond all numbers',
      `${get}${host}Content-Length: -123456789123456789123456789\r\n\r\n`,
    ],
    ['a negative length', `${get}${host}Content-Length: -1234\r\n\r\n`],
    ['a length that is no number', `${get}${host}Content-Length: abc\r\n\r\n`],
  ])('with %s is refused', async (_, request) => {
    expect(await statusOf(request)).toSatisfy(isRefused);
  });

  // uWebSockets.js waits for more in silence, and closes the connection ten seconds later.
  it.each([
    ['a header name with brackets', `${get}${host}X-Invalid[]: test\r\n\r\n`],
    ['a control character in a header', `${get}${host}X-Bad: test\x07\r\n\r\n`],
    ['a line that ends in a carriage return', `${get}${host}\rSome-Header: Test\r\n\r\n`],
  ])('with %s is refused, or gets no answer', async (_, request) => {
    const status = await statusOf(request);
    if (onNodeHttp) expect(status).toBe(400);
    else expect([0, 400]).toContain(status);
  });

  it.each([
    ['as it should be', `${get}${host}\r\n`],
    [
      'with a tab and an empty header',
      'GET /api/v1/liveness HTTP/1.1\r\nhoSt:\texample.com\r\nempty:\r\n\r\n',
    ],
    ['with an empty header value', `${get}${host}X-Empty-Header: \r\n\r\n`],
  ])('%s is answered', async (_, request) => {
    expect(await statusOf(request)).toBe(200);
  });

  it('that expects 100-continue is answered', async () => {
    expect([100, 200]).toContain(await statusOf(`${get}${host}Expect: 100-continue\r\n\r\n`));
  });

  it.each([
    ['a length', 'Content-Length: 5\r\n\r\nhello', 'hello'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\nc\r\nHellO world1\r\n0\r\n\r\n', 'HellO world1'],
  ])('hands over a body with %s', async (_, rest, body) => {
    expect(await statusOf(post + rest)).toBe(200);
    expect(Buffer.from(harness.ingest.requests.at(-1)?.body ?? []).toString()).toBe(body);
  });

  it('with a length and chunks is refused', async () => {
    const rest = 'content-LengtH: 5\r\nTransFer-Encoding: chunked\r\n\r\nc\r\nHellO world1\r\n0\r\n\r\n';
    expect(await statusOf(post + rest)).toBe(400);
  });
});

describe(`a request in pieces on ${library.library}`, () => {
  const request = `${get}Host: localhost\r\n\r\n`;
  const cuts = Array.from({ length: request.length - 1 }, (_, index) => index + 1);
  /** On the older build, those behind the request line. */
  const waited = isOlderUws ? cuts.filter((cut) => cut >= get.length) : cuts;

  it('is waited for, wherever it is cut', async () => {
    const clients = await Promise.all(
      waited.map(async (cut) => {
        const client = await RawClient.open(harness.port);
        client.socket.setNoDelay(true);
        client.socket.write(request.slice(0, cut));
        return { client, cut };
      }),
    );
    // Another request, which is answered by when the pieces have been read.
    expect(await statusOf(request)).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const { client, cut } of clients) {
      expect([cut, client.received, client.closed]).toEqual([cut, '', false]);
      client.socket.write(request.slice(cut));
    }
    await Promise.all(clients.map(({ client }) => client.until(({ statuses }) => statuses.length > 0)));
    expect(new Set(clients.flatMap(({ client }) => client.statuses))).toEqual(new Set([200]));
    for (const { client } of clients) client.socket.destroy();
    await waitFor(() => clients.every(({ client }) => client.closed));
  });
});
