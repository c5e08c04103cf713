import type { TextRange } from '../../wire/protobuf-reader.ts';

/** What a metric's data is, by the number of the field of `Metric` that holds it; 0 where none is known. */
export const metricKinds = {
  0: Buffer.from('unknown'),
  5: Buffer.from('gauge'),
  7: Buffer.from('sum'),
  9: Buffer.from('histogram'),
  10: Buffer.from('exponential_histogram'),
  11: Buffer.from('summary'),
} as const;

export type MetricKind = keyof typeof metricKinds;

export const isMetricKind = (field: number): field is MetricKind => field in metricKinds;

/** Aggregation temporalities by their number. */
const temporalities = ['', 'delta', 'cumulative'].map((name) => Buffer.from(name));

/** As a message has it; 0, unspecified, if it is unknown, so that what is stored alike is the same. */
export const knownTemporality = (temporality: number): number =>
  temporalities[temporality] === undefined ? 0 : temporality;

/** The name of a known temporality; empty for unspecified. */
export const temporalityName = (temporality: number): Buffer =>
  temporalities[temporality] ?? (temporalities[0] as Buffer);

const nowhere: TextRange = { start: 0, end: 0 };

/** Where the data points under way come from: places in the message, and numbers. Filled by the walk. */
export class MetricOrigin {
  resource: TextRange = nowhere;
  resourceSchemaUrl: TextRange = nowhere;
  scope: TextRange = nowhere;
  scopeSchemaUrl: TextRange = nowhere;
  name: TextRange = nowhere;
  unit: TextRange = nowhere;
  description: TextRange = nowhere;
  /** From the first of the metric's own attributes to the last. */
  metadata: TextRange = nowhere;
  kind: MetricKind = 0;
  /** One that is known. */
  temporality = 0;
  isMonotonic = false;
}
