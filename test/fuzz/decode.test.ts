/**
 * Bodies that no sender would send. Whatever arrives is decoded or refused with a code of its own:
 * never an exception, never `internal`. fast-check prints the seed of a failure; each property
 * stops after some seconds.
 */
import fc from 'fast-check';
import { compressSync } from 'snappy';
import { describe, expect, test } from 'vitest';
import xxhash from 'xxhash-wasm';
import { type DecodeBounds, inlineBounds, shortBounds } from '../../src/decode/decode-bounds.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import { DecodeOutcomes } from '../../src/decode/outcomes.ts';
import type { BodyEncoding, BodyFormat, DecodeResult, DecodeTask } from '../../src/decode/task.ts';
import { testSeed } from '../support/lib/seed.ts';
import { checkOtlpInput, type OtlpFuzzVerdict, otlpFuzzInput } from '../support/otlp/otlp-fuzz.ts';
import { checkMetricsInput, metricsFuzzInput } from '../support/otlp/otlp-metrics-fuzz.ts';
import { checkInput, type FuzzVerdict, fuzzInput } from '../support/remote-write/remote-write-fuzz.ts';
import { encodeWriteRequest } from '../support/remote-write/remote-write-requests.ts';

const hashes = await xxhash();
const run = (numRuns: number) => ({ numRuns, interruptAfterTimeLimit: 5000 }) as const;

function decode(body: Uint8Array, format: BodyFormat, encoding: BodyEncoding = 'identity'): DecodeResult {
  const result = new Decoder(new DecodeOutcomes(), hashes).decode({
    tenant: 'default',
    dataset: 'd',
    format,
    encoding,
    receivedMicros: 0,
    body,
    maxDecodedBytes: 1 << 20,
    sequence: 1,
  });
  if (!result.ok) expect(result.stack, result.message).toBeUndefined();
  if (!result.ok) expect(result.code).not.toBe('internal');
  return result;
}

/** A change to a body: bytes overwritten, cut out, or doubled. */
const mutation = fc.record({
  kind: fc.constantFrom('overwrite', 'cut', 'insert', 'repeat'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
});

function mutated(
  body: Buffer,
  mutations: readonly (typeof mutation extends fc.Arbitrary<infer T> ? T : never)[],
): Buffer {
  let result = Buffer.from(body);
  for (const { kind, at, bytes } of mutations) {
    const offset = Math.floor(at * result.length);
    const before = result.subarray(0, offset);
    if (kind === 'overwrite') result = Buffer.concat([before, bytes, result.subarray(offset + bytes.length)]);
    else if (kind === 'cut') result = Buffer.concat([before, result.subarray(offset + bytes.length)]);
    else if (kind === 'insert') result = Buffer.concat([before, bytes, result.subarray(offset)]);
    else result = Buffer.concat([before, result.subarray(Math.floor(offset / 2))]);
  }
  return result;
}

const writeRequest = encodeWriteRequest([
  {
    labels: { __name__: 'up', instance: 'localhost:9090', job: 'größe' },
    samples: [
      { value: 1, timestampMs: 1_763_600_000_000 },
      { value: Number.NaN, timestampMs: 1_763_700_000_000 },
    ],
  },
  { labels: { __name__: 'down', job: 'x'.repeat(200) }, samples: [{ value: -1e300, timestampMs: 0 }] },
]);

/** A decoder that decodes each body within preliminary bounds first, as the pool does. */
class TwiceDecoder extends Decoder {
  again = 0;
  readonly #bounds: DecodeBounds;

  constructor(outcomes: DecodeOutcomes, bounds: DecodeBounds) {
    super(outcomes, hashes);
    this.#bounds = bounds;
  }

  override decode(task: DecodeTask): DecodeResult {
    const whole = new Decoder(new DecodeOutcomes(), hashes).decode(task);
    const first = new Decoder(new DecodeOutcomes(), hashes).decode({ ...task, bounds: this.#bounds });
    const isTooLong = !first.ok && first.code === 'body_too_large';
    if (!isTooLong) expect(first).toEqual(whole);
    // A damaged body may claim to be of any length.
    else if (whole.ok) this.again++;
    return super.decode(task);
  }
}

describe.each([
  ['short', shortBounds],
  ['inline', inlineBounds],
  [
    'narrow',
    {
      isPreliminary: true,
      maxInflatedBytes: 2000,
      maxNewSeries: 2,
      maxNewSeriesLabels: 9,
      maxNewListAttributes: 3,
    },
  ],
])('within %s bounds a body becomes the same, byte by byte, or is decoded again', (name, bounds) => {
  const check = (
    work: (decoder: Decoder, outcomes: DecodeOutcomes, seed: number, number: number) => unknown,
  ) => {
    const seed = testSeed;
    const outcomes = new DecodeOutcomes();
    const decoder = new TwiceDecoder(outcomes, bounds);
    for (let number = 0; number < 150; number++) {
      try {
        work(decoder, outcomes, seed, number);
      } catch (error) {
        throw new Error(`seed ${seed}, input ${number}`, { cause: error });
      }
    }
    if (name === 'short') expect(decoder.again).toBe(0);
    if (name === 'narrow') expect(decoder.again).toBeGreaterThan(10);
  };

  test('of remote write', () => {
    check((decoder, outcomes, seed, number) =>
      checkInput(decoder, outcomes, fuzzInput(seed, number), number),
    );
  });

  test('of logs and traces', () => {
    check((decoder, _, seed, number) => checkOtlpInput(decoder, otlpFuzzInput(seed, number), number + 1));
  });
});

describe('remote write', () => {
  test('messages of both versions, whole and damaged, against a second implementation', () => {
    const seed = testSeed;
    const verdicts = new Map<FuzzVerdict, number>();
    const outcomes = new DecodeOutcomes();
    const decoder = new Decoder(outcomes, hashes);
    for (let number = 0; number < 6000; number++) {
      const input = fuzzInput(seed, number);
      try {
        const verdict = checkInput(decoder, outcomes, input, number);
        verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
      } catch (cause) {
        throw new Error(`npm run fuzz -- --protocol remote-write --seed ${seed} --only ${number}`, { cause });
      }
    }
    // The inputs are worth something only if all of these occur.
    for (const verdict of ['stored', 'partly stored', 'refused', 'unreadable'] as const) {
      expect(verdicts.get(verdict), verdict).toBeGreaterThan(150);
    }
  });

  test('any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        for (const format of ['remote-write-1', 'remote-write-2'] as const) {
          decode(bytes, format);
          decode(bytes, format, 'snappy');
        }
      }),
      run(4000),
    );
  });
});

