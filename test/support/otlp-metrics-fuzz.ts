/**
 * Random bodies of OTLP metrics, as those of logs and traces are made (`otlp-fuzz.ts`). A whole one is compared with the
 * oracle, and decoded again when its series are known.
 */
import { isDeepStrictEqual } from 'node:util';
import { randomStyle } from './otlp.ts';
import { mutate, type OtlpFuzzVerdict, randomBytes } from './otlp-fuzz.ts';
import { MetricsDecoding, metricsJson, metricsProtobuf, receivedMicros } from './otlp-metrics.ts';
import { compareMetrics, storedMetrics } from './otlp-metrics-check.ts';
import { expectedMetrics } from './otlp-metrics-oracle.ts';
import { RandomMetrics } from './otlp-metrics-random.ts';
import { seededRandom } from './random.ts';
import { sampleRows } from './sample-rows.ts';

export interface MetricsFuzzInput {
  readonly encoding: 'json' | 'protobuf';
  readonly body: Buffer;
  /** The request in protobuf, if the body was left as it was made. */
  readonly message: Buffer | undefined;
}

export function metricsFuzzInput(seed: number, number: number): MetricsFuzzInput {
  const random = seededRandom((seed ^ Math.imul(number + 1, 0x9e37_79b1)) >>> 0);
  const encoding = random.chance(0.5) ? 'json' : 'protobuf';
  const kind = random.integer(0, 9);
  if (kind === 9) return { encoding, body: randomBytes(random, encoding), message: undefined };
  const request = new RandomMetrics(random).request();
  const message = metricsProtobuf(request);
  const whole = encoding === 'json' ? metricsJson(request, randomStyle(random)) : message;
  if (kind < 4) return { encoding, body: whole, message };
  return { encoding, body: mutate(random, whole), message: undefined };
}

/** What may be said of a body that cannot be stored. */
const refusals: ReadonlySet<string> = new Set(['bad_protobuf', 'bad_json', 'body_too_large']);

/** @throws Error when the decoder did anything but store what it must and refuse what it must */
export function checkMetricsInput({ encoding, body, message }: MetricsFuzzInput): OtlpFuzzVerdict {
  const decoding = new MetricsDecoding();
  const format = `otlp-metrics-${encoding}` as const;
  const result = decoding.body(body, format);
  if (!result.ok) {
    if (!refusals.has(result.code)) throw new Error(`The decoder failed: ${result.stack ?? result.message}`);
    if (message !== undefined) throw new Error(`A whole request was refused: ${result.message}`);
    return 'unreadable';
  }
  const stored = storedMetrics(result);
  if (stored.samples.length !== result.counts.samples) throw new Error('The samples are counted wrongly');
  if (message !== undefined) compareMetrics(stored, expectedMetrics(message, receivedMicros));
  decoding.commit();
  if (!isDeepStrictEqual(sampleRows(decoding.body(body, format)), sampleRows(result))) {
    throw new Error('The samples are others when their series are known');
  }
  return result.refused === undefined ? 'stored' : 'partly stored';
}
