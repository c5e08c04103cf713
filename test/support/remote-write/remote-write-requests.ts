import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { compressSync } from 'snappy';

/**
 * Builders of Prometheus Remote Write requests. They go through protobufjs' reflection of the files in
 * `schema/proto`, which shares no code with the decoder under test.
 */

export interface TestSample {
  readonly value: number;
  readonly timestampMs: number;
  /** Version 2.0 only. */
  readonly startMs?: number;
}

/** A list of pairs keeps its order and its duplicates. */
export type TestLabels = Readonly<Record<string, string>> | ReadonlyArray<readonly [string, string]>;

export interface TestExemplar {
  readonly labels: TestLabels;
  readonly value: number;
  readonly timestampMs: number;
}

/** A `Histogram` message as protobufjs takes it: fields in camel case, 64-bit integers as number or Long. */
export type TestHistogram = Readonly<Record<string, unknown>>;

export interface TestMetadata {
  readonly type?: number;
  readonly help?: string;
  readonly unit?: string;
}

export interface TestSeries {
  readonly labels: TestLabels;
  readonly samples?: readonly TestSample[];
  readonly exemplars?: readonly TestExemplar[];
  readonly histograms?: readonly TestHistogram[];
  /** Version 2.0 only. */
  readonly metadata?: TestMetadata;
}

export const protoText = (name: 'remote' | 'remote-v2'): string =>
  readFileSync(new URL(`../../../schema/proto/${name}.proto`, import.meta.url), 'utf8');

/** `prometheus.WriteRequest` by reflection, to build messages with fields that `TestSeries` lacks. */
export const writeRequestType = protobuf
  .parse(protoText('remote'))
  .root.lookupType('prometheus.WriteRequest');
/** `io.prometheus.write.v2.Request` by reflection. */
export const requestV2Type = protobuf
  .parse(protoText('remote-v2'))
  .root.lookupType('io.prometheus.write.v2.Request');

const encode = (type: protobuf.Type, message: Record<string, unknown>): Buffer =>
  Buffer.from(type.encode(type.fromObject(message)).finish());

export interface TestMetricMetadata extends TestMetadata {
  readonly family: string;
}

/** The protobuf message of version 1.0, not compressed. */
export function encodeWriteRequest(
  series: readonly TestSeries[],
  metadata: readonly TestMetricMetadata[] = [],
): Buffer {
  const labelsOf = (labels: TestLabels) => labelPairs(labels).map(([name, value]) => ({ name, value }));
  const timeseries = series.map(({ labels, samples = [], exemplars = [], histograms = [] }) => ({
    labels: labelsOf(labels),
    samples: samples.map(({ value, timestampMs }) => ({ value, timestamp: timestampMs })),
    exemplars: exemplars.map((exemplar) => ({
      labels: labelsOf(exemplar.labels),
      value: exemplar.value,
      timestamp: exemplar.timestampMs,
    })),
    histograms,
  }));
  return encode(writeRequestType, {
    timeseries,
    metadata: metadata.map(({ family, ...rest }) => ({ metricFamilyName: family, ...rest })),
  });
}

/** A request body as Prometheus sends it: protobuf in snappy's block format. */
export const buildWriteRequest = (
  series: readonly TestSeries[],
  metadata?: readonly TestMetricMetadata[],
): Buffer => compressSync(encodeWriteRequest(series, metadata));

/** The strings of a request, each once, the empty one first. */
export class Symbols {
  readonly list: string[] = [''];
  readonly #refs = new Map([['', 0]]);

  ref(text: string): number {
    const known = this.#refs.get(text);
    if (known !== undefined) return known;
    this.#refs.set(text, this.list.length);
    return this.list.push(text) - 1;
  }

  labels(labels: TestLabels): number[] {
    return labelPairs(labels).flatMap(([name, value]) => [this.ref(name), this.ref(value)]);
  }
}

/** The protobuf message of version 2.0, not compressed. */
export function encodeRequestV2(series: readonly TestSeries[]): Buffer {
  const symbols = new Symbols();
  const timeseries = series.map(({ labels, samples = [], exemplars = [], histograms = [], metadata }) => ({
    labelsRefs: symbols.labels(labels),
    samples: samples.map(({ value, timestampMs, startMs = 0 }) => ({
      value,
      timestamp: timestampMs,
      startTimestamp: startMs,
    })),
    histograms,
    exemplars: exemplars.map((exemplar) => ({
      labelsRefs: symbols.labels(exemplar.labels),
      value: exemplar.value,
      timestamp: exemplar.timestampMs,
    })),
    ...(metadata === undefined
      ? {}
      : {
          metadata: {
            type: metadata.type ?? 0,
            helpRef: symbols.ref(metadata.help ?? ''),
            unitRef: symbols.ref(metadata.unit ?? ''),
          },
        }),
  }));
  return encode(requestV2Type, { symbols: symbols.list, timeseries });
}

/** A request body of version 2.0. */
export const buildRequestV2 = (series: readonly TestSeries[]): Buffer =>
  compressSync(encodeRequestV2(series));

export const labelPairs = (labels: TestLabels): ReadonlyArray<readonly [string, string]> =>
  isPairs(labels) ? labels : Object.entries(labels);

const isPairs = (labels: TestLabels): labels is ReadonlyArray<readonly [string, string]> =>
  Array.isArray(labels);
