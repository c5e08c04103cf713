/**
 * The one registry of errors that a client, an operator or another part of the program can meet.
 *
 * A code is stable: clients match on it, `/metrics` counts by it, retry is decided by it. The message says
 * what was wrong, where, and what is allowed; it never carries a secret or a piece of another tenant's data.
 */

export interface ErrorDefinition {
  /** HTTP status of the reply. */
  readonly status: number;
  /** Short text for people, the same for every occurrence (RFC 9457 `title`). */
  readonly title: string;
  /** SQLSTATE for clients that speak SQL. */
  readonly sqlState?: string;
  /** True when the same request may succeed later; the reply then carries `Retry-After`. */
  readonly retryable: boolean;
}

const permanent = (status: number, title: string, sqlState?: string): ErrorDefinition =>
  sqlState === undefined
    ? { status, title, retryable: false }
    : { status, title, sqlState, retryable: false };
const retryable = (status: number, title: string, sqlState?: string): ErrorDefinition =>
  sqlState === undefined ? { status, title, retryable: true } : { status, title, sqlState, retryable: true };

export const errorDefinitions = {
  // The request itself
  bad_request: permanent(400, 'The request is malformed'),
  bad_header: permanent(400, 'A header is missing or malformed'),
  bad_framing: permanent(400, 'Where the request ends is not certain'),
  bad_encoding: permanent(400, 'The body does not match its Content-Encoding'),
  bad_json: permanent(400, 'The body is not valid JSON'),
  bad_event: permanent(400, 'An event cannot be stored'),
  bad_protobuf: permanent(400, 'The body is not a valid protobuf message'),
  bad_series: permanent(400, 'A time series cannot be stored'),
  bad_record: permanent(400, 'A log record or span cannot be stored'),
  bad_dataset_name: permanent(400, 'The dataset name is not allowed'),
  bad_time_range: permanent(400, 'The time range is not understood'),
  bad_retention: permanent(400, 'The retention is not valid'),
  bad_dataset_options: permanent(400, 'The dataset cannot be made like this'),
  bad_limits: permanent(400, 'The limits are not understood'),
  dataset_exists: permanent(400, 'The dataset exists already'),
  too_many_columns: permanent(400, 'The events have too many different fields'),
  credentials_ambiguous: permanent(400, 'More than one kind of credentials was sent'),
  tenant_not_supported: permanent(400, 'This server has one tenant only'),
  tenant_required: permanent(400, 'The tenant must be named'),
  bad_tenant_name: permanent(400, 'The name of the tenant is not allowed'),
  bad_name: permanent(400, 'The name is not allowed'),
  bad_role: permanent(400, 'The role is not valid'),
  role_unknown: permanent(400, 'A role does not exist'),
  login_failed: permanent(400, 'The sign-in did not succeed'),
  root_unchangeable: permanent(400, 'The root administrator cannot be changed here'),
  unauthenticated: permanent(401, 'Valid credentials are needed', '28000'),
  forbidden: permanent(403, 'The credentials do not allow this', '42501'),
  not_found: permanent(404, 'There is nothing here'),
  dataset_not_found: permanent(404, 'The dataset does not exist', '42P01'),
  tenant_not_found: permanent(404, 'The tenant does not exist', '3D000'),
  method_not_allowed: permanent(405, 'The method is not allowed here'),
  kind_conflict: permanent(409, 'The dataset holds another kind of data'),
  identity_exists: permanent(409, 'The name is taken'),
  tenant_exists: permanent(409, 'The name is too much like that of another tenant'),
  tenant_unchangeable: permanent(409, 'The default tenant stays'),
  too_many_tenants: permanent(409, 'There are as many tenants as are allowed'),
  too_many_datasets: permanent(409, 'The tenant has as many datasets as are allowed'),
  identity_changed: permanent(409, 'Somebody else made a change at the same time'),
  role_in_use: permanent(409, 'The role is in use'),
  too_many_identities: permanent(409, 'There are as many as are allowed'),
  dead_letter_in_use: permanent(409, 'The log still needs the dead letter'),
  not_acceptable: permanent(406, 'No form of the reply is acceptable'),
  length_required: permanent(411, 'The length of the body must be known'),
  body_too_large: permanent(413, 'The body is too large'),
  event_too_large: permanent(413, 'An event is too large'),
  unsupported_media_type: permanent(415, 'The Content-Type is not supported'),
  unsupported_encoding: permanent(415, 'The Content-Encoding is not supported'),
  idempotency_key_reused: permanent(422, 'The Idempotency-Key belongs to another request'),
  rate_limited: retryable(429, 'More was sent than is allowed in the time', '53400'),
  headers_too_large: permanent(431, 'The headers are too large'),

  // SQL
  sql_syntax: permanent(400, 'The query is not valid SQL', '42601'),
  sql_unsupported: permanent(400, 'The query uses something that is not supported', '0A000'),
  sql_parameter_count: permanent(400, 'The query has another number of parameters', '08P01'),
  sql_parameter_type: permanent(400, 'The type of a parameter is not certain', '42P08'),
  sql_unknown_column: permanent(400, 'A column does not exist', '42703'),
  sql_unknown_relation: permanent(400, 'A dataset in the query does not exist', '42P01'),
  sql_unknown_function: permanent(400, 'A function does not exist or is not allowed', '42883'),
  sql_ambiguous: permanent(400, 'A name in the query is ambiguous', '42702'),
  sql_grouping: permanent(400, 'A column must be grouped or aggregated', '42803'),
  sql_cardinality: permanent(400, 'A subquery gave more than one row', '21000'),
  sql_bad_reference: permanent(400, 'A reference to an output column is not valid', '42P10'),
  sql_type: permanent(400, 'The types in the query do not fit', '42804'),
  sql_bad_value: permanent(400, 'A value cannot be converted', '22P02'),
  sql_division_by_zero: permanent(400, 'Division by zero', '22012'),
  sql_out_of_range: permanent(400, 'A value is out of range', '22003'),
  sql_bad_logarithm: permanent(400, 'There is no logarithm of zero or a negative number', '2201E'),
  sql_bad_power: permanent(400, 'There is no power or root that is a real number', '2201F'),
  sql_bad_regex: permanent(400, 'A regular expression is not valid', '2201B'),
  sql_too_large: permanent(400, 'The query text is too large', '54000'),
  sql_too_complex: permanent(400, 'The query takes too much to translate', '54001'),
  sql_failed: permanent(400, 'The query cannot be run'),
  query_timeout: permanent(408, 'The query ran longer than allowed', '57014'),
  query_memory: permanent(400, 'The query needs more memory than allowed', '53200'),
  query_result_too_large: permanent(400, 'The result is larger than allowed', '54000'),
  queries_paused: retryable(429, 'Queries are refused for a while, after one that did not stop', '53400'),
  query_cancelled: permanent(499, 'The client went away', '57014'),

  // The service
  overloaded: retryable(503, 'The service is overloaded', '53300'),
  log_full: retryable(503, 'The write-ahead log is full', '53100'),
  log_failed: retryable(503, 'The write-ahead log cannot be written', '58030'),
  store_unavailable: retryable(503, 'The store does not answer', '58000'),
  oidc_unavailable: retryable(503, 'The identity provider does not answer', '58000'),
  secret_changed: permanent(500, 'The API key was encrypted with another secret'),
  dataset_changed: retryable(503, 'The dataset was made at the same time'),
  starting: retryable(503, 'The service is starting', '57P03'),
  shutting_down: retryable(503, 'The service is shutting down', '57P01'),
  internal: permanent(500, 'Something went wrong inside the service', 'XX000'),
  pipes_unavailable: permanent(500, 'The embedded store cannot give results'),
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorDefinitions;

export interface AppErrorOptions {
  readonly cause?: unknown;
  /** Seconds, for retryable errors; the HTTP layer has a default. */
  readonly retryAfterSeconds?: number;
  /** Machine-readable facts about the occurrence, sent to the client as members of the problem. */
  readonly details?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

/** An error of the world outside, with a code from the registry. Bugs are plain `Error`s and end as `internal`. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly details: AppErrorOptions['details'];

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.details = options.details;
  }

  get definition(): ErrorDefinition {
    return errorDefinitions[this.code];
  }
}

/** The text of anything that was thrown. */
export const errorText = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);
