/**
 * Errors that a query raises by itself while it runs, in the store's SQL. The numbers are how they are
 * known again (`store-failures.ts` of the query service): the engine's own where it has one, else numbers
 * that it does not use.
 */
export const raised = {
  /** ARGUMENT_OUT_OF_BOUND (src/Common/ErrorCodes.cpp). */
  outOfRange: 69,
  /** ILLEGAL_DIVISION */
  divisionByZero: 153,
  badLogarithm: 30_001,
  badPower: 30_002,
  outOfYears: 30_003,
  longInterval: 30_009,
  smallNumeric: 30_010,
  badJson: 30_004,
  betweenBuckets: 30_005,
  lateInMonth: 30_006,
  notIso: 30_020,
  skippedTime: 30_007,
  badUnit: 30_008,
  // What is not supported for some values alone, which are known when the query runs.
  rangeBesideNull: 30_101,
  rangeOfInfinity: 30_102,
  rangeOfManyDigits: 30_103,
  numberOfJson: 30_105,
  unlikeFormat: 30_106,
  largeFactorial: 30_107,
  numericInfinity: 30_108,
  longToChar: 30_109,
  deepJson: 30_030,
  farExponent: 30_031,
  jsonParameter: 30_032,
  longJsonNumber: 30_033,
  zerosInJson: 30_034,
  unevenArrays: 30_035,
  nullKey: 30_036,
  badEncoding: 30_037,
  badUtf8: 30_038,
  badSubscript: 30_039,
  escapedBytes: 30_040,
  unreadNumber: 30_041,
} as const;

type Raised = keyof typeof raised;

export const raisedMessages: Readonly<Record<Raised, string>> = {
  outOfRange: 'value out of range',
  divisionByZero: 'division by zero',
  badLogarithm: 'cannot take logarithm of zero or a negative number',
  badPower: 'no power or root that is a real number',
  outOfYears: 'years out of range',
  longInterval: 'interval out of range',
  smallNumeric: 'a numeric of a double with more than 25 digits behind the point',
  badJson: 'JSON of another kind',
  betweenBuckets: 'between two buckets',
  notIso: 'no timestamp of ISO 8601',
  lateInMonth: 'a series of months that begins after the 28th',
  skippedTime: 'a series over a time that the clocks of the time zone skip',
  badUnit: 'no unit of time',
  rangeBesideNull: 'a RANGE frame beside a row whose key is NULL',
  rangeOfInfinity: 'a RANGE frame with an offset by an infinity or NaN',
  rangeOfManyDigits: 'a RANGE frame with an offset by a number of more than 15 digits',
  numberOfJson: 'a number below 1e-6 or from 1e21 on in jsonb',
  unlikeFormat: 'to_date or to_timestamp of a text that is not written like its format',
  largeFactorial: 'a factorial of more than 56',
  numericInfinity: 'a numeric of an infinity or NaN',
  longToChar: 'to_char of a double with more than 15 digits',
  deepJson: 'JSON of too many levels',
  farExponent: 'a number with a far exponent in JSON',
  jsonParameter: 'JSON that the operation cannot change',
  unevenArrays: 'arrays of different lengths',
  badEncoding: 'a text in another encoding',
  badUtf8: 'bytes that are no UTF-8',
  badSubscript: 'a place outside of the value',
  escapedBytes: 'bytes written with a backslash',
  unreadNumber: 'a number written in another way than its format',
  nullKey: 'a key that is NULL',
  zerosInJson: 'a number in jsonb that ends with zeros',
  longJsonNumber: 'a number in JSON beyond bigint or double precision',
};

/** The number 0, if the condition is false or NULL; the engine computes nothing else in its place. */
export const raiseIf = (condition: string, error: Raised): string =>
  `throwIf(ifNull(${condition}, false), '${raisedMessages[error]}', toInt16(${raised[error]}))`;
