/** Every rule of OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp) that a receiver must keep. */
import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { noCounts } from '../../../src/model/counts.ts';
import { otlpType } from '../../support/otlp/otlp-requests.ts';
import { auth, type Harness, maxBodyBytes, RawClient, someCounts, startServer } from './http-harness.ts';

const json = 'application/json';
const protobuf = 'application/x-protobuf';
const statusType = otlpType('RpcStatus');
const badRequestType = otlpType('BadRequest');
const badRequestUrl = 'type.googleapis.com/google.rpc.BadRequest';
const signals = [
  {
    path: '/v1/logs',
    response: otlpType('ExportLogsServiceResponse'),
    counted: 'logs' as const,
    field: 'rejectedLogRecords',
    formats: { [json]: 'otlp-logs-json', [protobuf]: 'otlp-logs-protobuf' },
    dataset: 'otel-logs',
  },
  {
    path: '/v1/traces',
    response: otlpType('ExportTraceServiceResponse'),
    counted: 'spans' as const,
    field: 'rejectedSpans',
    formats: { [json]: 'otlp-traces-json', [protobuf]: 'otlp-traces-protobuf' },
    dataset: 'otel-traces',
  },
  {
    path: '/v1/metrics',
    response: otlpType('ExportMetricsServiceResponse'),
    counted: 'points' as const,
    field: 'rejectedDataPoints',
    formats: { [json]: 'otlp-metrics-json', [protobuf]: 'otlp-metrics-protobuf' },
    dataset: 'otel-metrics',
  },
];
const encodings = [json, protobuf] as const;
const cases = signals.flatMap((signal) => encodings.map((type) => ({ ...signal, type })));

let server: Harness;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.close());
beforeEach(() => {
  server.ingest.requests.length = 0;
  server.ingest.refused = undefined;
  server.ingest.replayed = false;
  server.ingest.respond = () => someCounts;
});

