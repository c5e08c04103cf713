import type { BodyEncoding } from '../../decode/task.ts';
import type { AppError, ErrorCode } from '../../errors.ts';
import type { Reserve } from '../../ingest/ingest-request.ts';
import type { CancelSignal } from '../../lib/cancellation.ts';
import type { Schema } from '../../lib/validation.ts';
import type { Action, Principal } from '../../model/identity.ts';
import type { ContentTypeRule } from './content-type.ts';
import type { Reply } from './reply.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * One row of the route table. The router, the checks of requests and the reference of the API all use the
 * same rows. Every row names the permission that it needs; without one it does not compile. Only the handler
 * of a row with a dataset gets a dataset. HEAD is answered wherever GET is.
 */
export type Route = PublicRoute | ServiceRoute | DatasetRoute;

interface RouteBase {
  readonly method: Method;
  /** At most one segment is in braces; it matches any text without a slash: `/api/v1/logstream/{dataset}`. */
  readonly path: string;
  /**
   * The format of errors, if the protocol of the path defines one; problem details otherwise. It must be the
   * same for all rows of a path, because it is also used for methods that the path does not have.
   */
  readonly refusal?: RefusalFormat;
  /** The parameters of the query string. Others are ignored. */
  readonly query?: QueryParameters;
  readonly reference: RouteReference;
}

/** The text about a route in the reference of the API, in addition to the other members of its row. */
export interface RouteReference {
  readonly group: RouteGroup;
  /** One line. */
  readonly summary: string;
  /** What else a client must know, in Markdown. */
  readonly details?: string;
  /** The path parameter, unless it is a dataset. */
  readonly parameter?: ParameterReference;
  /** Request headers of this route, in addition to those of all routes. */
  readonly headers?: readonly HeaderReference[];
  /** Replies that are not errors. */
  readonly replies: readonly ReplyReference[];
  /**
   * Errors of this route, in addition to those of all routes of its kind (`commonErrors`).
   */
  readonly errors: readonly ErrorCode[];
}

export type RouteGroup =
  | 'Ingest'
  | 'Query'
  | 'Datasets'
  | 'Dashboards'
  | 'Alerts'
  | 'Identities'
  | 'Notifications'
  | 'Tenants'
  | 'Backups'
  | 'Sign-in'
  | 'Status'
  | 'Console';

export interface ParameterReference {
  readonly description: string;
  readonly schema: Schema<unknown>;
}

export interface HeaderReference extends ParameterReference {
  readonly name: string;
}

