import { describe, expect, test } from 'vitest';
import { decodeJsonLogs } from '../../../../src/decode/otlp/logs/json-logs.ts';
import { decodeProtobufLogs } from '../../../../src/decode/otlp/logs/protobuf-logs.ts';
import { decodeJsonTraces } from '../../../../src/decode/otlp/traces/json-traces.ts';
import { decodeProtobufTraces } from '../../../../src/decode/otlp/traces/protobuf-traces.ts';
import type { DecodedBody } from '../../../../src/decode/task.ts';
import { nativeRows } from '../../../support/clickhouse/native-rows.ts';
import { seededRandom } from '../../../support/lib/random.ts';
import { testSeed } from '../../../support/lib/seed.ts';
import { expectedRows } from '../../../support/otlp/otlp-oracle.ts';
import { OtlpGenerator } from '../../../support/otlp/otlp-random.ts';
import { encodeJson, encodeProtobuf, randomStyle, type Signal } from '../../../support/otlp/otlp-requests.ts';

const receivedMicros = 1_763_650_000_654_321;
const decoders = {
  logs: { protobuf: decodeProtobufLogs, json: decodeJsonLogs },
  traces: { protobuf: decodeProtobufTraces, json: decodeJsonTraces },
} as const;

/** What was stored, and how much was not. */
const outcome = ({ blocks, refused, counts }: DecodedBody) => {
  const rows = blocks.flatMap(nativeRows);
  expect(counts.logs + counts.spans).toBe(rows.length);
  return { rows, refused: refused?.counts.problems ?? 0 };
};

describe.each(['logs', 'traces'] as const)('%s', (signal: Signal) => {
  test('JSON and protobuf of the same request give the rows of a second implementation', () => {
    const seed = testSeed;
    let stored = 0;
    for (let number = 0; number < 120; number++) {
      const random = seededRandom(seed + number);
      const request = new OtlpGenerator(random).request(signal);
      const message = encodeProtobuf(signal, request);
      const expected = expectedRows(signal, message, receivedMicros);
      const json = encodeJson(request, randomStyle(random));
      const context = `seed ${seed + number}: ${json.toString('utf8').slice(0, 2000)}`;
      expect(outcome(decoders[signal].protobuf(message, receivedMicros)), context).toEqual(expected);
      expect(outcome(decoders[signal].json(json, receivedMicros)), context).toEqual(expected);
      stored += expected.rows.length;
    }
    expect(stored).toBeGreaterThan(300);
  });
});
