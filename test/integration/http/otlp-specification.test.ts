/**
 * OTLP's specification for receivers, point by point, against the built service. The points are the rows of
 * `docs/reference/otlp.md`; each test has the id of its row.
 */
import { Agent, request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import {
  exampleLogs,
  exampleNanos,
  exampleTraceId,
  exampleTraces,
} from '../../support/otlp/otlp-examples.ts';
import { otlpType, type TestAnyValue, type TestRequest } from '../../support/otlp/otlp-requests.ts';
import {
  documentedPoints,
  type Encoding,
  encoded,
  encodings,
  exportOf,
  isFullSuccess,
  json,
  OtlpReceiver,
  type OtlpReply,
  type OtlpSignal,
  partialSuccess,
  protobuf,
  rejectedField,
  signals,
} from '../../support/otlp/specification.ts';
import { authorization, type Row, Service } from '../../support/service/service.ts';

const maxBodyBytes = 2 ** 20;

let service: Service;
let throttled: Service;
let otlp: OtlpReceiver;
beforeAll(async () => {
  const env = { MILLRACE_FLUSH_INTERVAL_MS: '50' };
  service = await Service.start({ env: { ...env, MILLRACE_MAX_BODY_BYTES: String(maxBodyBytes) } });
  throttled = await Service.start({ env: { ...env, MILLRACE_TENANT_INGEST_BYTES_PER_SECOND: '1KiB' } });
  otlp = new OtlpReceiver(service);
});
afterAll(async () => {
  await service?.dispose();
  await throttled?.dispose();
});

const tested: string[] = [];
function point(id: string, run: () => Promise<void> | void): void {
  tested.push(id);
  test(id, run);
}

const id = (hex: string): Buffer => Buffer.from(hex, 'hex');
const attribute = (key: string, value: TestAnyValue): TestRequest => ({ key, value: value as TestRequest });
const text = (key: string, stringValue: string): TestRequest => attribute(key, { stringValue });

const traceId = exampleTraceId;
const spanId = 'eee19b7ec3c1b174';
const noon = exampleNanos;
const aSpan = (fields: TestRequest = {}): TestRequest => ({
  traceId: id(traceId),
  spanId: id(spanId),
  name: 'a span',
  startTimeUnixNano: noon,
  endTimeUnixNano: noon + 1n,
  ...fields,
});
const gauge = (fields: TestRequest, name = 'm'): TestRequest => ({
  name,
  gauge: { dataPoints: [{ timeUnixNano: noon, ...fields }] },
});

/** A small valid record of each signal. */
const aRecord: Readonly<Record<OtlpSignal, TestRequest>> = {
  logs: { timeUnixNano: noon, body: { stringValue: 'a record' } },
  traces: aSpan(),
  metrics: gauge({ asInt: 1n }),
};
/** One that cannot be stored: its time is beyond what the store holds, or it has no value. */
const aBadRecord: Readonly<Record<OtlpSignal, TestRequest>> = {
  logs: { timeUnixNano: 2n ** 64n - 1n },
  traces: aSpan({ startTimeUnixNano: 2n ** 64n - 1n }),
  metrics: gauge({}),
};
const aRequest = (signal: OtlpSignal): TestRequest => exportOf(signal, [aRecord[signal]]);
const rowsOf = (signal: OtlpSignal): string => (signal === 'metrics' ? 'metric_name' : 'timestamp');

/** Runs a check for each signal and encoding. */
async function eachCase(run: (signal: OtlpSignal, type: Encoding) => Promise<void>): Promise<void> {
  for (const signal of signals) for (const type of encodings) await run(signal, type);
}

const log = (record: TestRequest, around = {}): TestRequest => exportOf('logs', [record], around);
const span = (fields: TestRequest): TestRequest => exportOf('traces', [aSpan(fields)]);
const metric = (fields: TestRequest, around = {}): TestRequest => exportOf('metrics', [fields], around);

/** Events or links of a row, which are JSON text. */
const itemsOf = (row: Row | undefined, column: string): readonly unknown[] => {
  const items = row?.[column];
  return (typeof items === 'string' ? JSON.parse(items) : items) as readonly unknown[];
};

/** Rows of `{}` after storing a log record, a span or a metric, the same in both encodings. */
const logRow = async (record: TestRequest, columns: string, check?: (reply: OtlpReply) => void) =>
  (await otlp.stored('logs', log(record), `SELECT ${columns} FROM {}`, check))[0];
const spanRow = async (fields: TestRequest, columns: string, check?: (reply: OtlpReply) => void) =>
  (await otlp.stored('traces', span(fields), `SELECT ${columns} FROM {}`, check))[0];
const samples = async (fields: TestRequest, check?: (reply: OtlpReply) => void): Promise<readonly Row[]> =>
  await otlp.stored(
    'metrics',
    metric(fields),
    "SELECT metric_name AS name, value, labels FROM {} ORDER BY metric_name, labels->>'le', labels->>'quantile'",
    check,
  );

/** A reply with a warning: nothing is rejected, and a text says what is left out. */
const warns =
  (signal: OtlpSignal, ...words: readonly string[]) =>
  (reply: OtlpReply): void => {
    const { rejected, text: message } = partialSuccess(signal, reply);
    expect(rejected).toBe(0);
    for (const word of words) expect(message).toContain(word);
  };
/** A reply that rejects so many records, and says why. */
const rejects =
  (signal: OtlpSignal, count: number, ...words: readonly string[]) =>
  (reply: OtlpReply): void => {
    const { rejected, text: message } = partialSuccess(signal, reply);
    expect(rejected).toBe(count);
    for (const word of words) expect(message).toContain(word);
  };

/** The text of JSON as a request in JSON alone. */
const inJson = (value: unknown): Readonly<Record<string, string>> => ({ [json]: JSON.stringify(value) });

describe('requests', () => {
  point('http-post', async () => {
    await eachCase(async (signal, type) => {
      expect((await otlp.post(signal, type, encoded(signal, type, aRequest(signal)))).status).toBe(200);
    });
    await eachCase(async (signal, type) => {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const reply = await fetch(`${service.url}/v1/${signal}`, {
          method,
          headers: { authorization, 'content-type': type },
        });
        expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
        await reply.arrayBuffer();
      }
    });
  });

  for (const signal of signals) {
    point(`path-${signal}`, async () => {
      const rows = await otlp.stored(signal, aRequest(signal), `SELECT ${rowsOf(signal)} FROM {}`);
      expect(rows).toHaveLength(1);
    });
  }

  point('http-1-1', async () => {
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(`${service.url}/v1/logs`, {
        method: 'POST',
        headers: { authorization, 'content-type': json },
      });
      request.on('response', (reply) => resolve([reply.httpVersion, reply.statusCode]));
      request.on('error', reject);
      request.end('{}');
    });
    expect(status).toEqual(['1.1', 200]);
  });

  point('same-port', async () => {
    const bodies = signals.flatMap((signal) => encodings.map((type) => [signal, type] as const));
    const replies = await Promise.all(
      bodies.map(([signal, type]) => otlp.post(signal, type, encoded(signal, type, aRequest(signal)))),
    );
    expect(replies.map(({ status }) => status)).toEqual(bodies.map(() => 200));
  });

  point('content-type', async () => {
    for (const type of encodings) {
      for (const spelled of [type.toUpperCase(), `${type}; charset=utf-8`]) {
        const reply = await otlp.post('logs', type, encoded('logs', type, exampleLogs), {
          'content-type': spelled,
          'x-p-stream': otlp.newDataset(),
        });
        expect(reply.status).toBe(200);
      }
    }
    for (const type of ['text/plain', 'application/xml', 'application/protobuf']) {
      const reply = await otlp.post('logs', json, '{}', { 'content-type': type });
      expect(reply.status, type).toBe(415);
    }
  });

  point('no-compression', async () => {
    await eachCase(async (signal, type) => {
      const headers = { 'x-p-stream': otlp.newDataset(), 'content-encoding': 'identity' };
      isFullSuccess(await otlp.post(signal, type, encoded(signal, type, aRequest(signal)), headers));
    });
  });

  point('gzip', async () => {
    await eachCase(async (signal, type) => {
      const dataset = otlp.newDataset();
      const body = gzipSync(encoded(signal, type, aRequest(signal)));
      const headers = { 'content-encoding': 'gzip', 'x-p-stream': dataset };
      isFullSuccess(await otlp.post(signal, type, body, headers));
      expect(await otlp.query(`SELECT count(*) AS n FROM ${dataset}`)).toEqual([{ n: 1 }]);
    });
  });

  point('gzip-malformed', async () => {
    const reply = await otlp.post('logs', json, '{}', { 'content-encoding': 'gzip' });
    expect(reply.status).toBe(400);
  });

  point('accept-encoding', async () => {
    await eachCase(async (signal, type) => {
      const body = encoded(signal, type, exportOf(signal, [aBadRecord[signal]]));
      const reply = await otlp.post(signal, type, body, { 'accept-encoding': 'gzip' });
      expect(reply.headers.get('content-encoding')).toBeNull();
      expect(partialSuccess(signal, reply).rejected).toBe(1);
    });
  });

  point('body-limit', async () => {
    await eachCase(async (signal, type) => {
      expect((await otlp.post(signal, type, Buffer.alloc(maxBodyBytes + 1))).status).toBe(413);
    });
  });

  point('body-limit-chunked', async () => {
    const chunk = Buffer.alloc(maxBodyBytes / 4, 0x20);
    expect(await otlp.postChunks('logs', json, [chunk, chunk, chunk, chunk, chunk])).toBe(413);
  });

  point('body-limit-decompressed', async () => {
    await eachCase(async (signal, type) => {
      const body = gzipSync(Buffer.alloc(4 * maxBodyBytes, 0x20));
      expect((await otlp.post(signal, type, body, { 'content-encoding': 'gzip' })).status).toBe(413);
    });
  });

  point('body-limit-default', () => {
    expect(limits.maxBodyBytes).toBe(64 * 2 ** 20);
  });

  point('body-limit-configurable', async () => {
    const body = `{"padding":"${'x'.repeat(maxBodyBytes)}"}`;
    expect((await otlp.post('logs', json, body)).status).toBe(413);
    expect((await otlp.post('logs', json, body.replace(/x{1000}/, ''))).status).toBe(200);
  });

  point('keep-alive', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    const send = async (body: string): Promise<number> =>
      await new Promise((resolve, reject) => {
        const request = httpRequest(`${service.url}/v1/logs`, {
          method: 'POST',
          agent,
          headers: { authorization, 'content-type': json },
        });
        request.on('socket', (socket) => socket.once('connect', () => ports.add(socket.localPort)));
        request.on('response', (reply) => {
          reply.resume();
          reply.on('end', () => resolve(reply.statusCode ?? 0));
        });
        request.on('error', reject);
        request.end(body);
      });
    expect([await send('{}'), await send('{'), await send('{}')]).toEqual([200, 400, 200]);
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  point('concurrent-requests', async () => {
    const dataset = otlp.newDataset();
    const post = async (index: number): Promise<number> => {
      const body = encoded('logs', json, log({ timeUnixNano: noon + BigInt(index) }));
      return (await otlp.post('logs', json, body, { 'x-p-stream': dataset })).status;
    };
    const statuses = await Promise.all(Array.from({ length: 100 }, (_, index) => post(index)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await otlp.query(`SELECT count(DISTINCT timestamp) AS n FROM ${dataset}`)).toEqual([{ n: 100 }]);
  });

  point('empty-envelopes', async () => {
    for (const signal of signals) {
      const empty = [
        exportOf(signal, []),
        Object.fromEntries(Object.keys(aRequest(signal)).map((key) => [key, [{}]])),
        Object.fromEntries(
          Object.entries(aRequest(signal)).map(([key, resources]) => {
            const [resource] = resources as readonly TestRequest[];
            const scopes = Object.keys(resource ?? {}).find((name) => name.startsWith('scope')) ?? '';
            return [key, [{ resource: {} }, { [scopes]: [{}] }, { [scopes]: [{ scope: {} }] }]];
          }),
        ),
      ];
      for (const request of empty) {
        for (const type of encodings) {
          const reply = await otlp.post(signal, type, encoded(signal, type, request));
          expect(reply.status).toBe(200);
          isFullSuccess(reply);
        }
      }
    }
  });

  point('repeated-request', async () => {
    const dataset = otlp.newDataset();
    const body = encoded('logs', protobuf, exampleLogs);
    for (let times = 0; times < 3; times++) {
      isFullSuccess(await otlp.post('logs', protobuf, body, { 'x-p-stream': dataset }));
    }
    expect(await otlp.query(`SELECT count(*) AS n FROM ${dataset}`)).toEqual([{ n: 3 }]);
  });
});

