/**
 * What must be stored of a Remote Write message, by a second implementation: protobufjs' reflection
 * reads it, and the rules are applied to plain objects, with no regard to speed. It shares only the
 * bounds with the decoder.
 */
import { isUtf8 } from 'node:buffer';
import protobuf from 'protobufjs';
import type { DecodeResult } from '../../../src/decode/task.ts';
import { limits } from '../../../src/limits/limits.ts';
import { doubleText, type NativeRow, type NativeValue, nativeRows } from '../clickhouse/native-rows.ts';
import { protoText } from './remote-write-requests.ts';

export type Version = 1 | 2;

/** Rows as text, each with the name and the labels of its series. */
export interface StoredRows {
  readonly samples: readonly string[];
  readonly exemplars: readonly string[];
  readonly histograms: readonly string[];
  /** Metric descriptions, each once. */
  readonly metadata: readonly string[];
  /** Points that were refused: samples, histograms, exemplars. */
  readonly refused: readonly [number, number, number];
}

// Strings as bytes: what is not UTF-8 must be seen and not replaced.
const typeOf = (name: 'remote' | 'remote-v2', message: string): protobuf.Type =>
  protobuf.parse(protoText(name).replaceAll('string ', 'bytes ')).root.lookupType(message);
const types = {
  1: typeOf('remote', 'prometheus.WriteRequest'),
  2: typeOf('remote-v2', 'io.prometheus.write.v2.Request'),
} as const;

interface LabelMessage {
  name: Buffer;
  value: Buffer;
}
interface PointMessage {
  value: number;
  timestamp: string;
  startTimestamp?: string;
  labels?: LabelMessage[];
  labelsRefs?: number[];
}
type HistogramFields = Record<string, unknown> & { timestamp: string; startTimestamp?: string };
interface SeriesMessage {
  labels?: LabelMessage[];
  labelsRefs?: number[];
  samples: PointMessage[];
  exemplars: PointMessage[];
  histograms: HistogramFields[];
  metadata?: { type: number; helpRef: number; unitRef: number } | null;
}
interface RequestMessage {
  symbols?: Buffer[];
  timeseries: SeriesMessage[];
  metadata?: { type: number; metricFamilyName: Buffer; help: Buffer; unit: Buffer }[];
}

/**
 * Rows; or why there are none: all is refused, or it cannot be read (undefined), or protobufjs is not sure.
 */
export type Expected = StoredRows | 'refused' | 'ambiguous' | undefined;

export function expectedRows(version: Version, message: Uint8Array): Expected {
  const request = read(version, message);
  if (request === undefined) return undefined;
  if (request.timeseries.some(isAmbiguous)) return 'ambiguous';
  const symbols = request.symbols ?? [];
  if (symbols.length > 0 && symbols[0]?.length !== 0) return 'refused';
  const rows = { samples: [], exemplars: [], histograms: [], metadata: [], refused: [0, 0, 0] } as Collected;
  for (const series of request.timeseries) collectSeries(series, symbols, rows);
  if (version === 1) {
    if (rows.refused.some((count) => count > 0)) return 'refused';
    for (const metadata of request.metadata ?? []) {
      const { type, metricFamilyName, help, unit } = metadata;
      if (metricFamilyName.length === 0) return 'refused';
      if (![metricFamilyName, help, unit].every((text) => isUtf8(text))) return 'refused';
      rows.metadata.push(metadataText(metricFamilyName.toString(), type, unit, help));
    }
  }
  return { ...rows, metadata: [...new Set(rows.metadata)].sort() };
}

interface Collected extends StoredRows {
  readonly samples: string[];
  readonly exemplars: string[];
  readonly histograms: string[];
  readonly metadata: string[];
  readonly refused: [number, number, number];
}

