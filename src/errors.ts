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
  /** What it means and what to do about it, in a sentence or two, for `docs/reference/errors.md`. */
  readonly description: string;
  /** SQLSTATE for clients that speak SQL. */
  readonly sqlState?: string;
  /** True when the same request may succeed later; the reply then carries `Retry-After`. */
  readonly retryable: boolean;
}

/** Builds definitions; the last argument is the SQLSTATE. */
const define =
  (isRetryable: boolean) =>
  (status: number, title: string, description: string, sqlState?: string): ErrorDefinition => ({
    status,
    title,
    description,
    retryable: isRetryable,
    ...(sqlState === undefined ? {} : { sqlState }),
  });
const permanent = define(false);
const retryable = define(true);

export const errorDefinitions = {
  // The request itself
  bad_request: permanent(
    400,
    'The request is malformed',
    'A part of the request is wrong, and no other code describes it. The detail names the part.',
  ),
  bad_header: permanent(400, 'A header is missing or malformed', 'The detail names the header.'),
  bad_framing: permanent(
    400,
    'The end of the request is ambiguous',
    'The headers contradict each other about the length of the body. The connection is closed, so that the rest cannot be taken for another request.',
  ),
  bad_encoding: permanent(
    400,
    'The body does not match its Content-Encoding',
    'It is damaged, or compressed in another way.',
  ),
  bad_json: permanent(400, 'The body is not valid JSON', 'The detail gives the position.'),
  bad_event: permanent(
    400,
    'An event cannot be stored',
    'A JSON event breaks a rule of its dataset, or is not an object. The detail gives its number; no event of the request is stored.',
  ),
  bad_protobuf: permanent(
    400,
    'The body is not a valid protobuf message',
    'It is damaged, or a message of another type.',
  ),
  bad_series: permanent(
    400,
    'A time series cannot be stored',
    'Remote write: labels, a timestamp or a histogram cannot be stored. Version 1.0: nothing of the request is stored. Version 2.0: the rest is stored, and the detail says what was refused.',
  ),
  bad_record: permanent(
    400,
    'A log record or span cannot be stored',
    'OTLP: a resource or scope that follows its records in the body cannot be stored. Nothing of the request is stored.',
  ),
  bad_dataset_name: permanent(
    400,
    'The dataset name is not allowed',
    'A name has 1 to 128 letters, digits, hyphens and underscores, and starts with a letter.',
  ),
  bad_time_range: permanent(
    400,
    'The time range is not valid',
    'A bound is not a time, or the start is after the end.',
  ),
  bad_retention: permanent(
    400,
    'The retention is not valid',
    'The body must be an array with at most one task, whose duration is a number of days, such as 30d.',
  ),
  bad_dataset_options: permanent(
    400,
    'The options of the dataset are not valid',
    'The detail names the header or field.',
  ),
  bad_limits: permanent(
    400,
    'The limits are not valid',
    'A limit has an unknown name, is out of range, or is wider than that of the tenant.',
  ),
  dataset_exists: permanent(
    400,
    'The dataset exists already',
    'A PUT only creates datasets. Choose another name, or delete the dataset first.',
  ),
  too_many_columns: permanent(
    400,
    'The events have too many different fields',
    'One request has more different fields than allowed. Send fewer events in one request, or fewer fields.',
  ),
  credentials_ambiguous: permanent(
    400,
    'More than one kind of credentials was sent',
    'Send either Authorization or X-API-Key.',
  ),
  tenant_not_supported: permanent(
    400,
    'The service has only one tenant',
    'Leave X-P-Tenant out, or set MILLRACE_MULTI_TENANT=true.',
  ),
  tenant_required: permanent(400, 'The tenant must be named', 'Name it in X-P-Tenant.'),
  bad_tenant_name: permanent(
    400,
    'The name of the tenant is not allowed',
    'A name has 1 to 64 letters, digits, hyphens and underscores, and starts with a letter.',
  ),
  bad_name: permanent(
    400,
    'The name is not allowed',
    'The name of a user, role or key is empty, too long, or has characters that are not allowed.',
  ),
  bad_alert: permanent(
    400,
    'The alert is not valid',
    'A member of the alert is missing or not allowed, or its query has no number to compare. The detail says which.',
  ),
  alert_result_too_large: permanent(
    400,
    'The result of the query is too large for an alert',
    'It has more rows, instances, labels or bytes than an alert may have. Group the rows, or add a LIMIT.',
  ),
  bad_role: permanent(
    400,
    'The role is not valid',
    'A privilege is not valid, or an identity would have too many privileges.',
  ),
  role_unknown: permanent(400, 'A role does not exist', 'Create the role first.'),
  login_failed: permanent(
    400,
    'The sign-in did not succeed',
    'The identity provider refused the sign-in, or its answer does not belong to this browser. Start again at /api/v1/o/login.',
  ),
  bad_backup_name: permanent(
    400,
    'The name of the backup is not allowed',
    'A name has 1 to 100 letters, digits, dots, hyphens and underscores, and starts with a letter or digit.',
  ),
  backup_exists: permanent(
    409,
    'There is such a backup already',
    'Choose another name, or remove the directory.',
  ),
  backup_running: permanent(409, 'A backup is under way', 'One runs at a time. Wait for its end.'),
  backup_not_found: permanent(
    404,
    'There is no such backup',
    'The directory is not there, or is not a whole backup: it has no backup.json.',
  ),
  backup_failed: permanent(500, 'The backup failed', 'The detail says why. Nothing of it is left.'),
  backup_unsupported: permanent(
    400,
    'This store is backed up by other means',
    'The data is in a ClickHouse server: use its BACKUP.',
  ),
  restore_refused: permanent(
    409,
    'The directory is not empty',
    'A backup is restored into an empty data directory, so that nothing is mixed or overwritten.',
  ),
  root_unchangeable: permanent(
    400,
    'The root administrator cannot be changed here',
    'The configuration sets the name and password of this administrator.',
  ),
  unauthenticated: permanent(
    401,
    'Valid credentials are needed',
    'The credentials are missing, wrong, expired, or belong to another tenant.',
    '28000',
  ),
  forbidden: permanent(
    403,
    'The credentials do not allow this',
    'The credentials are valid, but none of their roles has the privilege.',
    '42501',
  ),
  not_found: permanent(
    404,
    'There is nothing here',
    'No route has this path, or nothing has this name or id: no user, role, key or document that you may see.',
  ),
  dataset_not_found: permanent(404, 'The dataset does not exist', 'Check the name and the tenant.', '42P01'),
  tenant_not_found: permanent(404, 'The tenant does not exist', 'Check the name.', '3D000'),
  method_not_allowed: permanent(
    405,
    'The method is not allowed here',
    'The header Allow lists the methods of the route.',
  ),
  kind_conflict: permanent(
    409,
    'The dataset holds another kind of data',
    'One dataset holds events, metrics, logs or traces. Send this kind to another dataset.',
  ),
  identity_exists: permanent(
    409,
    'The name is taken',
    'A user, role or key of this name exists. Choose another name.',
  ),
  tenant_exists: permanent(
    409,
    'Another tenant has this name',
    'The names are equal, or differ only in upper and lower case.',
  ),
  tenant_unchangeable: permanent(
    409,
    'The default tenant cannot be changed',
    'The tenant "default" always exists.',
  ),
  too_many_tenants: permanent(409, 'There are too many tenants', 'Delete a tenant first.'),
  too_many_datasets: permanent(
    409,
    'The tenant has too many datasets',
    'Delete a dataset, or let the administrator raise maxDatasets of the tenant.',
  ),
  identity_changed: permanent(
    409,
    'Somebody else made a change at the same time',
    'Two administrators changed the same thing, and the other one was first. Read it again, then repeat your change.',
  ),
  role_in_use: permanent(
    409,
    'The role is in use',
    'Users or keys have this role; the detail names some. Remove it from them first.',
  ),
  too_many_identities: permanent(409, 'There are too many users, roles or keys', 'Delete one first.'),
  dead_letter_in_use: permanent(
    409,
    'The log still needs the dead letter',
    'A segment of the log still refers to the file. Start the service, let it finish, stop it, and repeat the command.',
  ),
  not_acceptable: permanent(
    406,
    'No acceptable format for the reply',
    'The header Accept or the parameter format allows no format that this route can produce. The member "supported" lists the formats of the route.',
  ),
  body_too_large: permanent(
    413,
    'The body is too large',
    'It exceeds MILLRACE_MAX_BODY_BYTES, as sent or decompressed, or holds more records than one request may. Send smaller batches.',
  ),
  event_too_large: permanent(
    413,
    'An event is too large',
    'It exceeds maxEventBytes, a limit of the dataset, the tenant or the service.',
  ),
  unsupported_media_type: permanent(
    415,
    'The Content-Type is not supported',
    'The detail lists the types that the route accepts.',
  ),
  unsupported_encoding: permanent(
    415,
    'The Content-Encoding is not supported',
    'The detail lists the encodings that the route accepts.',
  ),
  idempotency_key_reused: permanent(
    422,
    'The Idempotency-Key belongs to another request',
    'An earlier request had this key and a different body. Use a new key for a new request.',
  ),
  bad_target: permanent(
    400,
    'The target is not valid',
    'A member is missing, wrong, or not one of this type of target. The detail names it.',
  ),
  target_refused: permanent(
    400,
    'Nothing may be sent there',
    'The target leads to a private, local or other special address, to another host than that of its service, or mail to a domain that is not allowed. The operator can allow networks and domains.',
  ),
  target_in_use: permanent(
    409,
    'The target is in use',
    'An alert uses it; the detail names one. Remove the target there first.',
  ),
  target_policy_unchangeable: permanent(
    409,
    'The operator decides where notifications may go',
    'Tenants cannot change it: the operator sets MILLRACE_TARGET_ALLOWED_NETWORKS and MILLRACE_SMTP_DOMAINS.',
  ),
  target_unreachable: permanent(
    502,
    'The target did not answer',
    'Its name was not resolved, no connection was made, or there was no whole reply in time. A notification is tried again for a day.',
  ),
  target_status: permanent(
    502,
    'The target refused the notification',
    'It answered with a status that is no success. The record of a delivery shows it.',
  ),
  newer_delivery_waits: permanent(
    409,
    'A newer notification waits',
    'It goes to the same target and tells what this one did; there is no need to repeat this one.',
  ),
  bad_silence: permanent(
    400,
    'The silence is not valid',
    'A matcher or a time is missing or wrong. The detail says which.',
  ),
  revision_changed: permanent(
    412,
    'The document has changed',
    'The header If-Match names another revision than the current one. Read the document again, then repeat your change.',
  ),
  document_changed: retryable(
    503,
    'The document is being changed by others',
    'Others changed it at the same time, again and again. Nothing was stored. Send the request again.',
  ),
  document_too_large: permanent(
    413,
    'The document is too large',
    'A dashboard, filter, alert, target or silence has at most 256 KiB as JSON.',
  ),
  too_many_documents: permanent(
    409,
    'The tenant has too many documents',
    'There are too many dashboards, filters, alerts, targets or silences, or they are too large together. Delete some first.',
  ),
  rate_limited: retryable(
    429,
    'The rate limit is exceeded',
    'The tenant or dataset sends faster than its limit. Wait for Retry-After, then send again.',
    '53400',
  ),
  headers_too_large: permanent(
    431,
    'The headers are too large',
    'The request line and headers are longer than 32 KiB. The connection is closed.',
  ),

  // SQL
  sql_syntax: permanent(400, 'The query is not valid SQL', 'The detail gives line and column.', '42601'),
  sql_unsupported: permanent(
    400,
    'The query uses something that is not supported',
    'The detail names what Millrace does not support, with line and column.',
    '0A000',
  ),
  sql_parameter_count: permanent(
    400,
    'The number of parameters is wrong',
    'The query needs a value for each of $1 to $n, and no more.',
    '08P01',
  ),
  sql_parameter_type: permanent(
    400,
    'The type of a parameter cannot be determined',
    'The detail names the parameter, with line and column. A cast such as $1::int sets its type.',
    '42P08',
  ),
  sql_unknown_column: permanent(
    400,
    'A column does not exist',
    'The detail gives line and column, and names that are similar.',
    '42703',
  ),
  sql_unknown_relation: permanent(
    400,
    'A dataset in the query does not exist',
    'The dataset does not exist, or you may not read it. The reply is the same for both.',
    '42P01',
  ),
  sql_unknown_function: permanent(
    400,
    'A function does not exist or is not allowed',
    'No function has this name, or it does not take arguments of these types.',
    '42883',
  ),
  sql_ambiguous: permanent(
    400,
    'A name in the query is ambiguous',
    'Several relations have a column of this name. Qualify it: relation.column.',
    '42702',
  ),
  sql_grouping: permanent(
    400,
    'A column must be grouped or aggregated',
    'It is neither in GROUP BY nor inside an aggregate.',
    '42803',
  ),
  sql_cardinality: permanent(
    400,
    'A subquery returned more than one row',
    'A subquery in the place of a single value returned several rows. Add a condition or LIMIT 1.',
    '21000',
  ),
  sql_bad_reference: permanent(
    400,
    'A reference to an output column is not valid',
    'A position or name in ORDER BY, GROUP BY or DISTINCT ON is not in the select list.',
    '42P10',
  ),
  sql_window: permanent(
    400,
    'A window definition is not valid',
    'It changes a window that it refines, or its frame does not fit its order.',
    '42P20',
  ),
  sql_bad_frame: permanent(
    400,
    'The size of a window frame is not valid',
    'The offset of a frame is negative or NULL.',
    '22013',
  ),
  sql_recursion: permanent(
    400,
    'A recursive query is not valid',
    'It reads itself in a place, or as often, as SQL does not allow.',
    '42P19',
  ),
  sql_type: permanent(
    400,
    'The types in the query do not match',
    'An operator or function does not take values of these types. Add a cast.',
    '42804',
  ),
  sql_bad_value: permanent(
    400,
    'A value cannot be converted',
    'A text cannot be cast to the requested type.',
    '22P02',
  ),
  sql_invalid_parameter: permanent(
    400,
    'An argument is not allowed here',
    'A function or operator was given a value that it cannot be applied to, such as a JSON scalar of which a member is to be removed.',
    '22023',
  ),
  sql_array_subscript: permanent(
    400,
    'An array or a value has not as many elements as it must have',
    'A place lies outside of a value, or the arrays of names and values of json_object do not fit together.',
    '2202E',
  ),
  sql_null_not_allowed: permanent(
    400,
    'NULL is not allowed here',
    'A value that must not be NULL is, such as the key of a JSON object.',
    '22004',
  ),
  sql_bad_character: permanent(
    400,
    'Bytes are no text',
    'Bytes were to be taken for text, and are no UTF-8.',
    '22021',
  ),
  sql_division_by_zero: permanent(
    400,
    'Division by zero',
    'Use nullif(divisor, 0) to get NULL instead.',
    '22012',
  ),
  sql_out_of_range: permanent(
    400,
    'A value is out of range',
    'A result does not fit into its type, or an argument is outside its domain.',
    '22003',
  ),
  sql_bad_logarithm: permanent(
    400,
    'Logarithm of zero or a negative number',
    'The argument of ln or log is zero or negative.',
    '2201E',
  ),
  sql_bad_power: permanent(
    400,
    'The power or root is not a real number',
    'It is the root of a negative number, or zero to a negative power.',
    '2201F',
  ),
  sql_bad_regex: permanent(
    400,
    'A regular expression is not valid',
    'The pattern is malformed, uses look-around or back references, or repeats more than 255 times.',
    '2201B',
  ),
  sql_too_large: permanent(
    400,
    'The query text is too large',
    'The text, or what it expands to, exceeds a limit. The detail names the limit.',
    '54000',
  ),
  sql_too_complex: permanent(
    400,
    'The query is too complex',
    'Its translation takes more CPU time or memory than allowed. Use fewer columns, relations or expressions.',
    '54001',
  ),
  sql_failed: permanent(
    400,
    'The query cannot be run',
    'The store refused it for a reason without a code of its own. The log of the service has its message.',
  ),
  query_timeout: permanent(
    408,
    'The query ran longer than allowed',
    'It was stopped after MILLRACE_QUERY_TIMEOUT_MS. Narrow the time range, or aggregate.',
    '57014',
  ),
  query_memory: permanent(
    400,
    'The query needs more memory than allowed',
    'It was stopped at MILLRACE_QUERY_MAX_MEMORY_BYTES. Narrow the time range, or group by fewer values.',
    '53200',
  ),
  query_result_too_large: permanent(
    400,
    'The result is larger than allowed',
    'A result has at most 1,000,000 rows and 256 MiB. The detail says which limit it passed, and how large it was. Add LIMIT, aggregate, or export it with `export=true`.',
    '54000',
  ),
  queries_paused: retryable(
    429,
    'Queries are paused after one that did not stop',
    'The engine was restarted to end one of your queries. Retry-After says how long your queries are refused.',
    '53400',
  ),
  query_cancelled: permanent(
    499,
    'The client disconnected',
    'It closed the connection before the result was complete.',
    '57014',
  ),

  // The service
  overloaded: retryable(
    503,
    'The service is overloaded',
    'Too much work is in progress, in total or for your tenant. Nothing was stored. Wait for Retry-After, then send again.',
    '53300',
  ),
  log_full: retryable(
    503,
    'The write-ahead log is full',
    'The store does not keep up, or the disk is full. Nothing was stored; queries still work.',
    '53100',
  ),
  log_failed: retryable(
    503,
    'The write-ahead log cannot be written',
    'The disk refuses writes. The service tries again once a second.',
    '58030',
  ),
  store_unavailable: retryable(
    503,
    'The store does not answer',
    'Writes still work; queries do not.',
    '58000',
  ),
  oidc_unavailable: retryable(
    503,
    'The identity provider does not answer',
    'New tokens and sign-ins need it. Known sessions and tokens still work.',
    '58000',
  ),
  secret_changed: permanent(
    500,
    'The API key was encrypted with another secret',
    'MILLRACE_SECRET differs from the one that encrypted this key. Restore it, or delete the key and create a new one.',
  ),
  dataset_changed: retryable(
    503,
    'The dataset was created at the same time',
    'It was created while the request was in progress. Send the request again.',
  ),
  starting: retryable(
    503,
    'The service is starting',
    'It is still reading its tables. Liveness is already 200.',
    '57P03',
  ),
  shutting_down: retryable(
    503,
    'The service is shutting down',
    'Requests in progress are finished.',
    '57P01',
  ),
  internal: permanent(
    500,
    'Internal error',
    'This is a bug. The log of the service has the details.',
    'XX000',
  ),
  pipes_unavailable: permanent(
    500,
    'The embedded engine cannot return results',
    'It needs the command mkfifo, and a data directory on a file system that has named pipes.',
  ),
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorDefinitions;

export interface AppErrorOptions {
  readonly cause?: unknown;
  /** Seconds, for retryable errors; the HTTP layer has a default. */
  readonly retryAfterSeconds?: number;
  /** Machine-readable facts about the occurrence, sent to the client as members of the problem. */
  readonly details?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

/**
 * An error that is not a bug, with a code from the registry. Bugs are plain `Error`s and end as `internal`.
 */
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