interface Status {
  readonly code: number;
  readonly message: string;
  /** In JSON: an `Any` is its message with its type. */
  readonly details?: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

/** The body of an error, which must be in that encoding and say so to the letter. */
async function statusOf(reply: Response, type: string): Promise<Status> {
  expect(reply.headers.get('content-type')).toBe(type);
  if (type === json) return (await reply.json()) as Status;
  const bytes = new Uint8Array(await reply.arrayBuffer());
  const { details, ...status } = statusType.toObject(statusType.decode(bytes), { bytes: Buffer }) as Status;
  if (details === undefined) return status;
  const inJson = details.map(({ typeUrl, value }) => ({
    '@type': typeUrl,
    ...badRequestType.toObject(badRequestType.decode(value as Buffer)),
  }));
  return { ...status, details: inJson };
}

describe.each(cases)('$path in $type', ({ path, type, response, counted, field, formats, dataset }) => {
  const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    server.post(path, body, { 'content-type': type, ...headers });
  /** The response message, from a body in the encoding of the request. */
  const responseOf = async (reply: Response): Promise<Record<string, unknown>> => {
    expect(reply.headers.get('content-type')).toBe(type);
    if (type === json) return (await reply.json()) as Record<string, unknown>;
    const bytes = new Uint8Array(await reply.arrayBuffer());
    return response.toObject(response.decode(bytes), { longs: String });
  };

  test('a request that is stored gets 200 and an empty response', async () => {
    const reply = await post('body', { 'x-p-stream': 'app' });
    expect(reply.status).toBe(200);
    expect(await reply.clone().text()).toBe(type === json ? '{}' : '');
    expect(await responseOf(reply)).toEqual({});
    const [request] = server.ingest.requests;
    expect(request).toMatchObject({
      tenant: 'default',
      dataset: 'app',
      format: formats[type],
      encoding: 'identity',
    });
    expect(Buffer.from(request?.body ?? []).toString()).toBe('body');
  });

  test('without a dataset it goes to that of its signal', async () => {
    expect((await post('body')).status).toBe(200);
    expect(server.ingest.requests[0]?.dataset).toBe(dataset);
  });

  test('an empty body is an empty request', async () => {
    expect((await post('')).status).toBe(200);
  });

  test('media types come in any case and with parameters', async () => {
    const reply = await post('body', { 'content-type': `${type.toUpperCase()} ; charset=UTF-8` });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe(type);
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ] as const)('%s', async (encoding, compress) => {
    expect((await post(compress('body'), { 'content-encoding': encoding })).status).toBe(200);
    expect(server.ingest.requests[0]?.encoding).toBe(encoding);
  });

  test('partial success: 200 with how many are refused and why', async () => {
    server.ingest.refused = {
      counts: { ...noCounts, [counted]: 30, problems: 30 },
      problems: ['record 1 is bad', 'record 2 is bad'],
    };
    const reply = await post('body');
    expect(reply.status).toBe(200);
    expect(await responseOf(reply)).toEqual({
      partialSuccess: {
        [field]: '30',
        errorMessage: 'record 1 is bad\nrecord 2 is bad\nand 28 more',
      },
    });
  });

  test('a request that was stored before says so, and is a success', async () => {
    server.ingest.replayed = true;
    const reply = await post('body');
    expect([reply.status, reply.headers.get('millrace-replayed')]).toEqual([200, 'true']);
  });

  test.each([
    ['bad_protobuf', 400, 3],
    ['bad_json', 400, 3],
    ['bad_dataset_name', 400, 3],
    ['kind_conflict', 409, 9],
    ['body_too_large', 413, 8],
    ['overloaded', 503, 14],
    ['log_full', 503, 14],
    ['internal', 500, 13],
  ] as const)('%s is %i with a google.rpc.Status of code %i', async (code, http, grpc) => {
    server.ingest.respond = () => {
      throw new AppError(code, 'the reason');
    };
    const reply = await post('body');
    expect(reply.status).toBe(http);
    const { code: sent, message } = await statusOf(reply, type);
    expect(sent).toBe(grpc);
    expect(message).toContain(code);
    expect(message.includes('the reason')).toBe(code !== 'internal');
    expect(reply.headers.get('retry-after')).toBe(http === 503 ? '1' : null);
  });

  test.each([
    ['bad_protobuf', 'body'],
    ['bad_json', 'body'],
    ['bad_encoding', 'body'],
    ['bad_record', 'body'],
    ['bad_dataset_name', 'X-P-Stream'],
    ['bad_header', 'header'],
  ] as const)('%s says in its details what is wrong with which part', async (code, part) => {
    server.ingest.respond = () => {
      throw new AppError(code, 'the reason, ä "quoted"');
    };
    expect((await statusOf(await post('body'), type)).details).toEqual([
      {
        '@type': badRequestUrl,
        fieldViolations: [{ field: part, description: 'the reason, ä "quoted"', reason: code.toUpperCase() }],
      },
    ]);
  });

  test.each(['kind_conflict', 'body_too_large', 'overloaded', 'internal'] as const)(
    '%s, which is no bad request, has no details',
    async (code) => {
      server.ingest.respond = () => {
        throw new AppError(code, 'the reason');
      };
      expect((await statusOf(await post('body'), type)).details).toBeUndefined();
    },
  );

  test('a warning: 200, nothing rejected, and what is left out', async () => {
    server.ingest.refused = {
      counts: { ...noCounts, problems: 1 },
      problems: ['an id is left out'],
    };
    const reply = await post('body');
    expect(reply.status).toBe(200);
    const partialSuccess = (await responseOf(reply))['partialSuccess'] as Record<string, unknown>;
    expect(partialSuccess['errorMessage']).toBe('an id is left out');
    // In protobuf zero and nothing are the same.
    expect(Number(partialSuccess[field] ?? 0)).toBe(0);
  });

  test('who may not write learns it in the same form', async () => {
    const without = await fetch(server.url + path, { method: 'POST', headers: { 'content-type': type } });
    expect([without.status, (await statusOf(without, type)).code]).toEqual([401, 16]);
    expect(without.headers.get('www-authenticate')).toContain('Basic');
    const reader = await server.post(path, 'body', { 'content-type': type, 'x-api-key': 'reader' });
    expect([reader.status, (await statusOf(reader, type)).code]).toEqual([403, 7]);
    const elsewhere = await server.post(path, 'body', { 'content-type': type, 'x-api-key': 'ingestor-app' });
    expect(elsewhere.status).toBe(403);
    expect(server.ingest.requests).toEqual([]);
  });

  test('a body beyond the bound is refused before it is read', async () => {
    const reply = await post('x'.repeat(maxBodyBytes + 1));
    expect([reply.status, (await statusOf(reply, type)).code]).toEqual([413, 8]);
    expect(server.ingest.requests).toEqual([]);
  });

  test('another Content-Encoding is 415', async () => {
    const reply = await post('body', { 'content-encoding': 'br' });
    expect(reply.status).toBe(415);
    expect((await statusOf(reply, type)).message).toContain('gzip');
  });

  test('zstd is taken', async () => {
    const reply = await post('body', { 'content-encoding': 'zstd' });
    expect(reply.status).toBe(200);
    expect(server.ingest.requests).toMatchObject([{ encoding: 'zstd' }]);
  });

  test('a dataset name that is none, and a header that came twice', async () => {
    expect((await statusOf(await post('body', { 'x-p-stream': '../x' }), type)).message).toContain(
      'bad_dataset_name',
    );
    const client = await RawClient.open(server.port);
    client.request('POST '.concat(path), {
      ...auth,
      'content-type': type,
      'x-p-stream': 'a',
      'X-P-Stream': 'b',
    });
    await client.until(({ received }) => received.includes('bad_header'));
    expect(client.received.toLowerCase()).toContain(`content-type: ${type}\r\n`);
    client.socket.destroy();
  });

  test.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s is 405', async (method) => {
    const reply = await fetch(server.url + path, { method, headers: { ...auth, 'content-type': type } });
    expect([reply.status, (await statusOf(reply, type)).code]).toEqual([405, 12]);
    expect(reply.headers.get('allow')).toBe('POST');
  });
});

describe.each(signals)('$path', ({ path }) => {
  test.each(['text/plain', 'application/protobuf', 'application/json2', 'x'])(
    '%s is 415, said in JSON',
    async (type) => {
      const reply = await server.post(path, 'body', { 'content-type': type });
      expect([reply.status, (await statusOf(reply, json)).code]).toEqual([415, 3]);
    },
  );

  test('so is a body of which nothing is said', async () => {
    const reply = await server.post(path, Buffer.from('{}'));
    expect([reply.status, (await statusOf(reply, json)).code]).toEqual([415, 3]);
  });
});

test('other paths keep their form of errors', async () => {
  const reply = await fetch(`${server.url}/api/v1/ingest`, { headers: { 'content-type': protobuf } });
  expect([reply.status, reply.headers.get('content-type')]).toEqual([405, 'application/problem+json']);
  const nothing = await fetch(`${server.url}/v1/nothing`, { headers: { 'content-type': protobuf } });
  expect([nothing.status, nothing.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
});