describe('JSON', () => {
  const jsonLog = (record: unknown, around: object = {}) =>
    inJson({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }], ...around }] });
  const jsonRow = async (record: unknown, columns: string, around: object = {}) =>
    (await otlp.stored('logs', jsonLog(record, around), `SELECT ${columns} FROM {}`))[0];
  const jsonMetric = (fields: object) =>
    inJson({ resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'm', ...fields }] }] }] });

  point('json-trace-id-hex', async () => {
    for (const spelled of [traceId, traceId.toUpperCase()]) {
      expect(await jsonRow({ traceId: spelled }, 'trace_id')).toEqual({ trace_id: traceId });
    }
  });

  point('json-span-id-hex', async () => {
    const spelled = spanId.toUpperCase();
    expect(await jsonRow({ traceId, spanId: spelled }, 'span_id')).toEqual({ span_id: spanId });
    const link = { traceId: traceId.toUpperCase(), spanId: spelled };
    const spans = [
      { traceId, spanId, parentSpanId: spelled, name: 'a', startTimeUnixNano: '1', links: [link] },
    ];
    const request = inJson({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
    const [row] = await otlp.stored('traces', request, 'SELECT parent_span_id AS parent, links FROM {}');
    expect(row?.['parent']).toBe(spanId);
    expect(itemsOf(row, 'links')).toMatchObject([{ trace_id: traceId, span_id: spanId }]);
  });

  point('json-exemplar-ids-hex', async () => {
    const exemplars = [{ asDouble: 1, timeUnixNano: String(noon), traceId: traceId.toUpperCase(), spanId }];
    const gaugeOf = { gauge: { dataPoints: [{ timeUnixNano: String(noon), asInt: '1', exemplars }] } };
    const sql = 'SELECT exemplar_labels FROM {}.exemplars';
    expect(await otlp.stored('metrics', jsonMetric(gaugeOf), sql)).toEqual([
      { exemplar_labels: { span_id: spanId, trace_id: traceId } },
    ]);
  });

  point('json-bytes-base64', async () => {
    for (const [sent, kept] of [
      ['AQL/', 'AQL/'],
      ['AQL_', 'AQL/'],
      ['AQ==', 'AQ=='],
      ['AQ', 'AQ=='],
    ]) {
      expect(await jsonRow({ body: { bytesValue: sent } }, 'body')).toEqual({ body: kept });
    }
  });

  point('json-enum-integers', async () => {
    expect(await jsonRow({ severityNumber: 17 }, 'severity_number')).toEqual({ severity_number: 17 });
    const spans = [{ traceId, spanId, name: 'a', startTimeUnixNano: '1', kind: 2, status: { code: 2 } }];
    const request = inJson({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
    expect(await otlp.stored('traces', request, 'SELECT kind, status_code FROM {}')).toEqual([
      { kind: 'server', status_code: 'error' },
    ]);
    const sum = { aggregationTemporality: 1, dataPoints: [{ timeUnixNano: String(noon), asInt: 1 }] };
    expect(await otlp.stored('metrics', jsonMetric({ sum }), 'SELECT temporality FROM {}.series')).toEqual([
      { temporality: 'delta' },
    ]);
  });

  point('json-enum-names', async () => {
    const row = await jsonRow({ severityNumber: 'SEVERITY_NUMBER_ERROR' }, 'severity_number');
    expect(row).toEqual({ severity_number: 17 });
  });

  point('json-unknown-fields', async () => {
    const unknown = { unknownField: { deep: [1, { a: null }] }, another: 'x"\\' };
    const known = {
      ...unknown,
      body: { ...unknown, stringValue: 'kept' },
      attributes: [{ ...unknown, key: 'k', value: { ...unknown, intValue: 3 } }],
    };
    const request = {
      ...unknown,
      resourceLogs: [
        {
          ...unknown,
          resource: { ...unknown, attributes: [{ key: 'service.name', value: { stringValue: 's' } }] },
          scopeLogs: [{ ...unknown, scope: { ...unknown, name: 'scope' }, logRecords: [known] }],
        },
      ],
    };
    const columns = 'body, service_name, scope_name, attributes';
    expect(await otlp.stored('logs', inJson(request), `SELECT ${columns} FROM {}`)).toEqual([
      { body: 'kept', service_name: 's', scope_name: 'scope', attributes: { k: '3' } },
    ]);
    const pointOf = { ...unknown, timeUnixNano: String(noon), asInt: '1' };
    const request2 = jsonMetric({ ...unknown, gauge: { ...unknown, dataPoints: [pointOf] } });
    expect(await otlp.stored('metrics', request2, 'SELECT value FROM {}')).toEqual([{ value: 1 }]);
    const spans = [{ ...unknown, traceId, spanId, name: 'a', startTimeUnixNano: '1', events: [unknown] }];
    const request3 = inJson({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
    const [row] = await otlp.stored('traces', request3, 'SELECT name, events FROM {}');
    expect([row?.['name'], itemsOf(row, 'events').length]).toEqual(['a', 1]);
  });

  point('json-lower-camel-case', async () => {
    const record = { severityText: 'WARN', droppedAttributesCount: 2, observedTimeUnixNano: String(noon) };
    const columns = 'severity_text, dropped_attributes_count AS dropped, observed_timestamp AS seen';
    expect(await jsonRow(record, columns)).toEqual({
      severity_text: 'WARN',
      dropped: 2,
      seen: '2025-11-20T12:00:00.000000000Z',
    });
  });

  point('json-snake-case', async () => {
    expect(await jsonRow({ severity_text: 'WARN' }, 'severity_text')).toEqual({ severity_text: 'WARN' });
  });

  point('json-integers-as-strings', async () => {
    const record = { timeUnixNano: String(noon + 123_456_789n), body: { intValue: '-9223372036854775808' } };
    expect(await jsonRow(record, 'timestamp, body')).toEqual({
      timestamp: '2025-11-20T12:00:00.123456789Z',
      body: '-9223372036854775808',
    });
    const count = { timeUnixNano: String(noon), count: '18446744073709551615' };
    const request = jsonMetric({ exponentialHistogram: { dataPoints: [count] } });
    const sql = 'SELECT count = 18446744073709551615 AS same FROM {}.histograms';
    expect(await otlp.stored('metrics', request, sql)).toEqual([{ same: true }]);
  });

  point('json-integers-as-numbers', async () => {
    const request = {
      [json]: `{"resourceLogs":[{"scopeLogs":[{"logRecords":[
      {"timeUnixNano":1763640000123456789,"body":{"intValue":9007199254740993}}]}]}]}`,
    };
    expect(await otlp.stored('logs', request, 'SELECT timestamp, body FROM {}')).toEqual([
      { timestamp: '2025-11-20T12:00:00.123456789Z', body: '9007199254740993' },
    ]);
  });

  point('json-doubles', async () => {
    const bodies = ['1.5', '"1.5"', '"NaN"', '"Infinity"', '"-Infinity"', '1e3', '-0'];
    const records = bodies.map(
      (body, index) => `{"timeUnixNano":${index + 1},"body":{"doubleValue":${body}}}`,
    );
    const request = { [json]: `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records.join()}]}]}]}` };
    const rows = await otlp.stored('logs', request, 'SELECT body FROM {} ORDER BY timestamp');
    expect(rows.map(({ body }) => body)).toEqual([
      '1.5',
      '1.5',
      'NaN',
      'Infinity',
      '-Infinity',
      '1000',
      '-0',
    ]);
  });

  point('json-null', async () => {
    const record = {
      timeUnixNano: null,
      body: null,
      attributes: null,
      severityNumber: null,
      severityText: 'x',
    };
    expect(await jsonRow(record, 'body, attributes, severity_number AS n, severity_text AS s')).toEqual({
      body: '',
      attributes: {},
      n: 0,
      s: 'x',
    });
  });

  point('json-escapes', async () => {
    const request = {
      [json]:
        '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"\\u0062ody":{"stringValue":"a\\n\\u00e9\\ud83d\\ude00\\"b"}}]}]}]}',
    };
    expect(await otlp.stored('logs', request, 'SELECT body FROM {}')).toEqual([{ body: 'a\né\u{1f600}"b' }]);
  });

  point('json-malformed', async () => {
    for (const body of [
      '{',
      '[]',
      '"x"',
      '{"resourceLogs":{}}',
      '{"resourceLogs":[1]}',
      '{"resourceLogs":[]}x',
    ]) {
      expect((await otlp.post('logs', json, body)).status, body).toBe(400);
    }
    const record = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"xyz"}]}]}]}';
    expect((await otlp.post('logs', json, record)).status).toBe(400);
  });

  point('same-rows-in-both-encodings', async () => {
    expect(await otlp.stored('logs', exampleLogs, 'SELECT * FROM {} ORDER BY timestamp')).toHaveLength(3);
    expect(
      await otlp.stored('traces', exampleTraces, 'SELECT * FROM {} ORDER BY timestamp, name'),
    ).toHaveLength(3);
  });
});

