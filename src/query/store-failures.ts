import { StoreError } from '../clickhouse/store-error.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import { outOfRangeInterval } from '../sql/syntax/literals.ts';
import { raised, raisedMessages } from '../sql/syntax/raise.ts';

/** Errors of ClickHouse that a query can cause, by number (its src/Common/ErrorCodes.cpp). */
const failures: ReadonlyMap<number, readonly [ErrorCode, string]> = new Map<
  number,
  readonly [ErrorCode, string]
>([
  ...each([raised.divisionByZero], 'sql_division_by_zero', 'division by zero'),
  // A text that is not a number, date or timestamp.
  ...each(
    [6, 26, 27, 32, 38, 41, 53, 72, 131, 457, 675],
    'sql_bad_value',
    'a value cannot be converted to the type asked for',
  ),
  ...each([427], 'sql_bad_value', 'a regular expression is not valid'),
  ...each([25], 'sql_bad_value', 'a LIKE pattern is not valid'),
  ...each([raised.outOfRange, 70, 321], 'sql_out_of_range', 'a value is out of range'),
  ...each([407], 'sql_out_of_range', 'a decimal is out of range: 76 digits can be computed with'),
  ...each([raised.badLogarithm], 'sql_bad_logarithm', 'cannot take logarithm of zero or a negative number'),
  ...each([raised.badPower], 'sql_bad_power', 'a power or root of these numbers is not a real number'),
  ...each(
    [raised.outOfYears],
    'sql_out_of_range',
    'a date or timestamp is out of range: the years 1900 to 2299 can be computed with',
  ),
  ...each([raised.longInterval], 'sql_out_of_range', outOfRangeInterval),
  ...each([raised.badJson], 'sql_bad_value', 'a JSON value is not what the function or type can take'),
  ...each(
    [raised.betweenBuckets],
    'sql_unsupported',
    'width_bucket of a number so near to the edge of a bucket that versions of PostgreSQL differ is not supported',
  ),
  ...each(
    [raised.lateInMonth],
    'sql_unsupported',
    'generate_series by months from a day after the 28th of its month is not supported',
  ),
  ...each(
    [raised.notIso],
    'sql_bad_value',
    'a text is no date or timestamp of ISO 8601, the only spelling that is read from values of columns',
  ),
  ...each(
    [raised.skippedTime],
    'sql_unsupported',
    'generate_series by days or months over a time that the clocks of the time zone skip is not supported',
  ),
  ...each([raised.badUnit], 'sql_bad_value', 'a unit of time is not recognized'),
  ...unsupportedValues([
    'rangeBesideNull',
    'rangeOfInfinity',
    'rangeOfManyDigits',
    'numberOfJson',
    'unlikeFormat',
    'largeFactorial',
    'numericInfinity',
    'smallNumeric',
    'longToChar',
  ]),
  ...each(
    [raised.deepJson],
    'sql_unsupported',
    `jsonb of JSON with more than ${limits.maxSqlJsonNesting} levels is not supported`,
  ),
  ...each(
    [raised.farExponent],
    'sql_unsupported',
    `jsonb of a number with an exponent beyond ${limits.maxSqlJsonExponent} is not supported`,
  ),
  ...each(
    [raised.zerosInJson],
    'sql_unsupported',
    'jsonb whose numbers end with zeros behind the point, as a key of GROUP BY, DISTINCT or UNION, is not supported',
  ),
  ...each([raised.unevenArrays], 'sql_array_subscript', 'the names and values of an object are not as many'),
  ...each([raised.badEncoding], 'sql_invalid_parameter', 'a text is not of the encoding asked for'),
  ...each([raised.badUtf8], 'sql_bad_character', 'bytes are no text in UTF-8'),
  ...each([raised.badSubscript], 'sql_array_subscript', 'a place is outside of the value'),
  ...each(
    [raised.escapedBytes],
    'sql_unsupported',
    'bytea of a text that is no literal and has a backslash, other than in front, is not supported',
  ),
  ...each(
    [raised.unreadNumber],
    'sql_unsupported',
    'to_number of a text that is not written as its format says is not supported',
  ),
  ...each(
    [raised.nullKey],
    'sql_null_not_allowed',
    'a key of a JSON object, a threshold or an identifier is NULL',
  ),
  ...each(
    [raised.longJsonNumber],
    'sql_unsupported',
    'JSON with a number beyond the range of bigint or double precision is not supported',
  ),
  ...each(
    [raised.jsonParameter],
    'sql_invalid_parameter',
    'the operation cannot be done on this kind of JSON, or at this place of it',
  ),
  ...each([215, 184], 'sql_grouping', 'a column must appear in GROUP BY or in an aggregate function'),
  ...each([125], 'sql_cardinality', 'more than one row returned by a subquery used as an expression'),
  ...each([1, 48, 344], 'sql_unsupported', 'an operation on values of these types is not supported'),
  ...each(
    [403],
    'sql_unsupported',
    'an outer join by a condition whose equalities stand within OR is not supported',
  ),
  // 80: functions of functions within each other, deeper than the engine takes.
  ...each([62, 80, 167, 168, 306], 'sql_too_large', 'the query is too complex'),
  ...each([159, 160, 209], 'query_timeout', 'the query ran longer than allowed'),
  ...each([241], 'query_memory', 'the query needs more memory than allowed'),
  ...each(
    [243],
    'query_memory',
    'the query needs more memory than allowed, and the disk has no room in its place',
  ),
  ...each([158, 191, 290, 307, 396], 'query_result_too_large', 'the result is larger than allowed'),
  ...each([394], 'query_cancelled', 'the query was cancelled'),
]);

