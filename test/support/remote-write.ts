import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { compressSync } from 'snappy';

/**
 * Builders of Prometheus Remote Write 1.0 requests. They go through protobufjs' reflection of
 * `schema/proto/remote.proto`, which shares no code with the decoder under test.
 */

export interface TestSample {
  readonly value: number;
  readonly timestampMs: number;
}

export interface TestSeries {
  /** A list of pairs keeps its order and its duplicates. */
  readonly labels: Readonly<Record<string, string>> | ReadonlyArray<readonly [string, string]>;
  readonly samples: readonly TestSample[];
}

const root = protobuf.loadSync(fileURLToPath(new URL('../../schema/proto/remote.proto', import.meta.url)));

/** `prometheus.WriteRequest` by reflection, to build messages with fields that `TestSeries` lacks. */
export const writeRequestType = root.lookupType('prometheus.WriteRequest');

/** The protobuf message, not compressed. */
export function encodeWriteRequest(series: readonly TestSeries[]): Buffer {
  const timeseries = series.map(({ labels, samples }) => ({
    labels: labelPairs(labels).map(([name, value]) => ({ name, value })),
    samples: samples.map(({ value, timestampMs }) => ({ value, timestamp: timestampMs })),
  }));
  return Buffer.from(writeRequestType.encode({ timeseries }).finish());
}

/** A request body as Prometheus sends it: protobuf in snappy's block format. */
export const buildWriteRequest = (series: readonly TestSeries[]): Buffer =>
  compressSync(encodeWriteRequest(series));

export const labelPairs = (labels: TestSeries['labels']): ReadonlyArray<readonly [string, string]> =>
  isPairs(labels) ? labels : Object.entries(labels);

const isPairs = (labels: TestSeries['labels']): labels is ReadonlyArray<readonly [string, string]> =>
  Array.isArray(labels);