describe('protobuf', () => {
  /** Field 900 with a varint and field 901 with bytes, which no message has. */
  const unknownFields = Buffer.from([0xa0, 0x38, 0x96, 0x01, 0xaa, 0x38, 0x02, 0x61, 0x62]);
  const message = (field: number, ...parts: readonly Buffer[]): Buffer => {
    const body = Buffer.concat([...parts, unknownFields]);
    expect(body.length).toBeLessThan(0x80);
    return Buffer.concat([Buffer.from([field * 8 + 2, body.length]), body]);
  };
  const string = (field: number, value: string): Buffer =>
    Buffer.concat([Buffer.from([field * 8 + 2, value.length]), Buffer.from(value)]);

  point('protobuf-unknown-fields', async () => {
    const body = message(5, string(1, 'kept'));
    const pair = message(6, string(1, 'k'), message(2, string(1, 'v')));
    const request = message(1, message(1, message(1, string(1, 'r'))), message(2, message(2, body, pair)));
    const bytes = Buffer.concat([request, unknownFields]);
    const sql = 'SELECT body, attributes, resource_attributes FROM {}';
    expect(await otlp.stored('logs', { [protobuf]: bytes }, sql)).toEqual([
      { body: 'kept', attributes: { k: 'v' }, resource_attributes: { r: 'null' } },
    ]);
  });

  point('protobuf-order', async () => {
    // The schema URL, the records and then the resource; in the record the body before its time.
    const time = Buffer.alloc(9);
    time[0] = 9;
    time.writeBigUInt64LE(noon, 1);
    const record = message(2, message(5, string(1, 'b')), time);
    const resource = message(1, message(1, string(1, 'service.name'), message(2, string(1, 's'))));
    const bytes = message(1, string(3, 'url'), message(2, record), resource);
    const sql = 'SELECT body, service_name, resource_schema_url AS url, timestamp FROM {}';
    expect(await otlp.stored('logs', { [protobuf]: bytes }, sql)).toEqual([
      { body: 'b', service_name: 's', url: 'url', timestamp: '2025-11-20T12:00:00.000000000Z' },
    ]);
  });

  point('protobuf-last-value', async () => {
    const record = message(2, string(3, 'first'), string(3, 'last'));
    const request = { [protobuf]: message(1, message(2, record)) };
    expect(await otlp.stored('logs', request, 'SELECT severity_text AS s FROM {}')).toEqual([{ s: 'last' }]);
  });

  point('protobuf-packed', async () => {
    const fixed = (...values: readonly number[]): Buffer => {
      const bytes = Buffer.alloc(8 * values.length);
      for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 8 * index);
      return bytes;
    };
    const bound = Buffer.alloc(8);
    bound.writeDoubleLE(1);
    const time = Buffer.concat([Buffer.from([0x19]), fixed(1000)]);
    const packed = [Buffer.from([0x32, 16]), fixed(1, 2), Buffer.from([0x3a, 8]), bound];
    const unpacked = [
      Buffer.from([0x31]),
      fixed(1),
      Buffer.from([0x31]),
      fixed(2),
      Buffer.from([0x39]),
      bound,
    ];
    for (const buckets of [packed, unpacked]) {
      const histogram = message(9, message(1, time, ...buckets));
      const bytes = message(1, message(2, message(2, string(1, 'h'), histogram)));
      const sql = "SELECT le, value FROM {} WHERE metric_name = 'h_bucket' ORDER BY value";
      expect(await otlp.stored('metrics', { [protobuf]: bytes }, sql)).toEqual([
        { le: '1', value: 1 },
        { le: '+Inf', value: 3 },
      ]);
    }
  });

  point('protobuf-malformed', async () => {
    for (const signal of signals) {
      const whole = encoded(signal, protobuf, aRequest(signal));
      for (const body of [
        whole.subarray(0, -1),
        Buffer.from([0x0a]),
        Buffer.from([0x0f]),
        Buffer.from('{}'),
      ]) {
        expect((await otlp.post(signal, protobuf, body)).status, body.toString('hex')).toBe(400);
      }
    }
  });

  point('protobuf-invalid-utf8', async () => {
    const body = message(5, Buffer.from([0x0a, 3, 0x61, 0xff, 0x62]));
    const request = { [protobuf]: message(1, message(2, message(2, body))) };
    expect(await otlp.stored('logs', request, 'SELECT body FROM {}')).toEqual([{ body: 'a\ufffdb' }]);
  });
});