function collectSeries(series: SeriesMessage, symbols: readonly Buffer[], rows: Collected): void {
  const { samples, histograms, exemplars, metadata } = series;
  const labels = sortedLabels(series, symbols);
  const name = labels?.get('__name__');
  const identity = labels !== undefined && name !== undefined ? JSON.stringify([...labels]) : undefined;
  const add = (
    kind: 'samples' | 'histograms' | 'exemplars',
    place: 0 | 1 | 2,
    row: string | undefined,
  ): void => {
    if (identity === undefined || row === undefined) rows.refused[place]++;
    else rows[kind].push(`${identity} ${row}`);
  };
  for (const sample of samples) add('samples', 0, sampleText(sample));
  for (const histogram of histograms) add('histograms', 1, histogramText(histogram));
  for (const exemplar of exemplars) add('exemplars', 2, exemplarText(exemplar, symbols));
  const isEmpty = samples.length + histograms.length + exemplars.length === 0;
  if (!metadata || identity === undefined || name === undefined || isEmpty) return;
  const { type, helpRef, unitRef } = metadata;
  const [help, unit] = [symbols[helpRef], symbols[unitRef]];
  if (help === undefined || unit === undefined || (type === 0 && helpRef === 0 && unitRef === 0)) return;
  rows.metadata.push(metadataText(name, type, unit, help));
}

