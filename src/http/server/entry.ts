import type { BodyEncoding } from '../../decode/task.ts';
import type { Principal } from '../../model/identity.ts';
import { requestDataset, requirePermission } from './access.ts';
import { acceptEncoding } from './content-type.ts';
import { idempotencyKey, type RequestHeaders } from './headers.ts';
import type { Reply } from './reply.ts';
import { bodyTooLarge } from './request-body.ts';
import type { BodyRules, DatasetRequest, PublicRoute, Route } from './route.ts';
import type { Match } from './router.ts';

/** What a body is, as its headers say. */
export interface Content {
  readonly contentType: string;
  readonly encoding: BodyEncoding;
  readonly idempotencyKey: string | undefined;
}

export const noContent: Content = { contentType: '', encoding: 'identity', idempotencyKey: undefined };

/** What a principal may do with a request. */
export interface Authorized {
  /** That the request is for; empty if its route has none. */
  readonly dataset: string;
  /** A route without a dataset cannot ask for that of the request. */
  handle(request: DatasetRequest): Reply | Promise<Reply>;
}

/**
 * The handler of a route, if this principal may use it.
 * @throws AppError `forbidden`, `bad_header`, `bad_dataset_name`
 */
export function authorize(
  route: Exclude<Route, PublicRoute>,
  match: Match,
  principal: Principal,
  headers: RequestHeaders,
): Authorized {
  if (route.dataset === 'none') {
    requirePermission(principal, route.permission);
    return { dataset: '', handle: route.handler };
  }
  const dataset = requestDataset(route, match, headers);
  requirePermission(principal, route.permission, dataset);
  return { dataset, handle: route.handler };
}

/** @throws AppError `unsupported_media_type`, `unsupported_encoding`, `body_too_large`, `bad_header` */
export function admit(rules: BodyRules, headers: RequestHeaders, declaredBytes: number | undefined): Content {
  const contentType = rules.contentType(headers.contentType);
  const encoding = acceptEncoding(headers.contentEncoding, rules.encodings);
  if (declaredBytes !== undefined && declaredBytes > rules.maxBytes) throw bodyTooLarge(rules.maxBytes);
  const key = rules.takesIdempotencyKey === true ? idempotencyKey(headers) : undefined;
  return { contentType, encoding, idempotencyKey: key };
}
