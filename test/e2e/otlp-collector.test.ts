/**
 * Records of the three signals go through OpenTelemetry's Collector, in both encodings, while the service is
 * killed and restarted. In the end each record is stored once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { encodeJson, type TestRequest } from '../support/otlp/otlp-requests.ts';
import { Collector, type CollectorTarget, collectorProblem } from '../support/peers/collector.ts';
import { authorization, type Row, Service } from '../support/service/service.ts';

const problem = collectorProblem();
sayIfSkipped('OTLP through the Collector', problem);

const signals = ['logs', 'metrics', 'traces'] as const;
type Signal = (typeof signals)[number];
const encodings = ['json', 'proto'] as const;

const requests = 48;
const recordsPerRequest = 512;
const records = requests * recordsPerRequest;
/** After this many requests the service is killed and restarted. */
const killAfter = [12, 30];

const startNanos = BigInt(Date.now() - records) * 1_000_000n;
const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
const scope = { name: 'load', version: '1' };

/** A request whose records are numbered from `first` on. */
function request(signal: Signal, first: number): TestRequest {
  const numbers = Array.from({ length: recordsPerRequest }, (_, index) => first + index);
  const nanos = (number: number): bigint => startNanos + BigInt(number) * 1_000_000n;
  const attributes = (number: number) => [{ key: 'number', value: { intValue: BigInt(number) } }];
  if (signal === 'logs') {
    const logRecords = numbers.map((number) => ({
      timeUnixNano: nanos(number),
      severityNumber: 9,
      body: { stringValue: `record ${number}` },
      attributes: attributes(number),
    }));
    return { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] };
  }
  if (signal === 'traces') {
    const spans = numbers.map((number) => ({
      traceId: Buffer.alloc(16, 1),
      spanId: Buffer.from((number + 1).toString(16).padStart(16, '0'), 'hex'),
      name: `span ${number}`,
      kind: 2,
      startTimeUnixNano: nanos(number),
      endTimeUnixNano: nanos(number + 1),
      attributes: attributes(number),
    }));
    return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] };
  }
  const dataPoints = numbers.map((number) => ({
    timeUnixNano: nanos(number),
    asInt: BigInt(number),
    attributes: [{ key: 'shard', value: { intValue: BigInt(number % 64) } }],
  }));
  const metrics = [{ name: 'load', sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints } }];
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] };
}

describe.skipIf(problem !== undefined)('through the Collector', () => {
  let service: Service;
  let collector: Collector;

  async function send(signal: Signal, index: number): Promise<void> {
    const reply = await fetch(`${collector.url}/v1/${signal}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: encodeJson(request(signal, index * recordsPerRequest)),
    });
    expect([reply.status, await reply.text()]).toEqual([200, '{"partialSuccess":{}}']);
  }

  beforeAll(async () => {
    service = await Service.start();
    const targets = signals.flatMap((signal) =>
      encodings.map(
        (encoding): CollectorTarget => ({
          name: `${signal}_${encoding}`,
          signal,
          encoding,
          headers: { authorization, 'x-p-stream': `${signal}_${encoding}` },
        }),
      ),
    );
    collector = await Collector.start(service.url, targets);
    for (let index = 0; index < requests; index++) {
      for (const signal of signals) await send(signal, index);
      if (!killAfter.includes(index)) continue;
      await sleep(300);
      await service.kill();
      await sleep(300);
      await service.restart();
    }
    // Its stop drops what it was told to send again in a moment.
    for (let looks = 0; looks < 100 && !(await isAllThere()); looks++) await sleep(300);
    await collector.finish();
    await service.drained();
  }, 240_000);
  afterAll(async () => {
    await collector?.dispose();
    await service?.dispose();
  });

  const query = (sql: string): Promise<readonly Row[]> => service.query(sql);
  const all = { n: records, different: records };
  const isAllThere = async (): Promise<boolean> => {
    for (const encoding of encodings) {
      for (const signal of signals) {
        const rows = await query(`SELECT count(*) AS n FROM ${signal}_${encoding}`).catch(() => []);
        if (Number(rows[0]?.['n'] ?? 0) < records) return false;
      }
    }
    return true;
  };

  test.each(encodings)('every log record is there once (%s)', async (encoding) => {
    const sql = `SELECT count(*) AS n, count(DISTINCT body) AS different FROM logs_${encoding}`;
    expect(await query(sql)).toEqual([all]);
    const named = `SELECT count(*) AS n FROM logs_${encoding}
      WHERE service_name = 'shop' AND body = 'record ' || (attributes->>'number')`;
    expect(await query(named)).toEqual([{ n: records }]);
  });

  test.each(encodings)('every span is there once (%s)', async (encoding) => {
    const sql = `SELECT count(*) AS n, count(DISTINCT span_id) AS different FROM traces_${encoding}`;
    expect(await query(sql)).toEqual([all]);
  });

  test.each(encodings)('every data point is there once (%s)', async (encoding) => {
    const sql = `SELECT count(*) AS n, count(DISTINCT value) AS different FROM metrics_${encoding}
      WHERE "service.name" = 'shop'`;
    expect(await query(sql)).toEqual([all]);
    const shards = `SELECT count(DISTINCT shard) AS n FROM metrics_${encoding}`;
    expect(await query(shards)).toEqual([{ n: 64 }]);
  });

  test('the Collector had nothing to complain about but the time when the service was away', () => {
    expect(collector.child.stderr).not.toMatch(/Permanent error|dropped|rejected/i);
  });
});
