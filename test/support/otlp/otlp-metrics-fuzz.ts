/**
 * Random bodies of OTLP metrics in both encodings (`otlp-bodies.ts`). A whole one is compared with the
 * oracle; what was stored of any is decoded again when its series are known.
 */
import { isDeepStrictEqual } from 'node:util';
import { sampleRows } from '../clickhouse/sample-rows.ts';
import { FuzzBodies, type FuzzBody } from './otlp-bodies.ts';
import { type OtlpFuzzVerdict, shortness } from './otlp-fuzz.ts';
import { MetricsDecoding, metricsJson, metricsProtobuf, receivedMicros } from './otlp-metrics.ts';
import { compareMetrics, storedMetrics } from './otlp-metrics-check.ts';
import { type ExpectedMetrics, expectedMetrics } from './otlp-metrics-oracle.ts';
import { RandomMetrics } from './otlp-metrics-random.ts';
import { randomStyle } from './otlp-requests.ts';

const bodies = new FuzzBodies((random) => {
  const request = new RandomMetrics(random, shortness).request();
  const protobuf = metricsProtobuf(request);
  const json = metricsJson(request, randomStyle(random));
  return { json, protobuf, expected: () => expectedMetrics(protobuf, receivedMicros) };
});

export const metricsFuzzInput = (seed: number, number: number): FuzzBody<ExpectedMetrics> =>
  bodies.get(seed, number);

/** What may be said of a body that cannot be stored. */
const refusals: ReadonlySet<string> = new Set(['bad_protobuf', 'bad_json', 'body_too_large']);

/** @throws Error when the decoder did anything but store what it must and refuse what it must */
export function checkMetricsInput({ encoding, body, expected }: FuzzBody<ExpectedMetrics>): OtlpFuzzVerdict {
  const decoding = new MetricsDecoding();
  const format = `otlp-metrics-${encoding}` as const;
  const result = decoding.body(body, format);
  if (!result.ok) {
    if (!refusals.has(result.code)) throw new Error(`The decoder failed: ${result.stack ?? result.message}`);
    if (expected !== undefined) throw new Error(`A whole request was refused: ${result.message}`);
    return 'unreadable';
  }
  const stored = storedMetrics(result);
  if (stored.samples.length !== result.counts.samples) throw new Error('The samples are counted wrongly');
  if (expected !== undefined) compareMetrics(stored, expected());
  decoding.commit();
  if (!isDeepStrictEqual(sampleRows(decoding.body(body, format)), sampleRows(result))) {
    throw new Error('The samples are others when their series are known');
  }
  return result.refused === undefined ? 'stored' : 'partly stored';
}
