/** The messages of OTLP metrics (`schema/proto/otlp-metrics.proto`) by their names in JSON. */
import { exportRequest, keyValue } from '../json/common-descriptors.ts';
import {
  enumOf,
  type FieldDescriptor,
  field,
  type MessageDescriptor,
  repeatedField,
} from '../json/message-descriptor.ts';

const temporality = enumOf('AGGREGATION_TEMPORALITY', 'UNSPECIFIED', 'DELTA', 'CUMULATIVE');

const exemplar: MessageDescriptor = {
  fields: () => ({
    timeUnixNano: field(2, 'fixed64'),
    asDouble: field(3, 'double'),
    spanId: field(4, 'id'),
    traceId: field(5, 'id'),
    asInt: field(6, 'sfixed64'),
    filteredAttributes: repeatedField(7, keyValue),
  }),
};
const times = { startTimeUnixNano: field(2, 'fixed64'), timeUnixNano: field(3, 'fixed64') };
const numberPoint: MessageDescriptor = {
  lengthBytes: 2,
  fields: () => ({
    ...times,
    asDouble: field(4, 'double'),
    exemplars: repeatedField(5, exemplar),
    asInt: field(6, 'sfixed64'),
    attributes: repeatedField(7, keyValue),
    flags: field(8, 'uint32'),
  }),
};
const histogramPoint: MessageDescriptor = {
  lengthBytes: 2,
  fields: () => ({
    ...times,
    count: field(4, 'fixed64'),
    sum: field(5, 'double'),
    bucketCounts: repeatedField(6, 'fixed64'),
    explicitBounds: repeatedField(7, 'double'),
    exemplars: repeatedField(8, exemplar),
    attributes: repeatedField(9, keyValue),
    flags: field(10, 'uint32'),
    min: field(11, 'double'),
    max: field(12, 'double'),
  }),
};
const buckets: MessageDescriptor = {
  fields: () => ({ offset: field(1, 'sint32'), bucketCounts: repeatedField(2, 'uint64') }),
};
const exponentialPoint: MessageDescriptor = {
  lengthBytes: 2,
  fields: () => ({
    attributes: repeatedField(1, keyValue),
    ...times,
    count: field(4, 'fixed64'),
    sum: field(5, 'double'),
    scale: field(6, 'sint32'),
    zeroCount: field(7, 'fixed64'),
    positive: field(8, buckets),
    negative: field(9, buckets),
    flags: field(10, 'uint32'),
    exemplars: repeatedField(11, exemplar),
    min: field(12, 'double'),
    max: field(13, 'double'),
    zeroThreshold: field(14, 'double'),
  }),
};
const quantile: MessageDescriptor = {
  fields: () => ({ quantile: field(1, 'double'), value: field(2, 'double') }),
};
const summaryPoint: MessageDescriptor = {
  lengthBytes: 2,
  fields: () => ({
    ...times,
    count: field(4, 'fixed64'),
    sum: field(5, 'double'),
    quantileValues: repeatedField(6, quantile),
    attributes: repeatedField(7, keyValue),
    flags: field(8, 'uint32'),
  }),
};

/** What holds the points of a metric. */
const data = (
  point: MessageDescriptor,
  fields: Readonly<Record<string, FieldDescriptor>> = {},
): MessageDescriptor => ({
  lengthBytes: 5,
  fields: () => ({ dataPoints: repeatedField(1, point), ...fields }),
});
const aggregation = { aggregationTemporality: field(2, temporality) };

const metric: MessageDescriptor = {
  lengthBytes: 5,
  fields: () => ({
    name: field(1, 'string'),
    description: field(2, 'string'),
    unit: field(3, 'string'),
    gauge: field(5, data(numberPoint)),
    sum: field(7, data(numberPoint, { ...aggregation, isMonotonic: field(3, 'bool') })),
    histogram: field(9, data(histogramPoint, aggregation)),
    exponentialHistogram: field(10, data(exponentialPoint, aggregation)),
    summary: field(11, data(summaryPoint)),
    metadata: repeatedField(12, keyValue),
  }),
};
/** `ExportMetricsServiceRequest` */
export const metricsRequest = exportRequest(
  { resources: 'resourceMetrics', scopes: 'scopeMetrics', records: 'metrics' },
  metric,
);
