/**
 * Replies of OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp). A reply has the encoding and
 * exactly the media type of the request. Errors are `google.rpc.Status`.
 */
import protobuf from 'protobufjs/minimal.js';
import { AppError, type ErrorCode } from '../../../errors.ts';
import type { Acknowledgement } from '../../../ingest/ingest-request.ts';
import { type ContentTypeRule, mediaTypeOf } from '../../server/content-type.ts';
import { publicDetail, type Reply, refusalHeaders, withReplayed } from '../../server/reply.ts';

export const otlpJson = 'application/json';
export const otlpProtobuf = 'application/x-protobuf';

/** Accepts both encodings. The header is required, because a body without it could be either. */
export const otlpContentType: ContentTypeRule = (header) => {
  const mediaType = mediaTypeOf(header);
  if (mediaType === otlpJson || mediaType === otlpProtobuf) return mediaType;
  throw new AppError('unsupported_media_type', `this route takes ${otlpProtobuf} and ${otlpJson}`, {
    details: { supported: [otlpProtobuf, otlpJson] },
  });
};

/** Codes of gRPC (https://github.com/grpc/grpc/blob/master/doc/statuscodes.md) by HTTP status. */
const statusCodes: ReadonlyMap<number, number> = new Map([
  [401, 16], // unauthenticated
  [403, 7], // permission denied
  [404, 5], // not found
  [405, 12], // unimplemented
  [409, 9], // failed precondition
  [413, 8], // resource exhausted
  [429, 8],
  [500, 13], // internal
  [503, 14], // unavailable
]);
const invalidArgument = 3;

const badRequestUrl = 'type.googleapis.com/google.rpc.BadRequest';

/** The part of a request that an error is about, if it is not the body. */
const wrongParts: Readonly<Partial<Record<ErrorCode, string>>> = {
  bad_header: 'header',
  bad_framing: 'header',
  bad_dataset_name: 'X-P-Stream',
  tenant_required: 'X-P-Tenant',
  tenant_not_supported: 'X-P-Tenant',
  bad_tenant_name: 'X-P-Tenant',
  credentials_ambiguous: 'Authorization',
};

/**
 * Says which part of a request is wrong, and why, as in `google.rpc.BadRequest`
 * (https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto).
 */
const fieldViolation = (error: AppError) => ({
  field: wrongParts[error.code] ?? 'body',
  description: publicDetail(error),
  reason: error.code.toUpperCase(),
});

/**
 * An error as `google.rpc.Status`, in JSON unless the request was protobuf. A bad request has a
 * `google.rpc.BadRequest` among its details.
 */
export function otlpRefusal(error: AppError, contentType: string): Reply {
  const { status } = error.definition;
  const code = statusCodes.get(status) ?? invalidArgument;
  const message = `${publicDetail(error)} (${error.code})`;
  const headers = refusalHeaders(error);
  const violation = status === 400 ? fieldViolation(error) : undefined;
  if (mediaTypeOf(contentType) !== otlpProtobuf) {
    const details = violation && [{ '@type': badRequestUrl, fieldViolations: [violation] }];
    return { status, contentType: otlpJson, body: JSON.stringify({ code, message, details }), headers };
  }
  const writer = protobuf.Writer.create().uint32(8).int32(code).uint32(18).string(message);
  if (violation !== undefined) {
    const { field, description, reason } = violation;
    // An Any: its type, and the bytes of a BadRequest with one violation.
    writer.uint32(26).fork().uint32(10).string(badRequestUrl).uint32(18).fork();
    writer.uint32(10).fork().uint32(10).string(field).uint32(18).string(description);
    writer.uint32(26).string(reason).ldelim().ldelim().ldelim();
  }
  return { status, contentType: otlpProtobuf, body: [writer.finish()], headers };
}

/** How a signal reports the refused part of a request whose other part is stored. */
export interface PartialSuccess {
  /** The name in JSON; in protobuf it is field 1. */
  readonly field: 'rejectedLogRecords' | 'rejectedSpans' | 'rejectedDataPoints';
  count(refused: NonNullable<Acknowledgement['refused']>): number;
}

/** An `Export…ServiceResponse`, which is empty if all of the request is stored. */
export function exportReply(
  { refused, replayed }: Acknowledgement,
  contentType: string,
  partial: PartialSuccess,
): Reply {
  const rejected = refused === undefined ? 0 : partial.count(refused);
  const errorMessage = refused === undefined ? '' : problemText(refused);
  if (contentType === otlpJson) {
    // 64-bit integers are strings in the JSON of protobuf.
    const body =
      refused === undefined ? {} : { partialSuccess: { [partial.field]: String(rejected), errorMessage } };
    return withReplayed({ status: 200, contentType, body: JSON.stringify(body) }, replayed);
  }
  const writer = protobuf.Writer.create();
  if (refused !== undefined) {
    writer.uint32(10).fork().uint32(8).int64(rejected).uint32(18).string(errorMessage).ldelim();
  }
  const bytes = writer.finish();
  return withReplayed({ status: 200, contentType, body: bytes.length === 0 ? '' : [bytes] }, replayed);
}

/** The first problems, one per line, because the Collector logs the message as it is. */
function problemText({ counts, problems }: NonNullable<Acknowledgement['refused']>): string {
  const more = counts.problems - problems.length;
  return [...problems, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}