describe('responses', () => {
  point('success-200', async () => {
    await eachCase(async (signal, type) => {
      const body = encoded(signal, type, aRequest(signal));
      const reply = await otlp.post(signal, type, body, { 'x-p-stream': otlp.newDataset() });
      expect([reply.status, reply.bytes.toString()]).toEqual([200, type === json ? '{}' : '']);
    });
  });

  point('success-without-partial-success', async () => {
    await eachCase(async (signal, type) => {
      const body = encoded(signal, type, aRequest(signal));
      const reply = await otlp.post(signal, type, body, { 'x-p-stream': otlp.newDataset() });
      expect(reply.message['partialSuccess']).toBeUndefined();
    });
  });

  point('empty-request', async () => {
    await eachCase(async (signal, type) => {
      const reply = await otlp.post(signal, type, type === json ? '{}' : '');
      expect(reply.status).toBe(200);
      isFullSuccess(reply);
    });
  });

  point('response-content-type', async () => {
    await eachCase(async (signal, type) => {
      const bodies = [
        encoded(signal, type, aRequest(signal)),
        encoded(signal, type, exportOf(signal, [aBadRecord[signal]])),
        Buffer.from('x'),
      ];
      const replies = await Promise.all(bodies.map((body) => otlp.post(signal, type, body)));
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 400]);
      for (const { headers } of replies) expect(headers.get('content-type')).toBe(type);
    });
  });

  point('partial-success', async () => {
    for (const signal of signals) {
      const request = exportOf(signal, [aBadRecord[signal], aRecord[signal], aBadRecord[signal]]);
      const rows = await otlp.stored(signal, request, `SELECT ${rowsOf(signal)} FROM {}`, rejects(signal, 2));
      expect(rows).toHaveLength(1);
    }
  });

  point('partial-success-all', async () => {
    await eachCase(async (signal, type) => {
      const body = encoded(signal, type, exportOf(signal, [aBadRecord[signal]]));
      const reply = await otlp.post(signal, type, body, { 'x-p-stream': otlp.newDataset() });
      expect(reply.status).toBe(200);
      rejects(signal, 1)(reply);
    });
  });

  point('partial-success-message', async () => {
    const why = { logs: '2106', traces: '2106', metrics: 'no value' };
    await eachCase(async (signal, type) => {
      const body = encoded(signal, type, exportOf(signal, [aBadRecord[signal]]));
      rejects(signal, 1, why[signal])(await otlp.post(signal, type, body));
    });
  });

  point('partial-success-integer', async () => {
    for (const signal of signals) {
      const body = encoded(signal, json, exportOf(signal, [aBadRecord[signal]]));
      const { message } = await otlp.post(signal, json, body);
      expect((message['partialSuccess'] as Row)[rejectedField[signal]]).toBe('1');
    }
  });

  point('warnings', async () => {
    const record = { traceId: id('0102'), timeUnixNano: noon };
    const row = await logRow(record, 'trace_id', warns('logs', 'trace id', '2 bytes'));
    expect(row).toEqual({ trace_id: '' });
  });

  point('response-limit', async () => {
    const long = 'x'.repeat(30_000);
    const points = Array.from({ length: 30 }, (_, index) => gauge({ attributes: [text(`k${index}`, long)] }));
    for (const type of encodings) {
      const reply = await otlp.post('metrics', type, encoded('metrics', type, exportOf('metrics', points)));
      expect(reply.status).toBe(200);
      expect(partialSuccess('metrics', reply).rejected).toBe(30);
      expect(reply.bytes.length).toBeLessThan(64 * 1024);
    }
  });
});

describe('errors', () => {
  const statusOf = (reply: OtlpReply): void => {
    expect(reply.message['message'], 'Status.message').toEqual(expect.any(String));
    expect(String(reply.message['message']).length).toBeGreaterThan(10);
    expect(reply.message['code'], 'Status.code').toEqual(expect.any(Number));
  };

  point('bad-data-400', async () => {
    await eachCase(async (signal, type) => {
      const reply = await otlp.post(signal, type, 'x');
      expect(reply.status).toBe(400);
      statusOf(reply);
      expect(reply.message['code']).toBe(3);
    });
  });

  point('bad-request-details', async () => {
    const badRequest = otlpType('BadRequest');
    await eachCase(async (signal, type) => {
      const { message } = await otlp.post(signal, type, 'x');
      const [detail] = message['details'] as readonly Record<string, unknown>[];
      const url = 'type.googleapis.com/google.rpc.BadRequest';
      const violations =
        type === json ? detail : badRequest.toObject(badRequest.decode(detail?.['value'] as Buffer));
      expect(type === json ? detail?.['@type'] : detail?.['typeUrl']).toBe(url);
      expect(violations).toMatchObject({
        fieldViolations: [
          {
            field: 'body',
            description: expect.stringMatching(/.{10}/) as string,
            reason: type === json ? 'BAD_JSON' : 'BAD_PROTOBUF',
          },
        ],
      });
    });
  });

  point('errors-are-statuses', async () => {
    await eachCase(async (signal, type) => {
      const body = encoded(signal, type, aRequest(signal));
      const dataset = otlp.newDataset();
      const other = signal === 'logs' ? 'traces' : 'logs';
      await otlp.post(other, json, encoded(other, json, aRequest(other)), { 'x-p-stream': dataset });
      const replies = [
        [401, await otlp.post(signal, type, body, { authorization: 'Basic eDp5' })],
        [409, await otlp.post(signal, type, body, { 'x-p-stream': dataset })],
        [400, await otlp.post(signal, type, body, { 'x-p-stream': '../x' })],
        [413, await otlp.post(signal, type, Buffer.alloc(maxBodyBytes + 1))],
        [415, await otlp.post(signal, type, body, { 'content-encoding': 'br' })],
      ] as const;
      for (const [status, reply] of replies) {
        expect(reply.status).toBe(status);
        statusOf(reply);
      }
    });
  });

  point('throttling', async () => {
    const receiver = new OtlpReceiver(throttled);
    await eachCase(async (signal, type) => {
      let reply = await receiver.post(signal, type, encoded(signal, type, aRequest(signal)));
      for (let times = 0; reply.status === 200 && times < 200; times++) {
        const body = encoded(
          signal,
          type,
          exportOf(
            signal,
            Array.from({ length: 200 }, () => aRecord[signal]),
          ),
        );
        reply = await receiver.post(signal, type, body, { 'idempotency-key': `"${signal}${type}${times}"` });
      }
      expect(reply.status).toBe(429);
      statusOf(reply);
    });
  });

  point('retry-after', async () => {
    const receiver = new OtlpReceiver(throttled);
    const reply = await receiver.post('logs', json, encoded('logs', json, aRequest('logs')));
    expect(reply.status).toBe(429);
    expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  });

  point('retryable-codes', async () => {
    const notRetried = await Promise.all([
      otlp.post('logs', json, 'x'),
      otlp.post('logs', protobuf, 'x'),
      otlp.post('logs', json, '{}', { authorization: 'Basic eDp5' }),
      otlp.post('logs', json, '{}', { 'x-p-stream': '../x' }),
      otlp.post('logs', json, Buffer.alloc(maxBodyBytes + 1)),
    ]);
    for (const { status, headers } of notRetried) {
      expect([429, 502, 503, 504]).not.toContain(status);
      expect(headers.get('retry-after')).toBeNull();
    }
  });

  point('bad-data-stores-nothing', async () => {
    const dataset = otlp.newDataset();
    const good = encoded('logs', protobuf, aRequest('logs'));
    const reply = await otlp.post('logs', protobuf, Buffer.concat([good, Buffer.from([0x0a, 5])]), {
      'x-p-stream': dataset,
    });
    expect(reply.status).toBe(400);
    await expect(otlp.query(`SELECT count(*) FROM ${dataset}`)).rejects.toThrow('sql_unknown_relation');
  });
});

