/** OTLP logs in protobuf (`schema/proto/otlp.proto`) into rows of `logs`. */
import type { DecodeBounds } from '../../decode-bounds.ts';
import type { DecodedBody } from '../../task.ts';
import { fieldTag, ProtobufReader } from '../../wire/protobuf-reader.ts';
import { keep } from '../../wire/protobuf-values.ts';
import { ProtobufValues } from '../any-value.ts';
import { ProtobufExport } from '../protobuf-export.ts';
import { LogRows } from './log-rows.ts';

const recordTag = {
  time: fieldTag(1, 'fixed64'),
  severityNumber: fieldTag(2, 'varint'),
  severityText: fieldTag(3, 'bytes'),
  body: fieldTag(5, 'bytes'),
  attributes: fieldTag(6, 'bytes'),
  droppedAttributes: fieldTag(7, 'varint'),
  flags: fieldTag(8, 'fixed32'),
  traceId: fieldTag(9, 'bytes'),
  spanId: fieldTag(10, 'bytes'),
  observedTime: fieldTag(11, 'fixed64'),
  eventName: fieldTag(12, 'bytes'),
} as const;

/**
 * @param message the decompressed body
 * @param bounds of what it may become; `requestBounds` unless given
 * @param isUtf8 whether its texts are known to be valid UTF-8; else each is checked, and repaired
 * @throws AppError `bad_protobuf`, `bad_record`, `body_too_large`
 */
export function decodeProtobufLogs(
  message: Buffer,
  receivedMicros: number,
  bounds?: DecodeBounds,
  isUtf8 = false,
): DecodedBody {
  const rows = new LogRows(message, receivedMicros, bounds);
  rows.record.isUtf8 = isUtf8;
  const reader = new ProtobufReader(message);
  const values = new ProtobufValues(reader, rows.record);
  const readRecord = (end: number): void => readProtobufRecord(reader, values, rows, end);
  new ProtobufExport(reader, rows, readRecord).read();
  return rows.finish();
}

function readProtobufRecord(
  reader: ProtobufReader,
  values: ProtobufValues,
  rows: LogRows,
  end: number,
): void {
  rows.beginRecord();
  while (reader.position < end) {
    const tag = reader.tag(end);
    switch (tag) {
      case recordTag.time:
        reader.fixed64(end);
        keep(rows.time, reader);
        break;
      case recordTag.observedTime:
        reader.fixed64(end);
        keep(rows.observedTime, reader);
        break;
      case recordTag.severityNumber:
        rows.severityNumber = reader.int32(end);
        break;
      case recordTag.severityText:
        values.readString(rows.severityText, end);
        break;
      case recordTag.body: {
        const bodyEnd = reader.lengthEnd(end);
        values.readValue(rows.body, bodyEnd);
        break;
      }
      case recordTag.attributes:
        values.readAttribute(rows.attributes, end);
        break;
      case recordTag.droppedAttributes:
        rows.droppedAttributes = reader.int32(end);
        break;
      case recordTag.flags:
        rows.flags = reader.fixed32(end);
        break;
      case recordTag.traceId:
        values.readId(rows.traceId, end);
        break;
      case recordTag.spanId:
        values.readId(rows.spanId, end);
        break;
      case recordTag.eventName:
        values.readString(rows.eventName, end);
        break;
      default:
        reader.skip(tag, end);
    }
  }
  rows.endRecord();
}
