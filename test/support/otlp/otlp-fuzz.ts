/**
 * Random bodies of OTLP's logs and traces, in both encodings (`otlp-bodies.ts`), decoded and
 * compared with the oracle.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Decoder } from '../../../src/decode/decoder.ts';
import { limits } from '../../../src/limits/limits.ts';
import { nativeRows } from '../clickhouse/native-rows.ts';
import { FuzzBodies, type FuzzBody } from './otlp-bodies.ts';
import { type ExpectedRows, expectedRows } from './otlp-oracle.ts';
import { OtlpGenerator } from './otlp-random.ts';
import { encodeJson, encodeProtobuf, randomStyle, type Signal } from './otlp-requests.ts';

export interface OtlpFuzzInput extends FuzzBody<ExpectedRows> {
  readonly signal: Signal;
}

export type OtlpFuzzVerdict = 'stored' | 'partly stored' | 'refused' | 'unreadable';

const receivedMicros = 1_763_650_000_654_321;
/**
 * How many requests are short. A dozen of these take the time of a long one, so they try more cases with one
 * record.
 */
export const shortness = 0.85;

const bodiesOf = (signal: Signal): FuzzBodies<ExpectedRows> =>
  new FuzzBodies((random) => {
    const request = new OtlpGenerator(random, 0.005, shortness).request(signal);
    const protobuf = encodeProtobuf(signal, request);
    const json = encodeJson(request, randomStyle(random));
    return { json, protobuf, expected: () => expectedRows(signal, protobuf, receivedMicros) };
  });
const bodies = { logs: bodiesOf('logs'), traces: bodiesOf('traces') };

export function otlpFuzzInput(seed: number, number: number): OtlpFuzzInput {
  const signal = number % 2 === 0 ? 'logs' : 'traces';
  return { signal, ...bodies[signal].get(seed, Math.floor(number / 2)) };
}

/** What may be said of a body that cannot be stored. */
const refusals: ReadonlySet<string> = new Set(['bad_protobuf', 'bad_json', 'bad_record', 'body_too_large']);

/**
 * Decodes an input and compares it with the oracle, if the oracle can read it.
 * @throws Error when the decoder did anything but store what it must and refuse what it must
 */
export function checkOtlpInput(decoder: Decoder, input: OtlpFuzzInput, sequence: number): OtlpFuzzVerdict {
  const { signal, encoding, body, expected } = input;
  const result = decoder.decode({
    tenant: 'default',
    dataset: 'd',
    format: `otlp-${signal}-${encoding}`,
    encoding: 'identity',
    receivedMicros,
    body,
    maxDecodedBytes: limits.maxBodyBytes,
    sequence,
  });
  if (!result.ok) {
    if (!refusals.has(result.code)) throw new Error(`The decoder failed: ${result.stack ?? result.message}`);
    if (expected !== undefined) throw new Error(`A whole request was refused: ${result.message}`);
    return result.code === 'bad_record' ? 'refused' : 'unreadable';
  }
  const rows = result.blocks.flatMap(nativeRows);
  const refused = result.refused?.counts.problems ?? 0;
  const counted = signal === 'logs' ? result.counts.logs : result.counts.spans;
  if (counted !== rows.length) throw new Error(`${rows.length} rows are counted as ${counted}`);
  if (expected !== undefined && !isDeepStrictEqual({ rows, refused }, expected())) {
    throw new Error(
      `Stored:\n${JSON.stringify({ rows, refused })}\nexpected:\n${JSON.stringify(expected())}`,
    );
  }
  return refused === 0 ? 'stored' : 'partly stored';
}
