import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { auth, type Harness, RawClient, startServer } from './http-harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startServer();
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.ingest.requests.length = 0;
  harness.ingest.replayed = false;
});

const stream = { 'x-p-stream': 'app' };
const remoteWrite = { ...stream, 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' };
const otlp = { ...stream, 'content-type': 'application/x-protobuf' };
const routes = [
  ['/api/v1/ingest', stream],
  ['/api/v1/logstream/app', {}],
  ['/v1/prometheus/write', remoteWrite],
  ['/v1/logs', otlp],
  ['/v1/traces', otlp],
] as const;

test.each(routes)('%s says of a repeated request that it was one, and of no other', async (path, headers) => {
  const first = await harness.post(path, 'x', headers);
  harness.ingest.replayed = true;
  const again = await harness.post(path, 'x', headers);
  expect(first.headers.get('millrace-replayed')).toBeNull();
  expect(again.headers.get('millrace-replayed')).toBe('true');
  expect([again.status, await again.text()]).toEqual([first.status, await first.text()]);
});

test.each(routes)('%s hands on the key of a request where it means something', async (path, headers) => {
  await harness.post(path, 'x', { ...headers, 'idempotency-key': '"a b"' });
  const isJson = path.startsWith('/api/');
  expect(harness.ingest.requests.map((request) => request.idempotencyKey)).toEqual([
    isJson ? 'a b' : undefined,
  ]);
});

test('a key that is none is refused before the body is read', async () => {
  const client = await RawClient.open(harness.port);
  client.request('POST /api/v1/ingest', {
    ...auth,
    ...stream,
    'idempotency-key': '"open',
    'content-length': '1000',
  });
  await client.until(({ statuses }) => statuses.length > 0);
  expect(client.statuses).toEqual([400]);
  expect(client.received).toContain('Idempotency-Key');
  client.socket.destroy();
});

test('a key that was sent twice is refused', async () => {
  const client = await RawClient.open(harness.port);
  const twice = { ...auth, ...stream, 'idempotency-key': 'a', 'Idempotency-Key': 'b' };
  client.request('POST /api/v1/ingest', { ...twice, 'content-length': '1' }, 'x');
  await client.until(({ statuses }) => statuses.length > 0);
  expect(client.received).toContain('the header idempotency-key was sent more than once');
  client.socket.destroy();
});
