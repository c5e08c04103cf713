/** Remote Write through the built service, and what SQL then says. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  buildRequestV2,
  buildWriteRequest,
  type TestHistogram,
  type TestSeries,
} from '../../support/remote-write/remote-write-requests.ts';
import { authorization, type Row, Service } from '../../support/service/service.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '50' } });
});
afterAll(() => service?.dispose());

const contentTypes = {
  1: 'application/x-protobuf',
  2: 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
} as const;

/** @param declared what the Content-Type says; `none` leaves it out */
async function write(declared: 1 | 2 | 'none', dataset: string, body: Uint8Array) {
  const reply = await fetch(`${service.url}/v1/prometheus/write`, {
    method: 'POST',
    headers: {
      authorization,
      ...(declared === 'none' ? {} : { 'content-type': contentTypes[declared] }),
      'content-encoding': 'snappy',
      'x-p-stream': dataset,
    },
    body: Buffer.from(body),
  });
  const written = ['samples', 'histograms', 'exemplars'].map((kind) =>
    reply.headers.get(`x-prometheus-remote-write-${kind}-written`),
  );
  const text = await reply.text();
  return { status: reply.status, written, text, replayed: reply.headers.get('millrace-replayed') };
}

async function query(sql: string): Promise<readonly Row[]> {
  await service.drained();
  return service.query(sql);
}

const noonMs = 1_763_640_000_000;
const noon = '2025-11-20T12:00:00.000Z';
const histogram: TestHistogram = {
  timestamp: noonMs,
  startTimestamp: noonMs - 60_000,
  countInt: 21,
  sum: 18.5,
  schema: 1,
  zeroThreshold: 0.001,
  zeroCountInt: 3,
  positiveSpans: [
    { offset: -2, length: 2 },
    { offset: 1, length: 1 },
  ],
  positiveDeltas: [1, 1, -1],
  negativeSpans: [{ offset: 0, length: 1 }],
  negativeDeltas: [14],
  resetHint: 2,
};
const requests: TestSeries = {
  labels: { __name__: 'requests_total', job: 'api', zone: 'a' },
  samples: [{ value: 7, timestampMs: noonMs, startMs: noonMs - 60_000 }],
  exemplars: [{ labels: { trace_id: 'abc', user: 'ü' }, value: 0.25, timestampMs: noonMs + 1 }],
  metadata: { type: 1, help: 'All requests', unit: 'requests' },
};
const latency: TestSeries = {
  labels: { __name__: 'latency', job: 'api' },
  histograms: [
    histogram,
    {
      timestamp: noonMs + 1,
      countFloat: 2.5,
      positiveSpans: [{ offset: 3, length: 1 }],
      positiveCounts: [2.5],
    },
  ],
};