function read(version: Version, message: Uint8Array): RequestMessage | undefined {
  try {
    const decoded = types[version].decode(message);
    const options = { longs: String, arrays: true, defaults: true, bytes: Buffer } as const;
    return types[version].toObject(decoded, options) as unknown as RequestMessage;
  } catch (error) {
    // What protobufjs throws at bytes that are no message.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** Labels by name in byte order; undefined if they are not a set of labels that can be stored. */
function sortedLabels(
  { labels, labelsRefs }: Pick<SeriesMessage, 'labels' | 'labelsRefs'>,
  symbols: readonly Buffer[],
): Map<string, string> | undefined {
  const pairs: (readonly [Buffer, Buffer])[] = [];
  if (labelsRefs !== undefined) {
    if (labelsRefs.length % 2 === 1) return undefined;
    for (let index = 0; index < labelsRefs.length; index += 2) {
      const [name, value] = [symbols[labelsRefs[index] ?? -1], symbols[labelsRefs[index + 1] ?? -1]];
      if (name === undefined || value === undefined) return undefined;
      pairs.push([name, value]);
    }
  } else {
    for (const { name, value } of labels ?? []) pairs.push([name, value]);
  }
  const filled = pairs.filter(([, value]) => value.length > 0).sort(([a], [b]) => Buffer.compare(a, b));
  if (filled.length > limits.maxLabelsPerSeries) return undefined;
  const found = new Map<string, string>();
  for (const [name, value] of filled) {
    if (name.length === 0 || name.length > limits.maxLabelNameBytes) return undefined;
    if (value.length > limits.maxLabelValueBytes || !isUtf8(name) || !isUtf8(value)) return undefined;
    if (found.has(name.toString())) return undefined;
    found.set(name.toString(), value.toString());
  }
  return found;
}

const isTime = (text: string | undefined): boolean => {
  const time = BigInt(text ?? 0);
  return time >= 0n && time <= BigInt(limits.maxSampleTimestampMs);
};

function sampleText({ value, timestamp, startTimestamp = '0' }: PointMessage): string | undefined {
  if (!isTime(timestamp) || !isTime(startTimestamp)) return undefined;
  return JSON.stringify([timestamp, startTimestamp, doubleText(value)]);
}

function exemplarText(exemplar: PointMessage, symbols: readonly Buffer[]): string | undefined {
  const labels = sortedLabels(exemplar, symbols);
  if (labels === undefined || !isTime(exemplar.timestamp)) return undefined;
  const bytes = [...labels].reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
  if (bytes > limits.maxExemplarLabelBytes) return undefined;
  return JSON.stringify([exemplar.timestamp, doubleText(exemplar.value), [...labels]]);
}

const typeNames = 'unknown counter gauge histogram gaugehistogram summary info stateset'.split(' ');

const metadataText = (name: string, type: number, unit: Buffer, help: Buffer): string =>
  JSON.stringify([name, typeNames[type] ?? 'unknown', unit.toString(), help.toString()]);

interface Span {
  offset: number;
  length: number;
}

/**
 * Observations in the buckets of a side, nothing of a float histogram; undefined if the buckets contradict
 * themselves.
 */
function observations(
  spans: readonly Span[],
  deltas: readonly string[],
  counts: readonly number[],
  isFloat: boolean,
): bigint | undefined {
  const values = isFloat ? counts : deltas;
  if ((isFloat ? deltas : counts).length > 0) return undefined;
  if (spans.reduce((sum, { length }) => sum + length, 0) !== values.length) return undefined;
  if (spans.slice(1).some(({ offset }) => offset < 0)) return undefined;
  if (spans.reduce((sum, { offset, length }) => sum + offset + length, 0) > 0x7fff_ffff) return undefined;
  if (isFloat) return counts.some((count) => count < 0) ? undefined : 0n;
  let inBucket = 0n;
  let total = 0n;
  for (const delta of deltas) {
    inBucket = BigInt.asIntN(64, inBucket + BigInt(delta));
    if (inBucket < 0n) return undefined;
    total += inBucket;
  }
  return total;
}

/** The values of a repeated field. */
const listOf = <T>(fields: HistogramFields, name: string): readonly T[] =>
  (fields[name] ?? []) as readonly T[];

function histogramText(fields: HistogramFields): string | undefined {
  return isValidHistogram(fields) ? histogramValuesText(fields) : undefined;
}

function isValidHistogram(fields: HistogramFields): boolean {
  const isFloat = fields['countFloat'] !== undefined;
  const isZeroFloat = fields['zeroCountFloat'] !== undefined;
  const zeroCount = Number(fields[isZeroFloat ? 'zeroCountFloat' : 'zeroCountInt'] ?? 0);
  const side = (name: 'negative' | 'positive') =>
    observations(
      listOf<Span>(fields, `${name}Spans`),
      listOf<string>(fields, `${name}Deltas`),
      listOf<number>(fields, `${name}Counts`),
      isFloat,
    );
  const [negative, positive] = [side('negative'), side('positive')];
  if (negative === undefined || positive === undefined) return false;
  if (!isTime(fields.timestamp) || !isTime(fields.startTimestamp)) return false;
  if (Number(fields['resetHint']) < 0 || Number(fields['resetHint']) > 3) return false;
  if (!fitsSchema(fields, zeroCount)) return false;
  if (isFloat !== isZeroFloat && zeroCount !== 0) return false;
  if (isFloat) return !(Number(fields['countFloat']) < 0 || zeroCount < 0);
  const count = BigInt((fields['countInt'] ?? '0') as string);
  const total = BigInt.asUintN(64, negative + positive + BigInt((fields['zeroCountInt'] ?? '0') as string));
  return Number.isNaN(Number(fields['sum'])) ? total <= count : total === count;
}

function fitsSchema(fields: HistogramFields, zeroCount: number): boolean {
  const schema = Number(fields['schema']);
  const bounds = listOf<number>(fields, 'customValues');
  if (schema !== -53) return schema >= -4 && schema <= 8 && bounds.length === 0;
  const isAscending = bounds.every(
    (bound, index) => bound < Infinity && (index === 0 || bound > (bounds[index - 1] ?? 0)),
  );
  const spans = listOf<Span>(fields, 'positiveSpans');
  const end = spans.reduce((sum, { offset, length }) => sum + offset + length, 0);
  const isInBounds = end <= bounds.length + 1 && (spans[0]?.offset ?? 0) >= 0;
  const hasZeroBucket = zeroCount !== 0 || Number(fields['zeroThreshold']) !== 0;
  return isAscending && isInBounds && !hasZeroBucket && listOf(fields, 'negativeSpans').length === 0;
}

function histogramValuesText(fields: HistogramFields): string {
  const double = (name: string): string => doubleText(Number(fields[name] ?? 0));
  const spans = (name: string) => listOf<Span>(fields, name).map(({ offset, length }) => [offset, length]);
  const deltas = (name: string) => listOf<string>(fields, name).map(String);
  const doubles = (name: string) => listOf<number>(fields, name).map(doubleText);
  return JSON.stringify([
    fields.timestamp,
    fields.startTimestamp ?? '0',
    fields['countFloat'] === undefined ? 0 : 1,
    String(fields['countInt'] ?? '0'),
    double('countFloat'),
    double('sum'),
    Number(fields['schema']),
    double('zeroThreshold'),
    String(fields['zeroCountInt'] ?? '0'),
    double('zeroCountFloat'),
    Number(fields['resetHint']),
    spans('negativeSpans'),
    deltas('negativeDeltas'),
    doubles('negativeCounts'),
    spans('positiveSpans'),
    deltas('positiveDeltas'),
    doubles('positiveCounts'),
    doubles('customValues'),
  ]);
}

/**
 * Whether an integer and a float are both present where only one may be: the order in which they came is
 * unknown.
 */
function isAmbiguous({ histograms }: SeriesMessage): boolean {
  const both = (fields: HistogramFields, name: string): boolean =>
    fields[`${name}Int`] !== undefined && fields[`${name}Float`] !== undefined;
  return histograms.some((fields) => both(fields, 'count') || both(fields, 'zeroCount'));
}

/**
 * The same rows from the blocks that the decoder made. Every point must find the row of its series and day.
 */
export function storedRows(result: DecodeResult & { ok: true }): StoredRows {
  const rows = (table: string): NativeRow[] =>
    result.blocks.filter((block) => block.table === table).flatMap(nativeRows);
  const series = new Map<string, string>();
  for (const row of rows('series')) {
    const labels = [['__name__', row['metric_name']], ...(row['labels'] as readonly NativeValue[])] as [
      string,
      string,
    ][];
    labels.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    series.set(`${row['date']} ${row['series_id']} ${row['metric_id']}`, JSON.stringify(labels));
  }
  const identity = (row: NativeRow): string => {
    const day = Math.floor(Number(row['timestamp']) / 86_400_000);
    const found = series.get(`${day} ${row['series_id']} ${row['metric_id']}`);
    if (found === undefined) throw new Error(`A point has no series: ${JSON.stringify(row)}`);
    return found;
  };
  const text = (row: NativeRow, values: readonly unknown[]): string =>
    `${identity(row)} ${JSON.stringify(values)}`;
  const start = (row: NativeRow): NativeValue => row['start_timestamp'] ?? '0';
  const { samples = 0, histograms = 0, exemplars = 0 } = result.refused?.counts ?? {};
  return {
    samples: rows('samples').map((row) => text(row, [row['timestamp'], start(row), row['value']])),
    exemplars: rows('exemplars').map((row) => text(row, [row['timestamp'], row['value'], row['labels']])),
    histograms: rows('histograms').map((row) => text(row, histogramValues(row, start(row)))),
    metadata: [
      ...new Set(
        rows('metadata').map((row) =>
          JSON.stringify([row['metric_name'], row['type'], row['unit'], row['description']]),
        ),
      ),
    ].sort(),
    refused: [samples, histograms, exemplars],
  };
}

function histogramValues(row: NativeRow, start: NativeValue): readonly NativeValue[] {
  const list = (name: string) => row[name] as readonly NativeValue[];
  const spans = (side: string): NativeValue[] =>
    list(`${side}_offsets`).map((offset, index) => [offset, list(`${side}_lengths`)[index] ?? 'missing']);
  const names = [
    'is_float',
    'count_int',
    'count_float',
    'sum',
    'schema',
    'zero_threshold',
    'zero_count_int',
    'zero_count_float',
    'reset_hint',
  ];
  return [
    row['timestamp'] ?? 'missing',
    start,
    ...names.map((name) => row[name] ?? 'missing'),
    spans('negative'),
    list('negative_deltas'),
    list('negative_counts'),
    spans('positive'),
    list('positive_deltas'),
    list('positive_counts'),
    list('custom_values'),
  ];
}
