/**
 * OpenTelemetry's own SDK for JavaScript sends its three signals in both encodings, and SQL finds what it
 * sent.
 */
import { type Attributes, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufLogs } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufMetrics } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufTraces } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { AggregationType, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorization, type Row, Service } from '../support/service/service.ts';

/** More than a batch of the SDK, which is 512. */
const records = 1200;

let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '50' } });
});
afterAll(() => service?.dispose());

const encodings = [
  { encoding: 'json', Metrics: JsonMetrics, Logs: JsonLogs, Traces: JsonTraces },
  { encoding: 'protobuf', Metrics: ProtobufMetrics, Logs: ProtobufLogs, Traces: ProtobufTraces },
] as const;

describe.each(encodings)('in $encoding', ({ encoding, Metrics, Logs, Traces }) => {
  const attributes: Attributes = { 'service.name': `sdk-${encoding}`, 'host.cpu.count': 2 };
  const resource = resourceFromAttributes(attributes);
  const options = (path: string, dataset: string) => ({
    url: `${service.url}${path}`,
    headers: { authorization, 'x-p-stream': dataset },
  });
  const query = async (sql: string): Promise<readonly Row[]> => {
    await service.drained();
    return service.query(sql);
  };

  async function sendMetrics(): Promise<void> {
    const exporter = new Metrics(options('/v1/metrics', `${encoding}_metrics`));
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 600_000 });
    const fine = { type: AggregationType.EXPONENTIAL_HISTOGRAM } as const;
    const provider = new MeterProvider({
      resource,
      readers: [reader],
      views: [{ instrumentName: 'fine', aggregation: fine }],
    });
    const meter = provider.getMeter('shop', '1.2.3');
    const requests = meter.createCounter('requests', { unit: '{request}', description: 'All of them' });
    requests.add(3, { route: '/a' });
    requests.add(4, { route: '/b', retried: true });
    meter.createUpDownCounter('queue').add(-2.5);
    const latency = meter.createHistogram('latency', { advice: { explicitBucketBoundaries: [1, 10] } });
    const finer = meter.createHistogram('fine');
    for (const value of [0.5, 5, 50]) {
      latency.record(value);
      finer.record(value);
    }
    meter.createObservableGauge('temperature').addCallback((result) => result.observe(21.5, { room: 'a' }));
    await provider.forceFlush();
    await provider.shutdown();
  }

  async function sendLogs(): Promise<void> {
    const exporter = new Logs(options('/v1/logs', `${encoding}_logs`));
    const processor = new BatchLogRecordProcessor({ exporter });
    const provider = new LoggerProvider({ resource, processors: [processor] });
    const logger = provider.getLogger('shop', '1.2.3');
    for (let number = 0; number < records; number++) {
      logger.emit({
        severityNumber: 9,
        severityText: 'INFO',
        body: `record ${number}`,
        attributes: { number, even: number % 2 === 0, tags: ['a', 'b'] },
      });
    }
    await provider.forceFlush();
    await provider.shutdown();
  }

  async function sendSpans(): Promise<void> {
    const processor = new BatchSpanProcessor(new Traces(options('/v1/traces', `${encoding}_traces`)));
    const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
    const tracer = provider.getTracer('shop', '1.2.3');
    for (let number = 0; number < records; number++) {
      const span = tracer.startSpan(`span ${number}`, { kind: SpanKind.SERVER, attributes: { number } });
      span.addEvent('half way', { percent: 50 });
      if (number === 7) span.setStatus({ code: SpanStatusCode.ERROR, message: 'no' });
      span.end();
      expect(span.spanContext().traceFlags & TraceFlags.SAMPLED).toBe(1);
      if (number % 500 === 499) await provider.forceFlush();
    }
    await provider.forceFlush();
    await provider.shutdown();
  }

  beforeAll(async () => {
    await sendMetrics();
    await sendLogs();
    await sendSpans();
  });

  test('metrics have their values and labels', async () => {
    // The provider exports once more when it shuts down.
    const sql = `SELECT DISTINCT metric_name, value, route, retried, room, le FROM ${encoding}_metrics
      WHERE "service.name" = 'sdk-${encoding}' AND "host.cpu.count" = '2' AND otel_scope_version = '1.2.3'
      ORDER BY metric_name, value`;
    const found = (await query(sql)).map((row) => Object.values(row).filter((value) => value !== null));
    expect(found).toEqual([
      ['latency_bucket', 1, '1'],
      ['latency_bucket', 2, '10'],
      ['latency_bucket', 3, '+Inf'],
      ['latency_count', 3],
      ['latency_max', 50],
      ['latency_min', 0.5],
      ['latency_sum', 55.5],
      ['queue', -2.5],
      ['requests', 3, '/a'],
      ['requests', 4, '/b', 'true'],
      ['temperature', 21.5, 'a'],
    ]);
    const histograms = `SELECT DISTINCT metric_name, count, sum, min, max FROM ${encoding}_metrics.histograms`;
    expect(await query(histograms)).toEqual([
      { metric_name: 'fine', count: 3, sum: 55.5, min: 0.5, max: 50 },
    ]);
    const metadata = `SELECT type, unit, description, temporality, is_monotonic
      FROM ${encoding}_metrics.metadata WHERE metric_name = 'requests'`;
    expect(await query(metadata)).toEqual([
      {
        type: 'sum',
        unit: '{request}',
        description: 'All of them',
        temporality: 'cumulative',
        is_monotonic: true,
      },
    ]);
  });

  test('log records are there once each', async () => {
    const sql = `SELECT count(*) AS n, count(DISTINCT body) AS bodies, min(severity_text) AS severity,
        min(service_name) AS service, min(scope_name) AS scope FROM ${encoding}_logs`;
    expect(await query(sql)).toEqual([
      { n: records, bodies: records, severity: 'INFO', service: `sdk-${encoding}`, scope: 'shop' },
    ]);
    const one = `SELECT body, attributes->>'tags' AS tags, attributes['even'] AS even FROM ${encoding}_logs
      WHERE number = 7`;
    expect(await query(one)).toEqual([{ body: 'record 7', tags: '["a","b"]', even: 'false' }]);
  });

  test('spans are there once each', async () => {
    const sql = `SELECT count(*) AS n, count(DISTINCT span_id) AS ids, min(service_name) AS service
      FROM ${encoding}_traces`;
    expect(await query(sql)).toEqual([{ n: records, ids: records, service: `sdk-${encoding}` }]);
    const one = `SELECT name, status_message FROM ${encoding}_traces WHERE number = 7`;
    expect(await query(one)).toEqual([{ name: 'span 7', status_message: 'no' }]);
  });
});
