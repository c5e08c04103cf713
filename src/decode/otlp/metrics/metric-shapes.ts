/** The messages of OTLP metrics (`schema/proto/otlp.proto`, `otlp-metrics.proto`) by their names in JSON. */
import type { FieldShape, FieldType, MessageShape } from '../json/message-shape.ts';

const one = (number: number, type: FieldType): FieldShape => ({ number, type });
const many = (number: number, type: FieldType): FieldShape => ({ number, type, repeated: true });

const anyValue: MessageShape = {
  fields: () => ({
    stringValue: one(1, 'string'),
    boolValue: one(2, 'bool'),
    intValue: one(3, 'int64'),
    doubleValue: one(4, 'double'),
    arrayValue: one(5, arrayValue),
    kvlistValue: one(6, keyValueList),
    bytesValue: one(7, 'bytes'),
  }),
};
const arrayValue: MessageShape = { isList: true, fields: () => ({ values: many(1, anyValue) }) };
const keyValueList: MessageShape = { isList: true, fields: () => ({ values: many(1, keyValue) }) };
const keyValue: MessageShape = { fields: () => ({ key: one(1, 'string'), value: one(2, anyValue) }) };

const entityRef: MessageShape = {
  fields: () => ({
    schemaUrl: one(1, 'string'),
    type: one(2, 'string'),
    idKeys: many(3, 'string'),
    descriptionKeys: many(4, 'string'),
  }),
};
const resource: MessageShape = {
  isLarge: true,
  fields: () => ({
    attributes: many(1, keyValue),
    droppedAttributesCount: one(2, 'uint32'),
    entityRefs: many(3, entityRef),
  }),
};
const scope: MessageShape = {
  fields: () => ({
    name: one(1, 'string'),
    version: one(2, 'string'),
    attributes: many(3, keyValue),
    droppedAttributesCount: one(4, 'uint32'),
  }),
};

const temporality = new Map([
  ['AGGREGATION_TEMPORALITY_UNSPECIFIED', 0],
  ['AGGREGATION_TEMPORALITY_DELTA', 1],
  ['AGGREGATION_TEMPORALITY_CUMULATIVE', 2],
]);

const exemplar: MessageShape = {
  fields: () => ({
    timeUnixNano: one(2, 'fixed64'),
    asDouble: one(3, 'double'),
    spanId: one(4, 'id'),
    traceId: one(5, 'id'),
    asInt: one(6, 'sfixed64'),
    filteredAttributes: many(7, keyValue),
  }),
};
const times = { startTimeUnixNano: one(2, 'fixed64'), timeUnixNano: one(3, 'fixed64') };
const numberPoint: MessageShape = {
  isLarge: true,
  fields: () => ({
    ...times,
    asDouble: one(4, 'double'),
    exemplars: many(5, exemplar),
    asInt: one(6, 'sfixed64'),
    attributes: many(7, keyValue),
    flags: one(8, 'uint32'),
  }),
};
const histogramPoint: MessageShape = {
  isLarge: true,
  fields: () => ({
    ...times,
    count: one(4, 'fixed64'),
    sum: one(5, 'double'),
    bucketCounts: many(6, 'fixed64'),
    explicitBounds: many(7, 'double'),
    exemplars: many(8, exemplar),
    attributes: many(9, keyValue),
    flags: one(10, 'uint32'),
    min: one(11, 'double'),
    max: one(12, 'double'),
  }),
};
const buckets: MessageShape = {
  fields: () => ({ offset: one(1, 'sint32'), bucketCounts: many(2, 'uint64') }),
};
const exponentialPoint: MessageShape = {
  isLarge: true,
  fields: () => ({
    attributes: many(1, keyValue),
    ...times,
    count: one(4, 'fixed64'),
    sum: one(5, 'double'),
    scale: one(6, 'sint32'),
    zeroCount: one(7, 'fixed64'),
    positive: one(8, buckets),
    negative: one(9, buckets),
    flags: one(10, 'uint32'),
    exemplars: many(11, exemplar),
    min: one(12, 'double'),
    max: one(13, 'double'),
    zeroThreshold: one(14, 'double'),
  }),
};
const quantile: MessageShape = { fields: () => ({ quantile: one(1, 'double'), value: one(2, 'double') }) };
const summaryPoint: MessageShape = {
  isLarge: true,
  fields: () => ({
    ...times,
    count: one(4, 'fixed64'),
    sum: one(5, 'double'),
    quantileValues: many(6, quantile),
    attributes: many(7, keyValue),
    flags: one(8, 'uint32'),
  }),
};

/** What holds the points of a metric. */
const data = (point: MessageShape, fields: Readonly<Record<string, FieldShape>> = {}): MessageShape => ({
  isLarge: true,
  fields: () => ({ dataPoints: many(1, point), ...fields }),
});
const aggregation = { aggregationTemporality: one(2, temporality) };

const metric: MessageShape = {
  isLarge: true,
  fields: () => ({
    name: one(1, 'string'),
    description: one(2, 'string'),
    unit: one(3, 'string'),
    gauge: one(5, data(numberPoint)),
    sum: one(7, data(numberPoint, { ...aggregation, isMonotonic: one(3, 'bool') })),
    histogram: one(9, data(histogramPoint, aggregation)),
    exponentialHistogram: one(10, data(exponentialPoint, aggregation)),
    summary: one(11, data(summaryPoint)),
    metadata: many(12, keyValue),
  }),
};
const scopeMetrics: MessageShape = {
  isLarge: true,
  fields: () => ({ scope: one(1, scope), metrics: many(2, metric), schemaUrl: one(3, 'string') }),
};
const resourceMetrics: MessageShape = {
  isLarge: true,
  fields: () => ({
    resource: one(1, resource),
    scopeMetrics: many(2, scopeMetrics),
    schemaUrl: one(3, 'string'),
  }),
};

/** `ExportMetricsServiceRequest` */
export const metricsRequest: MessageShape = {
  isLarge: true,
  fields: () => ({ resourceMetrics: many(1, resourceMetrics) }),
};