/** The values that `AnyValue` can have, and the text of each. */
const anyValues: ReadonlyArray<readonly [string, TestAnyValue, string]> = [
  ['string', { stringValue: 'é"\\' }, 'é"\\'],
  ['bool', { boolValue: true }, 'true'],
  ['int', { intValue: -(2n ** 63n) }, '-9223372036854775808'],
  ['double', { doubleValue: 0.1 }, '0.1'],
  ['minus zero', { doubleValue: -0 }, '-0'],
  ['NaN', { doubleValue: Number.NaN }, 'NaN'],
  ['array', { arrayValue: { values: [{ intValue: 1n }, {}, { stringValue: 'b' }] } }, '[1,null,"b"]'],
  ['empty array', { arrayValue: { values: [] } }, '[]'],
  ['map', { kvlistValue: { values: [{ key: 'a', value: { arrayValue: { values: [] } } }] } }, '{"a":[]}'],
  ['bytes', { bytesValue: Buffer.from([1, 2, 255]) }, 'AQL/'],
  ['empty', {}, 'null'],
];
const valueAttributes = anyValues.map(([key, value]) => attribute(key, value));
const valueTexts = Object.fromEntries(anyValues.map(([key, , kept]) => [key, kept]));

describe('resources, scopes and attributes', () => {
  point('attribute-values', async () => {
    expect(await logRow({ attributes: valueAttributes }, 'attributes')).toEqual({ attributes: valueTexts });
  });

  point('attribute-values-nested', async () => {
    const row = await logRow({ body: { kvlistValue: { values: valueAttributes } } }, 'body');
    expect(JSON.parse(String(row?.['body']))).toMatchObject({
      array: [1, null, 'b'],
      bytes: 'AQL/',
      empty: null,
    });
  });

  point('attribute-empty-key', async () => {
    expect(await logRow({ attributes: [text('', 'v')] }, 'attributes')).toEqual({ attributes: { '': 'v' } });
  });

  point('attribute-duplicate-keys', async () => {
    const row = await logRow({ attributes: [text('k', 'a'), text('k', 'b')] }, "attributes->>'k' AS k");
    expect(['a', 'b']).toContain(row?.['k']);
  });

  point('dictionary-references', async () => {
    const value = { stringValueStrindex: 3 };
    const record = {
      attributes: [
        { key: 'k', value },
        { keyStrindex: 2, value: { stringValue: 'v' } },
      ],
    };
    const [row] = await otlp.stored(
      'logs',
      inJson({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }),
      'SELECT attributes FROM {}',
      warns('logs', 'reference'),
    );
    expect(row).toEqual({ attributes: { '': 'v', k: 'null' } });
    // In protobuf: a record with the body { string_value_strindex: 3 }.
    const bytes = Buffer.from([0x0a, 8, 0x12, 6, 0x12, 4, 0x2a, 2, 0x40, 3]);
    expect(
      await otlp.stored('logs', { [protobuf]: bytes }, 'SELECT body FROM {}', warns('logs', 'reference')),
    ).toEqual([{ body: 'null' }]);
    const point1 = { timeUnixNano: String(noon), asInt: '1', attributes: [{ key: 'k', value }] };
    const metrics = [{ name: 'm', gauge: { dataPoints: [point1] } }];
    expect(
      await otlp.stored(
        'metrics',
        inJson({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }),
        "SELECT labels->>'k' AS k FROM {}",
        warns('metrics', 'reference'),
      ),
    ).toEqual([{ k: 'null' }]);
  });

  point('resource', async () => {
    const resource = {
      attributes: [text('service.name', 's'), ...valueAttributes],
      droppedAttributesCount: 3,
    };
    const columns = 'service_name, resource_attributes, resource_dropped_attributes_count AS dropped';
    for (const signal of ['logs', 'traces'] as const) {
      const request = exportOf(signal, [aRecord[signal]], { resource });
      expect(await otlp.stored(signal, request, `SELECT ${columns} FROM {}`)).toEqual([
        { service_name: 's', resource_attributes: { 'service.name': 's', ...valueTexts }, dropped: 3 },
      ]);
    }
    const request = exportOf('metrics', [aRecord.metrics], { resource });
    const sql = 'SELECT labels, resource_dropped_attributes AS dropped FROM {}.series';
    expect(await otlp.stored('metrics', request, sql)).toEqual([
      { labels: { 'service.name': 's', ...valueTexts }, dropped: 3 },
    ]);
  });

  point('resource-missing', async () => {
    for (const signal of ['logs', 'traces'] as const) {
      expect(
        await otlp.stored(
          signal,
          aRequest(signal),
          'SELECT service_name AS s, resource_attributes AS r FROM {}',
        ),
      ).toEqual([{ s: '', r: {} }]);
    }
    expect(await samples(gauge({ asInt: 1n }))).toEqual([{ name: 'm', value: 1, labels: {} }]);
  });

  point('entity-refs', async () => {
    const entityRefs = [
      { schemaUrl: 'u', type: 'service', idKeys: ['service.name'], descriptionKeys: ['a', 'b'] },
    ];
    const resource = { attributes: [text('service.name', 's')], entityRefs };
    for (const signal of ['logs', 'traces'] as const) {
      const request = exportOf(signal, [aRecord[signal]], { resource });
      const [row] = await otlp.stored(signal, request, 'SELECT resource_entity_refs AS refs FROM {}');
      expect(JSON.parse(String(row?.['refs']))).toEqual(entityRefs);
    }
    const request = exportOf('metrics', [aRecord.metrics], { resource });
    const [row] = await otlp.stored('metrics', request, 'SELECT entity_refs FROM {}.series');
    expect(JSON.parse(String(row?.['entity_refs']))).toEqual(entityRefs);
  });

  point('scope', async () => {
    const scope = { name: 'n', version: '1', attributes: valueAttributes, droppedAttributesCount: 4 };
    const columns = `scope_name AS n, scope_version AS v, scope_attributes AS a,
      scope_dropped_attributes_count AS dropped`;
    for (const signal of ['logs', 'traces'] as const) {
      const request = exportOf(signal, [aRecord[signal]], { scope });
      expect(await otlp.stored(signal, request, `SELECT ${columns} FROM {}`)).toEqual([
        { n: 'n', v: '1', a: valueTexts, dropped: 4 },
      ]);
    }
    const request = exportOf('metrics', [aRecord.metrics], { scope });
    const sql = 'SELECT labels, scope_dropped_attributes AS dropped FROM {}.series';
    const labels = Object.fromEntries(
      Object.entries(valueTexts).map(([key, kept]) => [`otel_scope_${key}`, kept]),
    );
    expect(await otlp.stored('metrics', request, sql)).toEqual([
      { labels: { ...labels, otel_scope_name: 'n', otel_scope_version: '1' }, dropped: 4 },
    ]);
  });

  point('scope-missing', async () => {
    for (const signal of ['logs', 'traces'] as const) {
      expect(
        await otlp.stored(signal, aRequest(signal), 'SELECT scope_name AS n, scope_attributes AS a FROM {}'),
      ).toEqual([{ n: '', a: {} }]);
    }
  });

  point('schema-urls', async () => {
    const around = { resourceSchemaUrl: 'https://a/1', scopeSchemaUrl: 'https://b/2' };
    for (const signal of signals) {
      const relation = signal === 'metrics' ? '{}.series' : '{}';
      const sql = `SELECT resource_schema_url AS r, scope_schema_url AS s FROM ${relation}`;
      const request = exportOf(signal, [aRecord[signal]], around);
      expect(await otlp.stored(signal, request, sql)).toEqual([{ r: 'https://a/1', s: 'https://b/2' }]);
    }
  });

  point('several-resources-and-scopes', async () => {
    const rows = await otlp.stored(
      'logs',
      exampleLogs,
      'SELECT service_name AS s, scope_name AS n, count(*) AS c FROM {} GROUP BY 1, 2 ORDER BY 1',
    );
    expect(rows).toEqual([
      { s: 'checkout', n: 'http', c: 2 },
      { s: 'payment', n: '', c: 1 },
    ]);
  });
});

