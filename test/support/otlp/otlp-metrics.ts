import xxhash from 'xxhash-wasm';
import { Decoder } from '../../../src/decode/decoder.ts';
import { DecodeOutcomes } from '../../../src/decode/outcomes.ts';
import type { BodyFormat, DecodeResult } from '../../../src/decode/task.ts';
import { limits } from '../../../src/limits/limits.ts';
import { encodeJson, type JsonStyle, otlpType, type TestRequest } from './otlp-requests.ts';

/**
 * OTLP metrics for tests: a request as a plain object, with the names of OTLP's JSON, 64-bit integers as
 * bigints and bytes as Buffers. It becomes protobuf by protobufjs' reflection of the files in
 * `schema/proto`, and JSON by hand.
 */
export type Fields = Readonly<Record<string, unknown>>;

export const metricsRequestType = otlpType('ExportMetricsServiceRequest');

/** 64-bit integers as text, which protobufjs takes without loss. */
const textOfIntegers = (value: unknown): unknown => {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(textOfIntegers);
  if (value === null || typeof value !== 'object' || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, textOfIntegers(inner)]));
};

export const metricsProtobuf = (request: Fields): Buffer =>
  Buffer.from(
    metricsRequestType
      .encode(metricsRequestType.fromObject(textOfIntegers(request) as Record<string, unknown>))
      .finish(),
  );

export const metricsJson = (request: Fields, style?: JsonStyle): Buffer =>
  encodeJson(request as TestRequest, style);

const hashes = await xxhash();
export const receivedMicros = 1_763_640_000_000_000;

/** For all decoders here: they remember many outcomes, so no two tasks may have the same number. */
const outcomes = new DecodeOutcomes();
let tasks = 0;

/** A worker's decoder, and what becomes of what it decodes. */
export class MetricsDecoding {
  readonly #decoder = new Decoder(outcomes, hashes);
  #sequence = 0;

  body(body: Uint8Array, format: BodyFormat = 'otlp-metrics-protobuf'): DecodeResult {
    this.#sequence = ++tasks;
    return this.#decoder.decode({
      tenant: 'default',
      dataset: 'm',
      format,
      encoding: 'identity',
      receivedMicros,
      body,
      maxDecodedBytes: limits.maxBodyBytes,
      sequence: this.#sequence,
    });
  }

  protobuf(request: Fields): DecodeResult {
    return this.body(metricsProtobuf(request));
  }

  /** What was decoded last becomes durable. */
  commit(): void {
    outcomes.commit(this.#sequence);
  }
}

/** A request with one resource, one scope and these metrics. */
export const oneScope = (
  metrics: readonly Fields[],
  resource: Fields = {},
  scope: Fields = {},
  wrappers: { readonly resource?: Fields; readonly scope?: Fields } = {},
): Fields => ({
  resourceMetrics: [
    { resource, scopeMetrics: [{ scope, metrics, ...wrappers.scope }], ...wrappers.resource },
  ],
});

/** `{ a: 'x' }` as a list of `KeyValue`. */
export const textAttributes = (texts: Readonly<Record<string, string>>): Fields[] =>
  Object.entries(texts).map(([key, stringValue]) => ({ key, value: { stringValue } }));
