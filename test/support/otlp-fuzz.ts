/**
 * Random OTLP bodies of both signals and encodings: whole ones, compared with the oracle; the same with bytes changed;
 * and bytes at random. An input is made of a seed and a number alone, so that a failure can be had again.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Decoder } from '../../src/decode/decoder.ts';
import { limits } from '../../src/limits.ts';
import { nativeRows } from './native-rows.ts';
import { encodeJson, encodeProtobuf, randomStyle, type Signal } from './otlp.ts';
import { expectedRows } from './otlp-oracle.ts';
import { OtlpGenerator } from './otlp-random.ts';
import { type Random, seededRandom } from './random.ts';

export interface OtlpFuzzInput {
  readonly signal: Signal;
  readonly encoding: 'json' | 'protobuf';
  readonly body: Buffer;
  /** The request in protobuf, if the body was left as it was made. */
  readonly message: Buffer | undefined;
}

export type OtlpFuzzVerdict = 'stored' | 'partly stored' | 'refused' | 'unreadable';

const receivedMicros = 1_763_650_000_654_321;

export function otlpFuzzInput(seed: number, number: number): OtlpFuzzInput {
  const random = seededRandom((seed ^ Math.imul(number + 1, 0x9e37_79b1)) >>> 0);
  const signal = random.chance(0.5) ? 'logs' : 'traces';
  const encoding = random.chance(0.5) ? 'json' : 'protobuf';
  const kind = random.integer(0, 9);
  if (kind === 9) return { signal, encoding, body: randomBytes(random, encoding), message: undefined };
  const request = new OtlpGenerator(random, 0.005).request(signal);
  const message = encodeProtobuf(signal, request);
  const whole = encoding === 'json' ? encodeJson(request, randomStyle(random)) : message;
  if (kind < 4) return { signal, encoding, body: whole, message };
  return { signal, encoding, body: mutate(random, whole), message: undefined };
}

/** Half of the JSON is made of its own tokens, since few bytes at random get beyond the first. */
export function randomBytes(random: Random, encoding: 'json' | 'protobuf'): Buffer {
  const length = random.integer(0, 200);
  if (encoding === 'json' && random.chance(0.5)) {
    const tokens = [
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"resourceLogs"',
      '"scopeLogs"',
      '"spans"',
      '"resourceMetrics"',
      '"dataPoints"',
      '"x"',
      'null',
      '1e9',
      '"\\ud800"',
    ];
    return Buffer.from(Array.from({ length }, () => tokens[random.integer(0, tokens.length - 1)]).join(''));
  }
  return Buffer.from(Array.from({ length }, () => random.integer(0, 255)));
}

export function mutate(random: Random, whole: Buffer): Buffer {
  let body = Buffer.from(whole);
  for (let changes = random.integer(1, 4); changes > 0 && body.length > 0; changes--) {
    const at = random.integer(0, body.length - 1);
    const count = random.integer(1, 8);
    const kind = random.integer(0, 3);
    if (kind === 0) body[at] = random.integer(0, 255);
    else if (kind === 1) body = Buffer.concat([body.subarray(0, at), body.subarray(at + count)]);
    else if (kind === 2) body = Buffer.concat([body.subarray(0, at + count), body.subarray(at)]);
    else body = body.subarray(0, at);
  }
  return body;
}

/** What may be said of a body that cannot be stored. */
const refusals: ReadonlySet<string> = new Set(['bad_protobuf', 'bad_json', 'bad_record', 'body_too_large']);

/**
 * Decodes an input and compares it with the oracle, where that can know what it is.
 * @throws Error when the decoder did anything but store what it must and refuse what it must
 */
export function checkOtlpInput(decoder: Decoder, input: OtlpFuzzInput, sequence: number): OtlpFuzzVerdict {
  const { signal, encoding, body, message } = input;
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
    if (message !== undefined) throw new Error(`A whole request was refused: ${result.message}`);
    return result.code === 'bad_record' ? 'refused' : 'unreadable';
  }
  const rows = result.blocks.flatMap(nativeRows);
  const refused = result.refused?.counts.problems ?? 0;
  const counted = signal === 'logs' ? result.counts.logs : result.counts.spans;
  if (counted !== rows.length) throw new Error(`${rows.length} rows are counted as ${counted}`);
  if (message !== undefined) {
    const expected = expectedRows(signal, message, receivedMicros);
    if (!isDeepStrictEqual({ rows, refused }, expected)) {
      throw new Error(
        `Stored:\n${JSON.stringify({ rows, refused })}\nexpected:\n${JSON.stringify(expected)}`,
      );
    }
  }
  return refused === 0 ? 'stored' : 'partly stored';
}