describe('a request of version 2.0', () => {
  test('is answered with 204, an empty body and what was written', async () => {
    expect(await write(2, 'm', buildRequestV2([requests, latency]))).toEqual({
      status: 204,
      written: ['1', '2', '1'],
      text: '',
      replayed: null,
    });
  });

  test('shows its samples, with the labels and the start of the counter', async () => {
    const sql = "SELECT metric_name, timestamp, value, start_timestamp, job, zone FROM m WHERE zone = 'a'";
    expect(await query(sql)).toEqual([
      {
        metric_name: 'requests_total',
        timestamp: noon,
        value: 7,
        start_timestamp: '2025-11-20T11:59:00.000Z',
        job: 'api',
        zone: 'a',
      },
    ]);
  });

  test('shows its series', async () => {
    const sql = 'SELECT metric_name, labels FROM m.series ORDER BY metric_name';
    expect(await query(sql)).toEqual([
      { metric_name: 'latency', labels: { job: 'api' } },
      { metric_name: 'requests_total', labels: { job: 'api', zone: 'a' } },
    ]);
  });

  test('shows its exemplars, with their own labels and those of the series', async () => {
    const sql = `SELECT metric_name, timestamp, value, exemplar_labels, exemplar_labels->>'trace_id' AS trace, zone
      FROM m.exemplars WHERE job = 'api' AND metric_name = 'requests_total'`;
    expect(await query(sql)).toEqual([
      {
        metric_name: 'requests_total',
        timestamp: '2025-11-20T12:00:00.001Z',
        value: 0.25,
        exemplar_labels: { trace_id: 'abc', user: 'ü' },
        trace: 'abc',
        zone: 'a',
      },
    ]);
    expect(await query("SELECT count(*) AS n FROM m.exemplars WHERE metric_name = 'latency'")).toEqual([
      { n: 0 },
    ]);
  });

  test('shows its histograms', async () => {
    const sql = "SELECT * FROM m.histograms WHERE metric_name = 'latency' ORDER BY timestamp";
    expect(await query(sql)).toEqual([
      {
        metric_name: 'latency',
        timestamp: noon,
        start_timestamp: '2025-11-20T11:59:00.000Z',
        count: 21,
        sum: 18.5,
        schema: 1,
        zero_threshold: 0.001,
        zero_count: 3,
        negative_spans: '[[0,1]]',
        negative_buckets: '[14]',
        positive_spans: '[[-2,2],[1,1]]',
        positive_buckets: '[1,2,1]',
        custom_values: '[]',
        reset_hint: 'no',
        is_float: false,
        min: null,
        max: null,
        labels: { job: 'api' },
      },
      {
        metric_name: 'latency',
        timestamp: '2025-11-20T12:00:00.001Z',
        start_timestamp: null,
        count: 2.5,
        sum: 0,
        schema: 0,
        zero_threshold: 0,
        zero_count: 0,
        negative_spans: '[]',
        negative_buckets: '[]',
        positive_spans: '[[3,1]]',
        positive_buckets: '[2.5]',
        custom_values: '[]',
        reset_hint: 'unknown',
        is_float: true,
        min: null,
        max: null,
        labels: { job: 'api' },
      },
    ]);
    const total = 'SELECT job, sum(count) AS n FROM m.histograms GROUP BY job';
    expect(await query(total)).toEqual([{ job: 'api', n: 23.5 }]);
  });

  test('shows what its metrics are', async () => {
    expect(await query('SELECT * FROM m.metadata')).toEqual([
      {
        metric_name: 'requests_total',
        type: 'counter',
        unit: 'requests',
        description: 'All requests',
        temporality: null,
        is_monotonic: false,
        metric_metadata: {},
      },
    ]);
    const joined = `SELECT m.value, d.type FROM m JOIN m.metadata AS d ON d.metric_name = m.metric_name`;
    expect(await query(joined)).toEqual([{ value: 7, type: 'counter' }]);
  });

  test('that can be stored in part is, once, however often it is repeated', async () => {
    const nameless = { ...requests, labels: { job: 'nameless' } };
    const body = buildRequestV2([{ ...requests, labels: { __name__: 'part' } }, nameless]);
    const first = await write(2, 'partial', body);
    expect(first).toMatchObject({ status: 400, written: ['1', '0', '1'], replayed: null });
    expect(first.text).toContain('The series {job=\\"nameless\\"} is refused: it has no metric name');
    expect(await write(2, 'partial', body)).toEqual({ ...first, replayed: 'true' });
    expect(await query('SELECT metric_name, value FROM partial')).toEqual([
      { metric_name: 'part', value: 7 },
    ]);
  });

  test('of which nothing can be stored makes no dataset', async () => {
    const reply = await write(2, 'nothing', buildRequestV2([{ ...requests, labels: {} }]));
    expect(reply).toMatchObject({ status: 400, written: ['0', '0', '0'] });
    await expect(service.query('SELECT 1 FROM nothing')).rejects.toMatchObject({ status: 400 });
  });
});

