import type { DecodeBounds } from '../../decode-bounds.ts';
import type { DecodedBody } from '../../task.ts';
import { JsonToProtobuf } from '../json/json-to-protobuf.ts';
import { decodeProtobufTraces } from './protobuf-traces.ts';
import { tracesRequest } from './span-descriptors.ts';

const request = new JsonToProtobuf(tracesRequest);

/**
 * OTLP traces in JSON into rows of `spans`.
 * @param body decompressed
 * @param bounds of what it may become; `requestBounds` unless given
 * @throws AppError `bad_json`, `bad_record`, `body_too_large`
 */
export function decodeJsonTraces(body: Buffer, receivedMicros: number, bounds?: DecodeBounds): DecodedBody {
  return decodeProtobufTraces(request.convert(body), receivedMicros, bounds, true);
}
