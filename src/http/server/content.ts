import type { BodyEncoding } from '../../decode/task.ts';
import { acceptEncoding } from './content-type.ts';
import { idempotencyKey, type RequestHeaders } from './headers.ts';
import { bodyTooLarge } from './request-body.ts';
import type { BodyRules } from './route.ts';

/** What the headers say about the body. */
export interface Content {
  readonly contentType: string;
  readonly encoding: BodyEncoding;
  readonly idempotencyKey: string | undefined;
}

export const noContent: Content = { contentType: '', encoding: 'identity', idempotencyKey: undefined };

/** @throws AppError `unsupported_media_type`, `unsupported_encoding`, `body_too_large`, `bad_header` */
export function acceptContent(
  rules: BodyRules,
  headers: RequestHeaders,
  declaredBytes: number | undefined,
): Content {
  const contentType = rules.contentType(headers.contentType);
  const encoding = acceptEncoding(headers.contentEncoding, rules.encodings);
  if (declaredBytes !== undefined && declaredBytes > rules.maxBytes) throw bodyTooLarge(rules.maxBytes);
  const key = rules.takesIdempotencyKey === true ? idempotencyKey(headers) : undefined;
  return { contentType, encoding, idempotencyKey: key };
}
