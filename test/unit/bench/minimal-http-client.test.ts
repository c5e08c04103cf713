import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import { MinimalHttpClient } from '../../../bench/minimal-http-client.ts';

const large = 'x'.repeat(300_000);
const server = createServer(async (request, response) => {
  const body = (await buffer(request)).toString('utf8');
  if (body === 'leave') return void request.socket.destroy();
  response.statusCode = body === 'refuse' ? 400 : 200;
  const said = body === 'large' ? large : `${request.headers.authorization} ${request.url} ${body}`;
  response.setHeader('Content-Length', Buffer.byteLength(said));
  response.end(said);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
afterAll(() => server.close());

it('posts over one connection, reads replies to their end, and passes off no refusal as an answer', async () => {
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  const client = new MinimalHttpClient(`http://127.0.0.1:${port}/path`, 'Basic abc');
  const text = async (body: string) => Buffer.from(await client.post(body)).toString('utf8');
  expect(await text('{"é":1}')).toBe('Basic abc /path {"é":1}');
  expect(await text('large')).toBe(large);
  await expect(text('refuse')).rejects.toThrow('HTTP/1.1 400 Bad Request: Basic abc /path refuse');
  expect(await text('again')).toBe('Basic abc /path again');
  expect(connections).toBe(1);
  await expect(text('leave')).rejects.toThrow('the connection was closed');
  client.close();
});