function unsupportedValues(
  names: readonly (keyof typeof raised)[],
): readonly (readonly [number, readonly [ErrorCode, string]])[] {
  return names.flatMap((name) =>
    each([raised[name]], 'sql_unsupported', `${raisedMessages[name]} is not supported`),
  );
}

function each(
  numbers: readonly number[],
  code: ErrorCode,
  message: string,
): readonly (readonly [number, readonly [ErrorCode, string]])[] {
  return numbers.map((number) => [number, [code, message]]);
}

/** The message of ClickHouse about an exceeded result limit (its src/QueryPipeline/SizeLimits.cpp). */
const passedLimit =
  /max (rows|bytes): [\d.]{1,9}(?: [a-zA-Z]{1,9})?, current (?:rows|bytes): ([\d.]{1,9}(?: [a-zA-Z]{1,9})?)/;

/**
 * The error for a result that exceeds a limit. It says which limit, how large the result was so far, and what
 * the client can do.
 * @param sentBytes bytes of the result that were sent to the client
 */
export function resultTooLarge(
  failure: AppError,
  { maxResultRows, maxResultBytes }: { readonly maxResultRows: number; readonly maxResultBytes: number },
  sentBytes: number,
): AppError {
  const [, limit, current] =
    passedLimit.exec(failure.cause instanceof Error ? failure.cause.message : '') ?? [];
  const most = { rows: `${thousands(maxResultRows)} rows`, bytes: `${thousands(maxResultBytes)} bytes` };
  const passed = limit === 'rows' || limit === 'bytes' ? most[limit] : `${most.rows} or ${most.bytes}`;
  const had =
    current === undefined ? '' : `; it had ${current}${limit === 'rows' ? ' rows' : ''} when it was stopped`;
  const message = `the result has more than ${passed}${had}, and ${thousands(sentBytes)} bytes of it were made. Add LIMIT, aggregate, or export it with ?export=true, which needs the privilege exporter`;
  return new AppError(failure.code, message, {
    cause: failure.cause,
    details: {
      ...(limit === undefined ? {} : { limit }),
      maxRows: maxResultRows,
      maxBytes: maxResultBytes,
      sentBytes,
    },
  });
}

const thousands = (count: number): string => count.toLocaleString('en-US');

/** Its errors that say no more than that something is not supported. */
const unnamed: ReadonlySet<number> = new Set([1, 48, 344, 403]);

/** What the store's messages speak of when it does not support something that was not seen before. */
const features: readonly (readonly [pattern: RegExp, feature: string])[] = [
  [/recursive CTE/i, 'WITH RECURSIVE of this form'],
  [/correlated/i, 'a correlated subquery in this place'],
  [/window frame/i, 'this frame of a window'],
  [/decimal/i, 'arithmetic of numerics with these numbers of digits'],
];

/**
 * The error that a client gets for an error of the store. The message of ClickHouse stays in `cause` and is
 * not sent: it contains physical names and data.
 */
export function queryFailure(thrown: unknown): unknown {
  if (!(thrown instanceof StoreError)) return thrown;
  const { clickHouseCode } = thrown;
  const [code, message] = (clickHouseCode === undefined ? undefined : failures.get(clickHouseCode)) ?? [];
  if (code === 'sql_unsupported' && unnamed.has(clickHouseCode ?? 0)) {
    const feature = features.find(([pattern]) => pattern.test(thrown.message));
    return new AppError(code, feature === undefined ? (message ?? '') : `${feature[1]} is not supported`, {
      cause: thrown,
    });
  }
  if (code !== undefined && message !== undefined) return new AppError(code, message, { cause: thrown });
  return thrown.retryable
    ? new AppError('store_unavailable', 'the store does not answer', { cause: thrown })
    : new AppError('sql_failed', `the store cannot run this query (its error ${clickHouseCode})`, {
        cause: thrown,
      });
}
