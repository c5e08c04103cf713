import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { noCounts } from '../../../src/model/counts.ts';
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
  harness.ingest.replayed = false;
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
      origin: { address: '127.0.0.1', userAgent: 'node' },
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
    ['zstd', 'zstd'],
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
    [{ 'content-encoding': 'zstd, gzip' }, 'unsupported_encoding'],
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

  it.each([
    '.app',
    '_app',
    '-app',
    'a..b',
    'a.',
    'a:b',
    'a/b',
    'a b',
    'aäb',
    `a${'b'.repeat(128)}`,
    '../etc',
  ])('refuses the dataset name %j', async (name) => {
    const response = await harness.post('/api/v1/ingest', '[]', { 'x-p-stream': name });
    expect(response.status).toBe(400);
    expect((await problemOf(response)).code).toBe('bad_dataset_name');
  });

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

  it.each(['a%2Fb', '..%2f..%2fetc', 'caf%C3%A9', 'a%00b', '%', '%zz', '%C3', 'a..b', "a'b", 'a%60b'])(
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
  const version2 = { 'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request' };
  const writtenOf = (response: Response) =>
    ['samples', 'histograms', 'exemplars'].map((kind) =>
      response.headers.get(`x-prometheus-remote-write-${kind}-written`),
    );
  const write = (headers: Record<string, string>) =>
    harness.post('/v1/prometheus/write', Buffer.from('x'), { 'content-encoding': 'snappy', ...headers });

  it('hands the body over and says how much was taken', async () => {
    const response = await write({ 'content-type': 'application/x-protobuf' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ samples: 5, histograms: 2, exemplars: 1, metadata: 0 });
    expect(writtenOf(response)).toEqual([null, null, null]);
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
    { 'content-type': 'application/x-protobuf' },
    { 'content-type': 'application/x-protobuf;proto=prometheus.WriteRequest' },
    { 'content-type': 'application/x-protobuf; proto="prometheus.WriteRequest"' },
    { 'content-type': 'Application/X-Protobuf; charset=utf-8' },
  ])('takes %j as version 1', async (headers) => {
    expect((await write(headers as Record<string, string>)).status).toBe(200);
    expect(last().format).toBe('remote-write-1');
  });

  it.each([
    'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    'application/x-protobuf; proto="io.prometheus.write.v2.Request"',
    'APPLICATION/X-PROTOBUF; charset=utf-8; PROTO=io.prometheus.write.v2.Request',
  ])('takes %s as version 2, and answers with an empty body and what was written', async (contentType) => {
    const response = await write({ 'content-type': contentType });
    expect(last()).toMatchObject({ format: 'remote-write-2', dataset: 'prometheus' });
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
    expect(response.headers.get('content-type')).toBeNull();
    expect(response.headers.get('content-length')).toBeNull();
    expect(writtenOf(response)).toEqual(['5', '2', '1']);
  });

  it('goes on with the connection after a reply without a body', async () => {
    const client = await RawClient.open(harness.port);
    const headers = { ...auth, ...version2, 'content-encoding': 'snappy', 'content-length': '1' };
    client.request('POST /v1/prometheus/write', headers, 'x');
    await client.until(({ statuses }) => statuses.length === 1);
    client.request('POST /v1/prometheus/write', headers, 'x');
    await client.until(({ statuses }) => statuses.length === 2);
    expect(client.statuses).toEqual([204, 204]);
    expect(client.received.toLowerCase()).not.toContain('transfer-encoding');
    client.socket.destroy();
  });

  const refusedPart = {
    counts: { ...noCounts, samples: 1, histograms: 0, exemplars: 4, problems: 30 },
    problems: [
      'The series {job="x"} is refused: it has no metric name (label __name__)',
      'the second problem',
    ],
  };

  it('answers 400 to a version 2 request that was stored in part, with what was written and what was not', async () => {
    harness.ingest.refused = refusedPart;
    const response = await write(version2);
    expect(response.status).toBe(400);
    expect(writtenOf(response)).toEqual(['5', '2', '1']);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      code: 'bad_series',
      detail:
        '1 samples, 0 histograms and 4 exemplars are refused, the rest is stored. ' +
        'The series {job="x"} is refused: it has no metric name (label __name__) ' +
        '(30 problems in all, the first 2 of them in problems)',
      problems: refusedPart.problems,
    });
    // Senders log the first line, or the first KiB, and that must say what was wrong.
    expect(text.indexOf('no metric name')).toBeLessThan(500);
    expect(text).not.toContain('\n');
  });

  it('says so when a repetition is answered, whole or in part', async () => {
    harness.ingest.replayed = true;
    expect((await write(version2)).headers.get('millrace-replayed')).toBe('true');
    harness.ingest.refused = refusedPart;
    const response = await write(version2);
    expect([response.status, response.headers.get('millrace-replayed')]).toEqual([400, 'true']);
  });

  it.each([
    ['bad_protobuf', 400],
    ['body_too_large', 413],
    ['log_full', 503],
  ] as const)(
    'says that nothing was written when a version 2 request fails with %s',
    async (code, status) => {
      harness.ingest.respond = () => {
        throw new AppError(code, 'it failed');
      };
      const response = await write(version2);
      expect(response.status).toBe(status);
      expect(writtenOf(response)).toEqual(['0', '0', '0']);
      expect(response.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
      expect(await problemOf(response)).toMatchObject({ code, detail: 'it failed' });
      expect(writtenOf(await write({ 'content-type': 'application/x-protobuf' }))).toEqual([
        null,
        null,
        null,
      ]);
    },
  );

  it('keeps the text of an internal error to itself, in version 2 too', async () => {
    harness.ingest.respond = () => {
      throw new TypeError('secret');
    };
    const response = await write(version2);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
    expect(harness.logLines.join()).toContain('secret');
  });

  it.each(['GET', 'PUT', 'DELETE'])('answers 405 to %s, saying what is allowed', async (method) => {
    const response = await fetch(`${harness.url}/v1/prometheus/write`, { method, headers: auth });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  it.each(['application/x-protobuf;proto=io.prometheus.write.v3.Request', 'application/json', 'text/plain'])(
    'refuses %s with 415, saying what it takes',
    async (contentType) => {
      const response = await write({ 'content-type': contentType });
      expect(response.status).toBe(415);
      const { code, detail } = await problemOf(response);
      expect(code).toBe('unsupported_media_type');
      expect(detail).toContain('application/x-protobuf');
    },
  );

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
      statistics: { elapsedMs: 12.346, rowsRead: 5, bytesRead: 40 },
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