describe('log records', () => {
  point('log-time', async () => {
    const row = await logRow({ timeUnixNano: noon + 1n, observedTimeUnixNano: noon }, 'timestamp');
    expect(row).toEqual({ timestamp: '2025-11-20T12:00:00.000000001Z' });
  });

  point('log-time-missing', async () => {
    const row = await logRow({ observedTimeUnixNano: noon + 5n }, 'timestamp');
    expect(row).toEqual({ timestamp: '2025-11-20T12:00:00.000000005Z' });
    const received = "SELECT timestamp > now() - interval '1 hour' AS recent FROM {}";
    expect(await otlp.stored('logs', log({ body: { stringValue: 'x' } }), received)).toEqual([
      { recent: true },
    ]);
  });

  point('log-observed-time', async () => {
    const row = await logRow(
      { timeUnixNano: noon, observedTimeUnixNano: noon + 2n },
      'observed_timestamp AS seen',
    );
    expect(row).toEqual({ seen: '2025-11-20T12:00:00.000000002Z' });
    expect(await logRow({ timeUnixNano: noon }, 'observed_timestamp AS seen')).toEqual({ seen: null });
  });

  point('log-severity-number', async () => {
    const records = [0, 1, 24, 99].map((severityNumber) => ({ severityNumber, timeUnixNano: noon }));
    const sql = 'SELECT severity_number AS n FROM {} ORDER BY 1';
    const rows = await otlp.stored('logs', exportOf('logs', records), sql);
    expect(rows.map(({ n }) => n)).toEqual([0, 1, 24, 99]);
  });

  point('log-severity-text', async () => {
    expect(await logRow({ severityText: 'Très grave' }, 'severity_text AS s')).toEqual({ s: 'Très grave' });
  });

  point('log-body', async () => {
    const bodies = [
      ...anyValues,
      ['lines', { stringValue: 'a\nb\n' }, 'a\nb\n'],
      ['none', undefined, ''],
    ] as const;
    const records = bodies.map(([, body], index) => ({
      timeUnixNano: noon + BigInt(index),
      body: body as TestRequest | undefined,
    }));
    const rows = await otlp.stored(
      'logs',
      exportOf('logs', records),
      'SELECT body FROM {} ORDER BY timestamp',
    );
    expect(rows.map(({ body }) => body)).toEqual(bodies.map(([, , kept]) => kept));
  });

  point('log-dropped-attributes', async () => {
    expect(await logRow({ droppedAttributesCount: 7 }, 'dropped_attributes_count AS n')).toEqual({ n: 7 });
  });

  point('log-flags', async () => {
    expect(await logRow({ flags: 1 }, 'trace_flags AS f')).toEqual({ f: 1 });
  });

  point('log-flags-reserved-bits', async () => {
    const row = await logRow({ flags: 0xffff_ff01 }, 'trace_flags AS f, trace_flags & 255 AS w3c');
    expect(row).toEqual({ f: 0xffff_ff01, w3c: 1 });
  });

  point('log-ids', async () => {
    const row = await logRow({ traceId: id(traceId), spanId: id(spanId) }, 'trace_id AS t, span_id AS s');
    expect(row).toEqual({ t: traceId, s: spanId });
  });

  point('log-trace-id-invalid', async () => {
    expect(await logRow({ traceId: id('00'.repeat(16)) }, 'trace_id')).toEqual({ trace_id: '' });
    const warned = warns('logs', 'trace id');
    expect(await logRow({ traceId: id('01'.repeat(8)) }, 'trace_id', warned)).toEqual({ trace_id: '' });
    expect(await logRow({ severityNumber: 1 }, 'trace_id')).toEqual({ trace_id: '' });
  });

  point('log-span-id-invalid', async () => {
    expect(await logRow({ spanId: id('00'.repeat(8)) }, 'span_id')).toEqual({ span_id: '' });
    const warned = warns('logs', 'span id');
    expect(await logRow({ spanId: id('01'.repeat(16)) }, 'span_id', warned)).toEqual({ span_id: '' });
  });

  point('log-event-name', async () => {
    expect(await logRow({ eventName: 'device.app.start' }, 'event_name')).toEqual({
      event_name: 'device.app.start',
    });
  });
});

