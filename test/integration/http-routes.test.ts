import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import {
  auth,
  type Harness,
  problemOf,
  RawClient,
  someCounts,
  startServer,
  waitFor,
} from './http-harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startServer();
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.ingest.requests.length = 0;
  harness.ingest.respond = () => someCounts;
  harness.ingest.refused = undefined;
  harness.query.requests.length = 0;
});

const last = () => {
  const request = harness.ingest.requests.at(-1);
  if (request === undefined) throw new Error('nothing was ingested');
  return request;
};
const stream = { 'x-p-stream': 'app' };

describe('POST /api/v1/ingest', () => {
  it('hands the body over and says how many events were taken', async () => {
    const response = await harness.post('/api/v1/ingest', '[{"a":1}]', stream);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ accepted: 3 });
    expect({ ...last(), body: Buffer.from(last().body).toString() }).toEqual({
      tenant: 'default',
      dataset: 'app',
      format: 'json',
      encoding: 'identity',
      body: '[{"a":1}]',
      mustExist: false,
    });
  });

  it.each([
    ['application/json', 'json'],
    ['application/json; charset=utf-8', 'json'],
    ['APPLICATION/JSON', 'json'],
    ['application/x-ndjson', 'ndjson'],
    ['application/ndjson', 'ndjson'],
    ['application/jsonl;charset=utf-8', 'ndjson'],
  ])('reads %s as %s', async (contentType, format) => {
    expect(
      (await harness.post('/api/v1/ingest', '', { ...stream, 'content-type': contentType })).status,
    ).toBe(200);
    expect(last().format).toBe(format);
  });

  it('takes a missing Content-Type as JSON', async () => {
    const response = await harness.post('/api/v1/ingest', Buffer.from('[]'), stream);
    expect(response.status).toBe(200);
    expect(last().format).toBe('json');
  });

  it.each([
    ['gzip', 'gzip'],
    ['X-GZIP', 'gzip'],
    ['deflate', 'deflate'],
    ['snappy', 'snappy'],
    ['identity', 'identity'],
  ])('takes Content-Encoding %s as %s, and leaves decompression to others', async (header, encoding) => {
    await harness.post('/api/v1/ingest', 'xyz', { ...stream, 'content-encoding': header });
    expect(last().encoding).toBe(encoding);
    expect(Buffer.from(last().body).toString()).toBe('xyz');
  });

  it.each([
    [{ 'content-type': 'text/plain' }, 'unsupported_media_type'],
    [{ 'content-type': 'application/x-protobuf' }, 'unsupported_media_type'],
    [{ 'content-encoding': 'br' }, 'unsupported_encoding'],
    [{ 'content-encoding': 'gzip, gzip' }, 'unsupported_encoding'],
    [{ 'content-encoding': 'zstd' }, 'unsupported_encoding'],
  ])('refuses %j with 415', async (headers, code) => {
    const response = await harness.post('/api/v1/ingest', '[]', { ...stream, ...headers });
    expect(response.status).toBe(415);
    expect((await problemOf(response)).code).toBe(code);
    expect(harness.ingest.requests).toEqual([]);
  });

  it('needs the dataset in a header', async () => {
    const response = await harness.post('/api/v1/ingest', '[]');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      code: 'bad_header',
      detail: 'the header X-P-Stream must name the dataset',
    });
  });

  it.each(['1app', '_app', '-app', 'a.b', 'a/b', 'a b', 'aäb', `a${'b'.repeat(128)}`, '../etc'])(
    'refuses the dataset name %j',
    async (name) => {
      const response = await harness.post('/api/v1/ingest', '[]', { 'x-p-stream': name });
      expect(response.status).toBe(400);
      expect((await problemOf(response)).code).toBe('bad_dataset_name');
    },
  );

  it('hands on what the write path says', async () => {
    harness.ingest.respond = () => {
      throw new AppError('bad_event', 'element 7 is not an object', { details: { element: 7 } });
    };
    const response = await harness.post('/api/v1/ingest', '[]', stream);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'bad_event',
      detail: 'element 7 is not an object',
      element: 7,
    });
    harness.ingest.respond = () => {
      throw new AppError('log_full', 'the log is full', { retryAfterSeconds: 5 });
    };
    const full = await harness.post('/api/v1/ingest', '[]', stream);
    expect(full.status).toBe(503);
    expect(full.headers.get('retry-after')).toBe('5');
    expect(harness.ingest.openReservations).toBe(0);
  });
});

describe('POST /api/v1/logstream/{dataset}', () => {
  it('writes to a dataset that must exist', async () => {
    const response = await harness.post('/api/v1/logstream/web-1', '[]', { 'x-p-stream': 'ignored' });
    expect(await response.json()).toEqual({ accepted: 3 });
    expect(last()).toMatchObject({ dataset: 'web-1', mustExist: true });
  });

  it.each(['a%2Fb', '..%2f..%2fetc', 'caf%C3%A9', 'a%00b', '%', '%zz', '%C3', 'a.b', "a'b", 'a%60b'])(
    'refuses the dataset name %s',
    async (segment) => {
      const response = await harness.post(`/api/v1/logstream/${segment}`, '[]');
      expect(response.status).toBe(400);
      expect((await problemOf(response)).code).toBe('bad_dataset_name');
      expect(harness.ingest.requests).toEqual([]);
    },
  );
});