describe('a request of version 1.0', () => {
  test('is answered with what it held', async () => {
    const reply = await write(1, 'v1', buildWriteRequest([requests, latency]));
    expect(reply).toMatchObject({ status: 200, written: [null, null, null] });
    expect(JSON.parse(reply.text)).toEqual({ samples: 1, histograms: 2, exemplars: 1, metadata: 0 });
    expect(await query('SELECT count(*) AS n FROM v1.histograms')).toEqual([{ n: 2 }]);
  });

  test('of metadata alone is stored, and the newest wins', async () => {
    const described = (help: string) => buildWriteRequest([], [{ family: 'up', type: 2, help }]);
    expect(JSON.parse((await write(1, 'meta', described('old'))).text)).toMatchObject({ metadata: 1 });
    await service.drained();
    await write(1, 'meta', described('new'));
    expect(
      await query("SELECT metric_name, type, unit, description FROM meta.metadata WHERE metric_name = 'up'"),
    ).toEqual([{ metric_name: 'up', type: 'gauge', unit: '', description: 'new' }]);
  });

  test('is taken whole or not at all', async () => {
    const reply = await write(1, 'whole', buildWriteRequest([requests, { ...requests, labels: {} }]));
    expect(reply).toMatchObject({ status: 400, written: [null, null, null] });
    expect(reply.text).toContain('no metric name');
    await expect(service.query('SELECT 1 FROM whole')).rejects.toMatchObject({ status: 400 });
  });

  test('with 10,000 samples is stored', async () => {
    const series = Array.from({ length: 10_000 }, (_, index) => ({
      labels: { __name__: 'many', instance: String(index) },
      samples: [{ value: index, timestampMs: noonMs }],
    }));
    expect((await write(1, 'many', buildWriteRequest(series))).status).toBe(200);
    const sql = 'SELECT count(*) AS n, count(DISTINCT instance) AS hosts, sum(value) AS total FROM many';
    expect(await query(sql)).toEqual([{ n: 10_000, hosts: 10_000, total: 49_995_000 }]);
  });
});

describe('a histogram that Prometheus refuses', () => {
  const broken = { labels: { __name__: 'broken' }, histograms: [{ ...histogram, countInt: 22 }] };

  test('is refused in version 2.0, and the rest is stored', async () => {
    const reply = await write(2, 'broken2', buildRequestV2([requests, latency, broken]));
    expect(reply).toMatchObject({ status: 400, written: ['1', '2', '1'] });
    expect(reply.text).toContain('its count is 22, and its buckets hold 21');
    expect(await query('SELECT metric_name FROM broken2.histograms')).toEqual([
      { metric_name: 'latency' },
      { metric_name: 'latency' },
    ]);
  });

  test('is refused in version 1.0, with all of its request', async () => {
    const reply = await write(1, 'broken1', buildWriteRequest([requests, broken]));
    expect(reply).toMatchObject({ status: 400, written: [null, null, null] });
    await expect(service.query('SELECT 1 FROM broken1')).rejects.toMatchObject({ status: 400 });
  });
});

describe('a body of another version than the declared one is refused:', () => {
  const bodies = { 1: buildWriteRequest([requests]), 2: buildRequestV2([requests]) };

  test.each([
    [1, 2, [null, null, null]],
    ['none', 2, [null, null, null]],
    [2, 1, ['0', '0', '0']],
  ] as const)('declared as %s, and of version %d', async (declared, actual, written) => {
    const reply = await write(declared, 'mistaken', bodies[actual]);
    expect(reply).toMatchObject({ status: 400, written });
    expect(reply.text).toContain(`The body is a message of Remote Write ${actual}.0`);
    await expect(service.query('SELECT 1 FROM mistaken')).rejects.toMatchObject({ status: 400 });
  });
});

test('a relation that a metrics dataset does not have is named', async () => {
  await expect(service.query('SELECT 1 FROM m.buckets')).rejects.toMatchObject({
    body: expect.stringContaining('m.buckets'),
  });
});