describe('spans', () => {
  point('span-ids', async () => {
    const row = await spanRow(
      { parentSpanId: id('0102030405060708') },
      'trace_id, span_id, parent_span_id AS p',
    );
    expect(row).toEqual({ trace_id: traceId, span_id: spanId, p: '0102030405060708' });
  });

  point('span-root', async () => {
    expect(await spanRow({}, 'parent_span_id AS p')).toEqual({ p: '' });
    expect(await spanRow({ parentSpanId: id('00'.repeat(8)) }, 'parent_span_id AS p')).toEqual({ p: '' });
  });

  point('span-ids-invalid', async () => {
    for (const fields of [{ traceId: id('01') }, { spanId: id('01') }, { parentSpanId: id('01') }]) {
      for (const type of encodings) {
        rejects(
          'traces',
          1,
          '1 bytes',
        )(await otlp.post('traces', type, encoded('traces', type, span(fields))));
      }
    }
    // Beside one that is stored.
    const spans = [aSpan({ traceId: id('01') }), aSpan({ name: 'kept' })];
    const kept = await otlp.stored(
      'traces',
      exportOf('traces', spans),
      'SELECT name FROM {}',
      rejects('traces', 1),
    );
    expect(kept).toEqual([{ name: 'kept' }]);
  });

  point('span-trace-state', async () => {
    expect(await spanRow({ traceState: 'a=1,b=2' }, 'trace_state AS s')).toEqual({ s: 'a=1,b=2' });
  });

  point('span-flags', async () => {
    expect(await spanRow({ flags: 0x301 }, 'trace_flags AS f')).toEqual({ f: 0x301 });
  });

  point('span-flags-reserved-bits', async () => {
    const row = await spanRow({ flags: 0xffff_ff01 }, 'trace_flags & 255 AS w3c, trace_flags & 256 AS known');
    expect(row).toEqual({ w3c: 1, known: 256 });
  });

  point('span-name', async () => {
    expect(await spanRow({ name: 'GET /é' }, 'name')).toEqual({ name: 'GET /é' });
    expect(await spanRow({ name: '' }, 'name')).toEqual({ name: '' });
  });

  point('span-kind', async () => {
    const names = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer', '77'];
    const kinds = [0, 1, 2, 3, 4, 5, 77];
    const spans = kinds.map((kind) => aSpan({ kind, startTimeUnixNano: noon + BigInt(kind) }));
    const rows = await otlp.stored(
      'traces',
      exportOf('traces', spans),
      'SELECT kind FROM {} ORDER BY timestamp',
    );
    expect(rows.map(({ kind }) => kind)).toEqual(names);
  });

  point('span-times', async () => {
    const times = { startTimeUnixNano: noon + 1n, endTimeUnixNano: noon + 1_500_000_001n };
    expect(await spanRow(times, 'timestamp, duration_ns AS d')).toEqual({
      timestamp: '2025-11-20T12:00:00.000000001Z',
      d: 1_500_000_000,
    });
  });

  point('span-ends-before-it-starts', async () => {
    const times = { startTimeUnixNano: noon, endTimeUnixNano: noon - 10n };
    expect(await spanRow(times, 'duration_ns AS d')).toEqual({ d: -10 });
  });

  point('span-attributes', async () => {
    const row = await spanRow({ attributes: valueAttributes }, 'attributes');
    expect(row).toEqual({ attributes: valueTexts });
  });

  point('span-dropped-counts', async () => {
    const fields = { droppedAttributesCount: 1, droppedEventsCount: 2, droppedLinksCount: 3 };
    const columns = 'dropped_attributes_count AS a, dropped_events_count AS e, dropped_links_count AS l';
    expect(await spanRow(fields, columns)).toEqual({ a: 1, e: 2, l: 3 });
  });

  point('span-events', async () => {
    const events = [
      { timeUnixNano: noon + 1n, name: 'one', attributes: valueAttributes, droppedAttributesCount: 4 },
      { timeUnixNano: noon, name: '' },
    ];
    expect(itemsOf(await spanRow({ events }, 'events'), 'events')).toMatchObject([
      {
        timestamp: expect.stringContaining('12:00:00.000000001') as string,
        name: 'one',
        attributes: valueTexts,
        dropped_attributes_count: 4,
      },
      { name: '', attributes: {}, dropped_attributes_count: 0 },
    ]);
  });

  point('span-links', async () => {
    const links = [
      {
        traceId: id(traceId),
        spanId: id(spanId),
        traceState: 'x=1',
        attributes: valueAttributes,
        droppedAttributesCount: 5,
        flags: 0x301,
      },
    ];
    expect(itemsOf(await spanRow({ links }, 'links'), 'links')).toMatchObject([
      {
        trace_id: traceId,
        span_id: spanId,
        trace_state: 'x=1',
        attributes: valueTexts,
        dropped_attributes_count: 5,
        flags: 0x301,
      },
    ]);
  });

  point('span-link-ids-invalid', async () => {
    const links = [{ traceId: id('01'), spanId: id(spanId) }];
    const row = await spanRow({ links }, 'links', warns('traces', 'link'));
    expect(itemsOf(row, 'links')).toMatchObject([{ trace_id: '', span_id: spanId }]);
  });

  point('span-status', async () => {
    const columns = 'status_code AS c, status_message AS m';
    expect(await spanRow({ status: { code: 2, message: 'no' } }, columns)).toEqual({ c: 'error', m: 'no' });
    expect(await spanRow({ status: { code: 1 } }, columns)).toEqual({ c: 'ok', m: '' });
    expect(await spanRow({ status: { code: 9 } }, columns)).toEqual({ c: '9', m: '' });
  });

  point('span-status-missing', async () => {
    expect(await spanRow({}, 'status_code AS c')).toEqual({ c: 'unset' });
  });
});