describe('a path with dots', () => {
  it.each(['..', '%2e%2e', '.'])('is a name like any other: %s', async (segment) => {
    const client = await RawClient.open(harness.port);
    client.request(`POST /api/v1/logstream/${segment}`, auth);
    await client.until(({ received }) => received.includes('}'));
    expect(client.statuses).toEqual([400]);
    expect(client.received).toContain('bad_dataset_name');
    client.socket.destroy();
  });
});

describe('POST /v1/prometheus/write', () => {
  const write = (headers: Record<string, string>) =>
    harness.post('/v1/prometheus/write', Buffer.from('x'), { 'content-encoding': 'snappy', ...headers });

  it('hands the body over and says how many samples were taken', async () => {
    const response = await write({ 'content-type': 'application/x-protobuf' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ samples: 5 });
    expect(last()).toMatchObject({
      dataset: 'prometheus',
      format: 'remote-write-1',
      encoding: 'snappy',
      mustExist: false,
    });
  });

  it('writes to the dataset in the header', async () => {
    await write({ 'x-p-stream': 'infra' });
    expect(last().dataset).toBe('infra');
  });

  it.each([
    {},
    { 'content-type': 'application/x-protobuf;proto=prometheus.WriteRequest' },
    { 'content-type': 'application/x-protobuf; proto="prometheus.WriteRequest"' },
    { 'content-type': 'Application/X-Protobuf; charset=utf-8' },
  ])('takes %j as version 1', async (headers) => {
    expect((await write(headers as Record<string, string>)).status).toBe(200);
  });

  it('refuses version 2 with 415, saying what it takes', async () => {
    const response = await write({
      'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    });
    expect(response.status).toBe(415);
    expect(await problemOf(response)).toMatchObject({
      code: 'unsupported_media_type',
      detail: expect.stringContaining('prometheus.WriteRequest'),
    });
  });

  it.each(['zstd', 'gzip', 'identity'])(
    'refuses %s with 415, so that the sender takes snappy',
    async (encoding) => {
      const response = await write({ 'content-encoding': encoding });
      expect(response.status).toBe(415);
      expect((await problemOf(response)).detail).toContain('snappy');
    },
  );
});

describe('POST /api/v1/query', () => {
  const query = (body: unknown, parameters = '') =>
    harness.post(`/api/v1/query${parameters}`, JSON.stringify(body), { 'content-type': 'application/json' });

  it('answers with the rows', async () => {
    const response = await query({ query: 'SELECT 1', startTime: '1h', endTime: 'now', streamName: 'app' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual([{ a: 1, b: 'x' }]);
    expect(harness.query.requests[0]).toMatchObject({
      principal: { name: 'admin' },
      tenant: 'default',
      sql: 'SELECT 1',
      startTime: '1h',
      endTime: 'now',
      streamName: 'app',
    });
  });

  it('adds the fields on request', async () => {
    expect(await (await query({ query: 'SELECT 1' }, '?fields=true')).json()).toEqual({
      fields: ['a', 'b'],
      records: [{ a: 1, b: 'x' }],
    });
    expect(await (await query({ query: 'SELECT 1' }, '?fields=false')).json()).toEqual([{ a: 1, b: 'x' }]);
    expect((await query({ query: 'SELECT 1' }, '?fields=1')).status).toBe(400);
  });

  it('refuses what is not a query', async () => {
    const response = await query({ query: 'SELECT 1', limit: 10 });
    expect(response.status).toBe(400);
    expect((await problemOf(response)).detail).toContain('"limit" is not a member');
    expect(harness.query.requests).toEqual([]);
  });

  it('is for those with a privilege to read something', async () => {
    const as = (key: string) => harness.post('/api/v1/query', '{"query":"SELECT 1"}', { 'x-api-key': key });
    expect((await as('reader')).status).toBe(200);
    expect((await as('ingestor')).status).toBe(403);
  });

  it('is told when the client goes away', async () => {
    const client = new AbortController();
    harness.query.respond = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new AppError('query_cancelled', 'cancelled')));
      });
    const answered = fetch(`${harness.url}/api/v1/query`, {
      method: 'POST',
      body: Buffer.from('{"query":"SELECT slow"}'),
      headers: auth,
      signal: client.signal,
    });
    await waitFor(() => harness.query.requests.length === 1);
    expect(harness.query.requests[0]?.signal.aborted).toBe(false);
    client.abort();
    await expect(answered).rejects.toThrow();
    await waitFor(() => harness.query.requests[0]?.signal.aborted === true);
  });
});
