/** The messages of OTLP logs (`schema/proto/otlp.proto`) by their names in JSON. */
import { anyValue, exportRequest, keyValue } from '../json/common-descriptors.ts';
import { field, type MessageDescriptor, repeatedField } from '../json/message-descriptor.ts';

/** `SEVERITY_NUMBER_INFO` is 9, `SEVERITY_NUMBER_INFO2` is 10, and so on: four each. */
const severityNumbers: ReadonlyMap<string, number> = new Map([
  ['SEVERITY_NUMBER_UNSPECIFIED', 0],
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name, index) =>
    ['', '2', '3', '4'].map(
      (suffix, offset) => [`SEVERITY_NUMBER_${name}${suffix}`, 4 * index + offset + 1] as const,
    ),
  ),
]);

const logRecord: MessageDescriptor = {
  lengthBytes: 2,
  fields: () => ({
    timeUnixNano: field(1, 'fixed64'),
    severityNumber: field(2, severityNumbers),
    severityText: field(3, 'string'),
    body: field(5, anyValue),
    attributes: repeatedField(6, keyValue),
    droppedAttributesCount: field(7, 'uint32'),
    flags: field(8, 'fixed32'),
    traceId: field(9, 'id'),
    spanId: field(10, 'id'),
    observedTimeUnixNano: field(11, 'fixed64'),
    eventName: field(12, 'string'),
  }),
};

/** `ExportLogsServiceRequest` */
export const logsRequest = exportRequest(
  { resources: 'resourceLogs', scopes: 'scopeLogs', records: 'logRecords' },
  logRecord,
);
