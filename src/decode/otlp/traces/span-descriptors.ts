/** The messages of OTLP traces (`schema/proto/otlp.proto`) by their names in JSON. */
import { exportRequest, keyValue } from '../json/common-descriptors.ts';
import { enumOf, field, type MessageDescriptor, repeatedField } from '../json/message-descriptor.ts';

const kinds = enumOf('SPAN_KIND', 'UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER');
const statusCodes = enumOf('STATUS_CODE', 'UNSET', 'OK', 'ERROR');

const event: MessageDescriptor = {
  fields: () => ({
    timeUnixNano: field(1, 'fixed64'),
    name: field(2, 'string'),
    attributes: repeatedField(3, keyValue),
    droppedAttributesCount: field(4, 'uint32'),
  }),
};
const link: MessageDescriptor = {
  fields: () => ({
    traceId: field(1, 'id'),
    spanId: field(2, 'id'),
    traceState: field(3, 'string'),
    attributes: repeatedField(4, keyValue),
    droppedAttributesCount: field(5, 'uint32'),
    flags: field(6, 'fixed32'),
  }),
};
const status: MessageDescriptor = {
  fields: () => ({ message: field(2, 'string'), code: field(3, statusCodes) }),
};
const span: MessageDescriptor = {
  lengthBytes: 2,
  fields: () => ({
    traceId: field(1, 'id'),
    spanId: field(2, 'id'),
    traceState: field(3, 'string'),
    parentSpanId: field(4, 'id'),
    name: field(5, 'string'),
    kind: field(6, kinds),
    startTimeUnixNano: field(7, 'fixed64'),
    endTimeUnixNano: field(8, 'fixed64'),
    attributes: repeatedField(9, keyValue),
    droppedAttributesCount: field(10, 'uint32'),
    events: repeatedField(11, event),
    droppedEventsCount: field(12, 'uint32'),
    links: repeatedField(13, link),
    droppedLinksCount: field(14, 'uint32'),
    status: field(15, status),
    flags: field(16, 'fixed32'),
  }),
};

/** `ExportTraceServiceRequest` */
export const tracesRequest = exportRequest(
  { resources: 'resourceSpans', scopes: 'scopeSpans', records: 'spans' },
  span,
);
