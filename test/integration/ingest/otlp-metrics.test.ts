/** OTLP metrics through the built service, and what SQL then says. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fields, metricsProtobuf, oneScope } from '../../support/otlp/otlp-metrics.ts';
import { authorization, type Row, Service } from '../../support/service/service.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '50' } });
});
afterAll(() => service?.dispose());

const example = readFileSync(new URL('../../support/otlp/otlp-examples/metrics.json', import.meta.url));

async function post(body: Uint8Array, type: string, headers: Record<string, string> = {}) {
  const reply = await fetch(`${service.url}/v1/metrics`, {
    method: 'POST',
    headers: { authorization, 'content-type': type, 'x-p-stream': 'm', ...headers },
    body: Buffer.from(body),
  });
  const text = await reply.text();
  return { status: reply.status, text, replayed: reply.headers.get('millrace-replayed') };
}

async function query(sql: string): Promise<readonly Row[]> {
  await service.drained();
  return service.query(sql);
}

const noonMs = 1_763_640_000_000;
const noon = '2025-11-20T12:00:00.000Z';

describe('the example', () => {
  beforeAll(async () => {
    const reply = await post(gzipSync(example), 'application/json', { 'content-encoding': 'gzip' });
    expect(reply).toEqual({ status: 200, text: '{}', replayed: null });
  });

  test('is stored once, however often it is sent', async () => {
    const again = await post(gzipSync(example), 'application/json', { 'content-encoding': 'gzip' });
    expect(again).toEqual({ status: 200, text: '{}', replayed: 'true' });
    expect(await query('SELECT count(*) AS n FROM m')).toEqual([{ n: 13 }]);
  });

  test('shows its samples, under names as sent, with labels as columns', async () => {
    const sql = `SELECT metric_name, timestamp, value, start_timestamp, currency, "service.name", otel_scope_name,
      otel_scope_team, "process.pid" FROM m WHERE metric_name = 'cart.items.added'`;
    expect(await query(sql)).toEqual([
      {
        metric_name: 'cart.items.added',
        timestamp: noon,
        value: 12,
        start_timestamp: '2025-11-20T11:59:00.000Z',
        currency: 'EUR',
        'service.name': 'shop',
        otel_scope_name: 'shop.cart',
        otel_scope_team: 'checkout',
        'process.pid': '4711',
      },
    ]);
  });

  test('shows buckets, and quantiles', async () => {
    const buckets = "SELECT le, value FROM m WHERE metric_name = 'cart.latency_bucket' ORDER BY value";
    expect(await query(buckets)).toEqual([
      { le: '0.1', value: 1 },
      { le: '1', value: 3 },
      { le: '+Inf', value: 6 },
    ]);
    const others = `SELECT metric_name AS name, value FROM m
      WHERE metric_name LIKE 'cart.latency\\_%' AND le IS NULL ORDER BY 1`;
    expect(await query(others)).toEqual([
      { name: 'cart.latency_count', value: 6 },
      { name: 'cart.latency_max', value: 2 },
      { name: 'cart.latency_min', value: 0.05 },
      { name: 'cart.latency_sum', value: 4.5 },
    ]);
    const quantiles = "SELECT quantile, value FROM m WHERE metric_name = 'cart.age' ORDER BY value";
    expect(await query(quantiles)).toEqual([
      { quantile: '0.5', value: 10 },
      { quantile: '1', value: 20 },
    ]);
  });

  test('shows no value where none was recorded', async () => {
    expect(await query("SELECT value FROM m WHERE metric_name = 'cart.size'")).toEqual([{ value: 3.5 }]);
  });

  test('shows exponential histograms', async () => {
    const sql = `SELECT count, sum, schema, zero_count, positive_spans, positive_buckets, min, max, "service.name"
      FROM m.histograms WHERE metric_name = 'cart.value'`;
    expect(await query(sql)).toEqual([
      {
        count: 9,
        sum: 81,
        schema: 3,
        zero_count: 1,
        positive_spans: '[[5,3]]',
        positive_buckets: '[3,0,5]',
        min: 0,
        max: 2.5,
        'service.name': 'shop',
      },
    ]);
  });

  test('shows exemplars with the ids of their spans', async () => {
    const sql = "SELECT timestamp, value, exemplar_labels FROM m.exemplars WHERE currency = 'EUR'";
    expect(await query(sql)).toEqual([
      {
        timestamp: '2025-11-20T11:59:50.000Z',
        value: 3,
        exemplar_labels: {
          customer: 'c-9',
          span_id: 'eee19b7ec3c1b174',
          trace_id: '5b8efff798038103d269b633813fc60c',
        },
      },
    ]);
  });

  test('shows what its metrics and its series are', async () => {
    const metadata = 'SELECT metric_name, type, unit, description, temporality, is_monotonic FROM m.metadata';
    expect(await query(`${metadata} WHERE type = 'sum'`)).toEqual([
      {
        metric_name: 'cart.items.added',
        type: 'sum',
        unit: '{item}',
        description: 'Items put into carts',
        temporality: 'delta',
        is_monotonic: true,
      },
    ]);
    const series = `SELECT DISTINCT metric_type, metric_unit, temporality, resource_schema_url,
      resource_dropped_attributes, entity_refs FROM m.series WHERE metric_name LIKE 'cart.latency%'`;
    expect(await query(series)).toEqual([
      {
        metric_type: 'histogram',
        metric_unit: 's',
        temporality: 'cumulative',
        resource_schema_url: 'https://opentelemetry.io/schemas/1.30.0',
        resource_dropped_attributes: 1,
        entity_refs: null,
      },
    ]);
  });
});

test('points that cannot be stored are counted and named, and the rest is stored', async () => {
  const point = { timeUnixNano: BigInt(noonMs) * 1_000_000n, asInt: 1n };
  const gauge = (name: string, fields: Fields): Fields => ({ name, gauge: { dataPoints: [fields] } });
  const late = { ...point, timeUnixNano: 2n ** 64n - 1n };
  const request = oneScope([gauge('late', late), gauge('good', point), gauge('', point)]);
  const headers = { 'x-p-stream': 'partial' };
  const reply = await post(metricsProtobuf(request), 'application/x-protobuf', headers);
  expect(reply.status).toBe(200);
  expect(reply.text).toContain('A data point of the series {__name__="late"} is refused: its time is');
  expect(reply.text).toContain('it has no metric name');
  expect(await query('SELECT metric_name FROM partial')).toEqual([{ metric_name: 'good' }]);
});

test('bodies that are no message are refused', async () => {
  const odd = await post(Buffer.from([0x0a, 0x05, 0x01]), 'application/x-protobuf');
  expect(odd.status).toBe(400);
  const json = await post(Buffer.from('{"resourceMetrics":[{]}'), 'application/json');
  expect(json.status).toBe(400);
  expect(JSON.parse(json.text)).toMatchObject({ code: 3 });
});