export interface ReplyReference {
  readonly status: number;
  readonly description: string;
  /** The schema of the body by media type; absent without a body. Binary bodies are `unknown`. */
  readonly content?: Readonly<Record<string, Schema<unknown>>>;
  /** Headers that only this reply has, with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The schemas of the parameters, by name. Each parameter is optional and a text. */
export interface QueryParameters {
  readonly schemas: Readonly<Record<string, Schema<unknown>>>;
}

/** Turns an error into a reply. @param contentType the header of the request; empty when absent */
export type RefusalFormat = (error: AppError, contentType: string) => Reply;

/** A route that needs no credentials. A body must be small: anybody may send one. */
export interface PublicRoute extends RouteBase {
  readonly permission: 'public';
  readonly dataset?: never;
  readonly tenant?: never;
  readonly body?: BodyRules;
  handler(request: PublicRequest): Reply | Promise<Reply>;
}

/**
 * A request without credentials. It can be read only until the handler first awaits. Of a route with a body,
 * only headers that each request may have can be read (`keptHeader`): others are gone when the body is there.
 */
export interface PublicRequest {
  /** What follows the question mark; empty when there is none. */
  readonly queryString: string;
  /** How browsers reach the service: `https` over TLS, or the value of `X-Forwarded-Proto`. */
  readonly forwardedProto: string;
  /** @param name in lower case; an absent header is empty */
  readonly header: (name: string) => string;
  /** As text. */
  readonly clientAddress: () => string;
  /** The value of the path parameter, decoded; empty if the route has none. */
  readonly parameter: string;
  /** Empty on routes without a body. */
  readonly body: Uint8Array;
}

/**
 * A route that needs `permission` for at least one dataset, or for the tenant or service. A query checks the
 * datasets that it reads by itself.
 */
export interface ServiceRoute extends RouteBase {
  readonly permission: Action;
  readonly dataset: 'none';
  /** The route concerns the whole server, so requests need not name a tenant. */
  readonly tenant?: 'none';
  readonly body?: BodyRules;
  handler(request: AuthorizedRequest): Reply | Promise<Reply>;
}

/** A route that needs `permission` for the dataset that the request names. */
export interface DatasetRoute extends RouteBase {
  readonly permission: Action;
  /** Where the request names it: in the path segment `{dataset}`, or in the header X-P-Stream. */
  readonly dataset: 'path' | 'header';
  /** The dataset if the header is missing; without a default, a missing header is an error. */
  readonly defaultDataset?: string;
  readonly tenant?: never;
  readonly body?: BodyRules;
  handler(request: DatasetRequest): Reply | Promise<Reply>;
}

/** Rules for the body of a route. They are checked before any of the body is read. */
export interface BodyRules {
  readonly maxBytes: number;
  readonly contentType: ContentTypeRule;
  readonly encodings: readonly BodyEncoding[];
  /** The description of the body in the reference of the API. */
  readonly reference: BodyReference;
  /** Whether the route uses the header `Idempotency-Key`; otherwise the header is ignored. */
  readonly takesIdempotencyKey?: true;
  /**
   * Called before a body is read. It throws if the body cannot be admitted now, and returns a function that
   * reserves memory for it; in several portions if the length was not declared.
   * @throws AppError
   */
  reserve?(tenant: string, dataset: string): Reserve;
}

export interface BodyReference {
  readonly description: string;
  /** The schema by media type; binary bodies are `unknown`. */
  readonly content: Readonly<Record<string, Schema<unknown>>>;
  readonly isRequired: boolean;
  /** The errors for a body that does not match the schema. */
  readonly errors: readonly ErrorCode[];
}

export interface AuthorizedRequest {
  readonly principal: Principal;
  /** Id of the tenant of the request; the principal has access to it. */
  readonly tenant: string;
  /** The value of the path parameter, decoded; empty if the route has none. */
  readonly parameter: string;
  /** What follows the question mark; empty when there is none. */
  readonly queryString: string;
  /** The header; empty when absent. */
  readonly accept: string;
  /** The header Millrace-Consistency; empty when absent. */
  readonly consistency: string;
  /** The header If-Match (`entity-tag.ts`); empty when absent. */
  readonly ifMatch: string;
  /** The header Last-Event-ID; empty when absent. */
  readonly lastEventId: string;
  /** The beginning of the header, `limits.maxUserAgentLength` characters of it; empty when absent. */
  readonly userAgent: string;
  /**
   * Headers that begin with `x-p-`, by their names in lower case, except those that name the tenant and the
   * dataset.
   */
  readonly extensions: ReadonlyMap<string, string>;
  /** The result of the route's `ContentTypeRule`. Empty on routes without a body. */
  readonly contentType: string;
  readonly encoding: BodyEncoding;
  /** Undefined if there is none, and on routes that take none. */
  readonly idempotencyKey: string | undefined;
  /** Not decompressed. Its memory belongs to the handler. Empty on routes without a body. */
  readonly body: Uint8Array;
  /** The address of the client. It must be read before the handler first awaits. */
  readonly clientAddress: () => string;
  /** Returns a signal that is aborted when the client disconnects. It is created on first use. */
  readonly signal: () => CancelSignal;
  /**
   * For replies that go on for long: checks again what the request presented, as if it came now.
   * @returns the principal with its present privileges
   * @throws AppError as the request would be refused now
   */
  readonly authorizeAgain: () => Promise<Principal>;
}

export interface DatasetRequest extends AuthorizedRequest {
  /** A valid dataset name. The principal has the permission of the route for it. */
  readonly dataset: string;
}
