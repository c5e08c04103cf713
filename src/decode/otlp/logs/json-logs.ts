import type { DecodeBounds } from '../../decode-bounds.ts';
import type { DecodedBody } from '../../task.ts';
import { JsonToProtobuf } from '../json/json-to-protobuf.ts';
import { logsRequest } from './log-descriptors.ts';
import { decodeProtobufLogs } from './protobuf-logs.ts';

const request = new JsonToProtobuf(logsRequest);

/**
 * OTLP logs in JSON into rows of `logs`.
 * @param body decompressed
 * @param bounds of what it may become; `requestBounds` unless given
 * @throws AppError `bad_json`, `bad_record`, `body_too_large`
 */
export function decodeJsonLogs(body: Buffer, receivedMicros: number, bounds?: DecodeBounds): DecodedBody {
  return decodeProtobufLogs(request.convert(body), receivedMicros, bounds, true);
}
