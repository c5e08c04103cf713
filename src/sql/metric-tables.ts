/**
 * What a metrics dataset shows to SQL: which relations, which columns of which type, and how each is made of
 * the physical columns (`schema/clickhouse/metrics.sql`).
 */
import { quoteIdentifier } from '../lib/quote.ts';
import {
  bool,
  doubleScale,
  float,
  int4,
  int8,
  map,
  numeric,
  type SqlType,
  text,
  timestamptz,
} from './types.ts';

export interface MetricColumn {
  readonly name: string;
  readonly type: SqlType;
  /** Of physical columns, in the store's SQL. */
  readonly sql: string;
}

/** A table of points in time, each of a series. */
export interface PointTable {
  readonly table: 'samples' | 'exemplars' | 'histograms';
  /** Beside the name and the labels of the series. */
  readonly columns: readonly MetricColumn[];
  /** The double that holds Prometheus' marker for the end of a series; rows with it are no observations. */
  readonly staleIn: 'value' | 'sum' | undefined;
}

/** A physical column as it is. */
const plain = (name: string, type: SqlType): MetricColumn => ({ name, type, sql: quoteIdentifier(name) });
/** A text that is empty where there is none. */
const textOrNull = (name: string): MetricColumn => ({
  name,
  type: text,
  sql: `nullIf(${quoteIdentifier(name)}, '')`,
});
const timestamp = plain('timestamp', timestamptz);
const startTimestamp: MetricColumn = {
  name: 'start_timestamp',
  type: timestamptz,
  sql: "nullIf(start_timestamp, toDateTime64(0, 3, 'UTC'))",
};

/** SQL sees arrays as JSON text. */
const buckets = (side: 'negative' | 'positive'): readonly MetricColumn[] => [
  {
    name: `${side}_spans`,
    type: text,
    sql: `toJSONString(arrayMap((offset, length) -> [toInt64(offset), toInt64(length)], ${side}_offsets, ${side}_lengths))`,
  },
  {
    name: `${side}_buckets`,
    type: text,
    sql: `if(is_float, toJSONString(${side}_counts), toJSONString(arrayCumSum(${side}_deltas)))`,
  },
];

/** Integers beyond 2^53 and fractions alike, so a double would lose some. */
const countType = numeric(doubleScale, false);
/** Fractions of 1e50 and more, infinities and NaN are no numeric, and NULL. */
const exactCount = (name: 'count' | 'zero_count'): string => {
  const fraction = `${name}_float`;
  const isNumeric = `isFinite(${fraction}) AND abs(${fraction}) < 1e50`;
  const decimal = (value: string): string => `toDecimal256(${value}, ${doubleScale})`;
  return `multiIf(NOT is_float, ${decimal(`${name}_int`)}, ${isNumeric}, ${decimal(`toString(${fraction})`)}, NULL)`;
};

const samples: PointTable = {
  table: 'samples',
  columns: [timestamp, plain('value', float), startTimestamp],
  staleIn: 'value',
};

const exemplars: PointTable = {
  table: 'exemplars',
  columns: [timestamp, plain('value', float), { name: 'exemplar_labels', type: map, sql: 'labels' }],
  staleIn: undefined,
};

const histograms: PointTable = {
  table: 'histograms',
  columns: [
    timestamp,
    startTimestamp,
    { name: 'count', type: countType, sql: exactCount('count') },
    plain('sum', float),
    { name: 'schema', type: int4, sql: 'toInt32(schema)' },
    plain('zero_threshold', float),
    { name: 'zero_count', type: countType, sql: exactCount('zero_count') },
    ...buckets('negative'),
    ...buckets('positive'),
    { name: 'custom_values', type: text, sql: 'toJSONString(custom_values)' },
    { name: 'reset_hint', type: text, sql: "['unknown', 'yes', 'no', 'gauge'][reset_hint + 1]" },
    plain('is_float', bool),
    plain('min', float),
    plain('max', float),
  ],
  staleIn: 'sum',
};

export const pointTables = { samples, exemplars, histograms } as const;

/** Descriptions by metric name, as the newest request had them. */
export const metadataColumns: readonly MetricColumn[] = [
  plain('metric_name', text),
  plain('type', text),
  plain('unit', text),
  plain('description', text),
  textOrNull('temporality'),
  plain('is_monotonic', bool),
  { name: 'metric_metadata', type: map, sql: 'metadata' },
];

/** Of a series, beside its name and its labels; named so that a label `type` or `unit` keeps its name. */
export const seriesDetails: readonly MetricColumn[] = [
  { name: 'metric_type', type: text, sql: "nullIf(type, '')" },
  { name: 'metric_unit', type: text, sql: "nullIf(unit, '')" },
  textOrNull('temporality'),
  plain('is_monotonic', bool),
  textOrNull('resource_schema_url'),
  textOrNull('scope_schema_url'),
  { name: 'resource_dropped_attributes', type: int8, sql: 'toInt64(resource_dropped_attributes)' },
  { name: 'scope_dropped_attributes', type: int8, sql: 'toInt64(scope_dropped_attributes)' },
  textOrNull('entity_refs'),
  plain('shadowed_attributes', map),
];

/** The relations `<dataset>.<part>`. */
export const metricParts = ['series', 'exemplars', 'histograms', 'metadata'] as const;
export type MetricPart = (typeof metricParts)[number];
