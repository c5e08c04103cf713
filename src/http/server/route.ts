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
 * One row of the route table, from which the router, the checks of what a request sends and the reference of
 * the API come. Every row says who may use it: a row without a permission does not compile, and only a row
 * with a dataset gives its handler one. HEAD is answered wherever GET is.
 */
export type Route = PublicRoute | ServiceRoute | DatasetRoute;

interface RouteBase {
  readonly method: Method;
  /** A segment in braces, one at most, matches anything but a slash: `/api/v1/logstream/{dataset}`. */
  readonly path: string;
  /**
   * How errors of this path are answered, where its protocol says so; otherwise as problem details. It must
   * be the same for all rows of the path, since it also answers methods that the path does not take.
   */
  readonly refusal?: RefusalFormat;
  /** The parameters behind the question mark. Others are not looked at. */
  readonly query?: QueryParameters;
  readonly reference: RouteReference;
}

/** What the reference of the API says about a route, beyond what the other members of its row do. */
export interface RouteReference {
  readonly group: RouteGroup;
  /** One line. */
  readonly summary: string;
  /** What else a client must know, in Markdown. */
  readonly details?: string;
  /** What stands in the path for the braces, unless it is a dataset. */
  readonly parameter?: ParameterReference;
  /** Headers of a request that mean something here, beside those of all routes. */
  readonly headers?: readonly HeaderReference[];
  /** Those that are no errors. */
  readonly replies: readonly ReplyReference[];
  /**
   * What a request can end with, beside what all requests with the same kind of route can (`commonErrors`).
   */
  readonly errors: readonly ErrorCode[];
}

export type RouteGroup =
  | 'Ingest'
  | 'Query'
  | 'Datasets'
  | 'Identities'
  | 'Tenants'
  | 'Backups'
  | 'Sign-in'
  | 'Status';

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
  /** What the body is, by media type; none for a reply without a body. Bytes are `unknown`. */
  readonly content?: Readonly<Record<string, Schema<unknown>>>;
  /** Headers that only this reply has: what each says. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Parameters by their names; each is optional, and text. */
export interface QueryParameters {
  readonly schemas: Readonly<Record<string, Schema<unknown>>>;
}

/** An error as a reply. @param contentType header of the request, as it came; empty when absent */
export type RefusalFormat = (error: AppError, contentType: string) => Reply;

/** For everybody, without credentials. Takes no body. */
export interface PublicRoute extends RouteBase {
  readonly permission: 'public';
  readonly dataset?: never;
  readonly tenant?: never;
  readonly body?: never;
  handler(request: PublicRequest): Reply | Promise<Reply>;
}

/** A request of anybody. It is asked before anything is awaited. */
export interface PublicRequest {
  /** What follows the question mark; empty when there is none. */
  readonly queryString: string;
  /** How browsers reach the service: `https` over TLS, or what the proxy says in `X-Forwarded-Proto`. */
  readonly forwardedProto: string;
  /** @param name in small letters; a header that is not there is empty */
  readonly header: (name: string) => string;
  /** As text. */
  readonly clientAddress: () => string;
}

/** For those who may do `permission` somewhere; a query is narrowed to datasets by whoever runs it. */
export interface ServiceRoute extends RouteBase {
  readonly permission: Action;
  readonly dataset: 'none';
  /** It is about the server and not about one of its tenants, so that a request need not name one. */
  readonly tenant?: 'none';
  readonly body?: BodyRules;
  handler(request: AuthorizedRequest): Reply | Promise<Reply>;
}

/** For those who may do `permission` to the dataset that the request names. */
export interface DatasetRoute extends RouteBase {
  readonly permission: Action;
  /** Where the request names it: in the path segment `{dataset}`, or in the header X-P-Stream. */
  readonly dataset: 'path' | 'header';
  /** What a missing header means; without one, it is an error. */
  readonly defaultDataset?: string;
  readonly tenant?: never;
  readonly body?: BodyRules;
  handler(request: DatasetRequest): Reply | Promise<Reply>;
}

/** What a route takes for a body, checked before a byte of it is read. */
export interface BodyRules {
  readonly maxBytes: number;
  readonly contentType: ContentTypeRule;
  readonly encodings: readonly BodyEncoding[];
  /** What it is, for the reference of the API. */
  readonly reference: BodyReference;
  /** Whether an `Idempotency-Key` means something here; otherwise the header is not looked at. */
  readonly takesIdempotencyKey?: true;
  /**
   * Asked whether a body may come, before it is read. What it returns takes room in memory, in several
   * portions when the length is not declared.
   * @throws AppError
   */
  reserve?(tenant: string, dataset: string): Reserve;
}

export interface BodyReference {
  readonly description: string;
  /** By media type; bytes are `unknown`. */
  readonly content: Readonly<Record<string, Schema<unknown>>>;
  readonly isRequired: boolean;
  /** What it is refused with where it is not as the schema says. */
  readonly errors: readonly ErrorCode[];
}

export interface AuthorizedRequest {
  readonly principal: Principal;
  /** Id of the tenant that it is about, which the principal may enter. */
  readonly tenant: string;
  /** What stands in the path for the braces of the route, decoded; empty if it has none. */
  readonly parameter: string;
  /** What follows the question mark; empty when there is none. */
  readonly queryString: string;
  /** The header; empty when absent. */
  readonly accept: string;
  /** The header Millrace-Consistency; empty when absent. */
  readonly consistency: string;
  /** The beginning of the header, `limits.maxUserAgentLength` characters of it; empty when absent. */
  readonly userAgent: string;
  /**
   * Headers that begin with `x-p-`, but for those that name tenant and dataset, by their names in small
   * letters.
   */
  readonly extensions: ReadonlyMap<string, string>;
  /** As the route's `ContentTypeRule` gives it. Empty on routes without a body. */
  readonly contentType: string;
  readonly encoding: BodyEncoding;
  /** Undefined if there is none, and on routes that take none. */
  readonly idempotencyKey: string | undefined;
  /** Not decompressed. Nobody else holds its memory. Empty on routes without a body. */
  readonly body: Uint8Array;
  /** Where the request comes from, as text; asked for before anything is awaited. */
  readonly clientAddress: () => string;
  /** Aborted when the client goes away. Made when it is asked for. */
  readonly signal: () => CancelSignal;
}

export interface DatasetRequest extends AuthorizedRequest {
  /** A valid dataset name, which the principal has the route's permission for. */
  readonly dataset: string;
}
