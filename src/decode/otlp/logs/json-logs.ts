/** OTLP logs in JSON into rows of `logs`. */
import type { DecodeBounds } from '../../decode-bounds.ts';
import type { DecodedBody } from '../../task.ts';
import type { JsonReader } from '../../wire/json-reader.ts';
import { ExportFields, JsonExport, openJson } from '../json/json-export.ts';
import { JsonFields } from '../json/json-fields.ts';
import { readEnum, readId, readText, readUnsigned32, readUnsigned64 } from '../json/json-scalars.ts';
import { JsonValues } from '../json/json-values.ts';
import { LogRows } from './log-rows.ts';

const recordField = {
  timeUnixNano: 1,
  observedTimeUnixNano: 2,
  severityNumber: 3,
  severityText: 4,
  body: 5,
  attributes: 6,
  droppedAttributesCount: 7,
  flags: 8,
  traceId: 9,
  spanId: 10,
  eventName: 11,
} as const;

const exportFields = new ExportFields({
  resources: 'resourceLogs',
  scopes: 'scopeLogs',
  records: 'logRecords',
});
const recordFields = new JsonFields(recordField);

/** `SEVERITY_NUMBER_INFO` is 9, `SEVERITY_NUMBER_INFO2` is 10, and so on: four each. */
const severityNumbers: ReadonlyMap<string, number> = new Map([
  ['SEVERITY_NUMBER_UNSPECIFIED', 0],
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name, index) =>
    ['', '2', '3', '4'].map(
      (suffix, offset) => [`SEVERITY_NUMBER_${name}${suffix}`, 4 * index + offset + 1] as const,
    ),
  ),
]);

/**
 * @param body decompressed
 * @throws AppError `bad_json`, `bad_record`, `body_too_large`
 * @param bounds of what it may become; `requestBounds` unless given
 */
export function decodeJsonLogs(body: Buffer, receivedMicros: number, bounds?: DecodeBounds): DecodedBody {
  const rows = new LogRows(body, receivedMicros, bounds);
  const reader = openJson(body);
  const values = new JsonValues(reader, rows.record);
  const onField = (id: number): void => readJsonField(id, reader, values, rows);
  const readRecord = (): void => {
    rows.beginRecord();
    recordFields.read(reader, onField);
    rows.endRecord();
  };
  new JsonExport(reader, rows, exportFields, readRecord).read();
  return rows.finish();
}

function readJsonField(id: number, reader: JsonReader, values: JsonValues, rows: LogRows): void {
  switch (id) {
    case recordField.timeUnixNano:
      readUnsigned64(reader, rows.time);
      break;
    case recordField.observedTimeUnixNano:
      readUnsigned64(reader, rows.observedTime);
      break;
    case recordField.severityNumber:
      rows.severityNumber = readEnum(reader, severityNumbers);
      return;
    case recordField.severityText:
      readText(reader, rows.record, rows.severityText);
      break;
    case recordField.body:
      values.readValue(rows.body);
      break;
    case recordField.attributes:
      values.readAttributes(rows.attributes);
      break;
    case recordField.droppedAttributesCount:
      rows.droppedAttributes = readUnsigned32(reader);
      return;
    case recordField.flags:
      rows.flags = readUnsigned32(reader);
      return;
    case recordField.traceId:
      readId(reader, rows.traceId);
      break;
    case recordField.spanId:
      readId(reader, rows.spanId);
      break;
    default:
      readText(reader, rows.record, rows.eventName);
  }
}