describe('OTLP', () => {
  test('logs and traces in both encodings, whole and damaged, against a second implementation', () => {
    const seed = testSeed;
    const verdicts = new Map<OtlpFuzzVerdict, number>();
    const decoder = new Decoder(new DecodeOutcomes(), hashes);
    for (let number = 0; number < 8000; number++) {
      try {
        const verdict = checkOtlpInput(decoder, otlpFuzzInput(seed, number), number + 1);
        verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
      } catch (cause) {
        throw new Error(`npm run fuzz -- --protocol otlp --seed ${seed} --only ${2 * number}`, { cause });
      }
    }
    for (const verdict of ['stored', 'unreadable'] as const) {
      expect(verdicts.get(verdict), verdict).toBeGreaterThan(30);
    }
    // One in eighty, in groups of eight from the same request.
    expect(verdicts.get('partly stored'), `seed ${seed}`).toBeGreaterThan(5);
  });
});

describe('OTLP metrics', () => {
  test('in both encodings, whole and damaged, against a second implementation', () => {
    const seed = testSeed;
    const verdicts = new Map<OtlpFuzzVerdict, number>();
    for (let number = 0; number < 3000; number++) {
      try {
        const verdict = checkMetricsInput(metricsFuzzInput(seed, number));
        verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
      } catch (cause) {
        throw new Error(`npm run fuzz -- --protocol otlp --seed ${seed} --only ${2 * number + 1}`, { cause });
      }
    }
    for (const verdict of ['stored', 'partly stored', 'unreadable'] as const) {
      expect(verdicts.get(verdict), verdict).toBeGreaterThan(30);
    }
  });
});

describe('compressed bodies', () => {
  test('mutations of a snappy block', () => {
    const block = compressSync(writeRequest);
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
        decode(mutated(block, mutations), 'remote-write-1', 'snappy');
      }),
      run(3000),
    );
  });
});

const events = Buffer.from(
  JSON.stringify([
    { a: 1, b: { c: 'größe "x" \\ \n', d: [1, { e: null }, 1e300] }, f: true },
    { a: -0.5e-7, b: {}, g: '\u0000\ud83d\ude00', __proto__x: 9007199254740991 },
  ]),
);

/** Whether a body is an array of objects to JSON.parse. */
function isArrayOfObjects(body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return (
      Array.isArray(value) &&
      value.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one))
    );
  } catch {
    return false;
  }
}

describe('JSON', () => {
  test('any bytes', () => {
    const alphabet = fc.constantFrom(...'[]{}",:\\ntu019.-eE \n\t'.split(''), 'é', 'true', 'null');
    const text = fc.array(alphabet, { maxLength: 30 }).map((parts) => Buffer.from(parts.join('')));
    fc.assert(
      fc.property(fc.oneof(text, fc.uint8Array({ maxLength: 40 })), (bytes) => {
        decode(bytes, 'json');
        decode(bytes, 'ndjson');
      }),
      run(4000),
    );
  });

  test('mutations of an array of events are accepted exactly when JSON.parse accepts them', () => {
    let tried = 0;
    let accepted = 0;
    const syntax = fc.constantFrom(
      ...['"', '\\', ',', ':', '[', ']', '{', '}', '0', '.', 'e', '-', ' ', '\n', 'u', '\t'],
    );
    const syntaxMutation = fc.record({
      kind: fc.constantFrom('overwrite', 'insert', 'cut'),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      bytes: fc.oneof(
        syntax.map((character) => Buffer.from(character)),
        fc.uint8Array({ minLength: 1, maxLength: 2 }),
      ),
    });
    fc.assert(
      fc.property(fc.array(syntaxMutation, { minLength: 1, maxLength: 2 }), (mutations) => {
        const body = mutated(events, mutations);
        if (body[0] !== 0x5b) return;
        tried++;
        const result = decode(body, 'json');
        expect(result.ok, body.toString()).toBe(isArrayOfObjects(body));
        if (result.ok) accepted++;
      }),
      run(10_000),
    );
    expect(accepted).toBeGreaterThan(tried / 200);
  });
});