describe('metrics', () => {
  const series = async (fields: TestRequest, columns: string) =>
    (await otlp.stored('metrics', metric(fields), `SELECT ${columns} FROM {}.series`))[0];
  const values = async (
    fields: TestRequest,
    check?: (reply: OtlpReply) => void,
  ): Promise<Record<string, unknown>> =>
    Object.fromEntries(
      (await samples(fields, check)).map(({ name, labels, value }) => {
        const { le, quantile } = labels as Readonly<Record<string, string>>;
        return [[name, le ?? quantile ?? ''].join(' ').trim(), value];
      }),
    );
  const histogram = (fields: TestRequest): TestRequest => ({
    name: 'h',
    histogram: { aggregationTemporality: 2, dataPoints: [{ timeUnixNano: noon, ...fields }] },
  });
  const exponential = (fields: TestRequest): TestRequest => ({
    name: 'e',
    exponentialHistogram: { aggregationTemporality: 2, dataPoints: [{ timeUnixNano: noon, ...fields }] },
  });
  const summary = (fields: TestRequest): TestRequest => ({
    name: 's',
    summary: { dataPoints: [{ timeUnixNano: noon, ...fields }] },
  });
  const histogramRow = async (fields: TestRequest, columns: string, check?: (reply: OtlpReply) => void) =>
    (
      await otlp.stored('metrics', metric(exponential(fields)), `SELECT ${columns} FROM {}.histograms`, check)
    )[0];

  point('metric-name-unit-description', async () => {
    const fields = { ...gauge({ asInt: 1n }, 'http.server.é'), unit: 'By', description: 'what it is' };
    const sql = 'SELECT metric_name, unit, description, type FROM {}.metadata';
    expect(await otlp.stored('metrics', metric(fields), sql)).toEqual([
      { metric_name: 'http.server.é', unit: 'By', description: 'what it is', type: 'gauge' },
    ]);
  });

  point('metric-metadata', async () => {
    const fields = { ...gauge({ asInt: 1n }), metadata: [text('prometheus.type', 'info')] };
    expect(
      await otlp.stored('metrics', metric(fields), 'SELECT metric_metadata AS m FROM {}.metadata'),
    ).toEqual([{ m: { 'prometheus.type': 'info' } }]);
  });

  point('metric-without-data', async () => {
    for (const type of encodings) {
      const body = encoded('metrics', type, metric({ name: 'm', unit: 's' }));
      isFullSuccess(await otlp.post('metrics', type, body, { 'x-p-stream': otlp.newDataset() }));
    }
  });

  point('point-attributes', async () => {
    expect(await samples(gauge({ asInt: 1n, attributes: valueAttributes }))).toEqual([
      { name: 'm', value: 1, labels: valueTexts },
    ]);
  });

  point('several-series', async () => {
    const dataPoints = ['a', 'b'].map((value) => ({
      timeUnixNano: noon,
      asInt: 1n,
      attributes: [text('k', value)],
    }));
    const rows = await samples({ name: 'm', gauge: { dataPoints } });
    expect(rows.map(({ labels }) => labels)).toEqual(expect.arrayContaining([{ k: 'a' }, { k: 'b' }]));
    expect(rows).toHaveLength(2);
  });

  point('point-time', async () => {
    const fields = gauge({
      asInt: 1n,
      timeUnixNano: noon + 1_500_000n,
      startTimeUnixNano: noon - 1_000_000_000n,
    });
    const sql = 'SELECT timestamp, start_timestamp FROM {}';
    expect(await otlp.stored('metrics', metric(fields), sql)).toEqual([
      { timestamp: '2025-11-20T12:00:00.001Z', start_timestamp: '2025-11-20T11:59:59.000Z' },
    ]);
  });

  point('point-time-zero', async () => {
    const sql = "SELECT timestamp > now() - interval '1 hour' AS recent FROM {}";
    const request = metric(gauge({ asInt: 1n, timeUnixNano: 0n }));
    expect(await otlp.stored('metrics', request, sql)).toEqual([{ recent: true }]);
  });

  point('point-start-time-missing', async () => {
    const request = metric(gauge({ asInt: 1n }));
    expect(await otlp.stored('metrics', request, 'SELECT start_timestamp AS s FROM {}')).toEqual([
      { s: null },
    ]);
  });

  point('number-values', async () => {
    const points = [{ asInt: -5n }, { asInt: 0n }, { asDouble: 0.1 }, { asDouble: 1e300 }];
    const dataPoints = points.map((value, index) => ({
      ...value,
      timeUnixNano: noon + BigInt(index) * 1_000_000n,
    }));
    const request = metric({ name: 'm', gauge: { dataPoints } });
    const rows = await otlp.stored('metrics', request, 'SELECT value FROM {} ORDER BY timestamp');
    expect(rows.map(({ value }) => value)).toEqual([-5, 0, 0.1, 1e300]);
  });

  point('number-without-value', async () => {
    expect(await values(gauge({}), rejects('metrics', 1, 'no value'))).toEqual({});
  });

  point('no-recorded-value', async () => {
    // The marker of a stale series is stored and ends the series; a query does not show it.
    const dataPoints = [
      { timeUnixNano: noon, asInt: 1n },
      { timeUnixNano: noon + 1_000_000n, flags: 1 },
    ];
    const rows = await samples({ name: 'm', gauge: { dataPoints } });
    expect(rows.map(({ value }) => value)).toEqual([1]);
  });

  point('point-flags-reserved-bits', async () => {
    expect(await values(gauge({ asInt: 3n, flags: 0xffff_fffe }))).toEqual({ m: 3 });
  });

  point('gauge', async () => {
    const row = await series(gauge({ asInt: 1n }), 'metric_type AS t, temporality AS a');
    expect(row).toEqual({ t: 'gauge', a: null });
  });

  point('sum-temporality', async () => {
    for (const [aggregationTemporality, kept] of [
      [0, null],
      [1, 'delta'],
      [2, 'cumulative'],
    ] as const) {
      const sum = { aggregationTemporality, dataPoints: [{ timeUnixNano: noon, asInt: 1n }] };
      expect(await series({ name: 'm', sum }, 'metric_type AS t, temporality AS a')).toEqual({
        t: 'sum',
        a: kept,
      });
    }
  });

  point('sum-monotonic', async () => {
    for (const isMonotonic of [true, false]) {
      const sum = { isMonotonic, aggregationTemporality: 2, dataPoints: [{ timeUnixNano: noon, asInt: 1n }] };
      expect(await series({ name: 'm', sum }, 'is_monotonic AS m')).toEqual({ m: isMonotonic });
    }
  });

  point('histogram', async () => {
    const fields = {
      count: 6n,
      sum: 4.5,
      min: 0.05,
      max: 2,
      bucketCounts: [1n, 2n, 3n],
      explicitBounds: [0.1, 1],
    };
    expect(await values(histogram(fields))).toEqual({
      'h_bucket 0.1': 1,
      'h_bucket 1': 3,
      'h_bucket +Inf': 6,
      h_count: 6,
      h_sum: 4.5,
      h_min: 0.05,
      h_max: 2,
    });
  });

  point('histogram-without-buckets', async () => {
    const kept = { 'h_bucket +Inf': 6, h_count: 6, h_sum: 4.5 };
    expect(await values(histogram({ count: 6n, sum: 4.5 }))).toEqual(kept);
  });

  point('histogram-optional-fields', async () => {
    const kept = { 'h_bucket +Inf': 6, h_count: 6 };
    expect(await values(histogram({ count: 6n }))).toEqual(kept);
    expect(await values(histogram({ count: 6n, sum: 0 }))).toEqual({ ...kept, h_sum: 0 });
  });

  point('histogram-lengths', async () => {
    for (const fields of [
      { bucketCounts: [1n, 2n], explicitBounds: [1, 2] },
      { bucketCounts: [1n, 2n] },
      { explicitBounds: [1] },
    ]) {
      expect(await values(histogram(fields), rejects('metrics', 1, 'bounds'))).toEqual({});
    }
  });

  point('histogram-bounds-increase', async () => {
    for (const explicitBounds of [
      [2, 1],
      [1, 1],
      [Number.NaN, 1],
    ]) {
      const fields = { bucketCounts: [1n, 2n, 3n], explicitBounds };
      expect(await values(histogram(fields), rejects('metrics', 1, 'ascending'))).toEqual({});
    }
  });

  point('histogram-temporality', async () => {
    const request = { ...metric(histogram({ count: 1n })) };
    const sql = 'SELECT DISTINCT temporality AS t, metric_type AS m FROM {}.series';
    expect(await otlp.stored('metrics', request, sql)).toEqual([{ t: 'cumulative', m: 'histogram' }]);
  });

  point('exponential-histogram', async () => {
    const fields = {
      count: 10n,
      sum: 3,
      scale: -2,
      zeroCount: 1n,
      zeroThreshold: 0.5,
      min: -1,
      max: 9,
      positive: { offset: 2, bucketCounts: [1n, 3n] },
      negative: { offset: -4, bucketCounts: [5n] },
    };
    const columns = `count, sum, schema, zero_count, zero_threshold, min, max, positive_spans AS p,
      positive_buckets AS pb, negative_spans AS n, negative_buckets AS nb`;
    expect(await histogramRow(fields, columns)).toEqual({
      count: 10,
      sum: 3,
      schema: -2,
      zero_count: 1,
      zero_threshold: 0.5,
      min: -1,
      max: 9,
      // Buckets are numbered by their upper bounds here, by their lower ones in OTLP.
      p: '[[3,2]]',
      pb: '[1,3]',
      n: '[[-3,1]]',
      nb: '[5]',
    });
  });

  point('exponential-histogram-scales', async () => {
    const dataPoints = [-10, 0, 20, 1000].map((scale) => ({ scale, count: 1n, timeUnixNano: noon }));
    const request = metric({ name: 'e', exponentialHistogram: { dataPoints } });
    const sql = 'SELECT schema FROM {}.histograms ORDER BY schema';
    const rows = await otlp.stored('metrics', request, sql, rejects('metrics', 1, 'scale'));
    expect(rows.map(({ schema }) => schema)).toEqual([-10, 0, 20]);
  });

  point('exponential-histogram-optional-fields', async () => {
    const row = await histogramRow({ count: 1n }, 'sum::text AS sum, min, max');
    expect(row).toEqual({ sum: 'NaN', min: null, max: null });
  });

  point('summary', async () => {
    const quantileValues = [
      { quantile: 0, value: 1 },
      { quantile: 0.5, value: 2 },
      { quantile: 1, value: 9 },
    ];
    expect(await values(summary({ count: 3n, sum: 12, quantileValues }))).toEqual({
      's 0': 1,
      's 0.5': 2,
      's 1': 9,
      s_count: 3,
      s_sum: 12,
    });
  });

  point('summary-without-quantiles', async () => {
    expect(await values(summary({ count: 3n, sum: 12 }))).toEqual({ s_count: 3, s_sum: 12 });
  });

  point('exemplars', async () => {
    const exemplars = [
      {
        timeUnixNano: noon + 2_000_000n,
        asDouble: 0.7,
        traceId: id(traceId),
        spanId: id(spanId),
        filteredAttributes: [text('user', 'u')],
      },
      { timeUnixNano: noon, asInt: -3n },
    ];
    const sql = 'SELECT timestamp, value, exemplar_labels AS l FROM {}.exemplars ORDER BY value';
    expect(await otlp.stored('metrics', metric(gauge({ asInt: 1n, exemplars })), sql)).toEqual([
      { timestamp: '2025-11-20T12:00:00.000Z', value: -3, l: {} },
      {
        timestamp: '2025-11-20T12:00:00.002Z',
        value: 0.7,
        l: { span_id: spanId, trace_id: traceId, user: 'u' },
      },
    ]);
    const inHistograms = [
      [histogram({ count: 1n, exemplars }), 2],
      [exponential({ count: 1n, exemplars }), 2],
    ] as const;
    for (const [fields, count] of inHistograms) {
      const counted = 'SELECT count(*)::int AS n FROM {}.exemplars';
      expect(await otlp.stored('metrics', metric(fields), counted)).toEqual([{ n: count }]);
    }
  });

  point('exemplar-without-value', async () => {
    const exemplars = [{ timeUnixNano: noon }];
    const sql = 'SELECT count(*)::int AS n FROM {}';
    const request = metric(gauge({ asInt: 1n, exemplars }));
    expect(await otlp.stored('metrics', request, sql, warns('metrics', 'no value'))).toEqual([{ n: 1 }]);
  });

  point('exemplar-ids-invalid', async () => {
    const exemplars = [{ timeUnixNano: noon, asInt: 1n, traceId: id('01'), spanId: id('00'.repeat(8)) }];
    const sql = 'SELECT exemplar_labels AS l FROM {}.exemplars';
    const request = metric(gauge({ asInt: 1n, exemplars }));
    expect(await otlp.stored('metrics', request, sql, warns('metrics', 'trace_id'))).toEqual([{ l: {} }]);
  });
});

test('the page lists what is tested here, and nothing else', () => {
  const { yes, exception } = documentedPoints();
  expect([...yes, ...exception].toSorted()).toEqual(tested.toSorted());
});
