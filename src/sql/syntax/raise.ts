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
  badJson: 30_004,
  betweenBuckets: 30_005,
  lateInMonth: 30_006,
  notIso: 30_020,
  skippedTime: 30_007,
} as const;

type Raised = keyof typeof raised;

const messages: Readonly<Record<Raised, string>> = {
  outOfRange: 'value out of range',
  divisionByZero: 'division by zero',
  badLogarithm: 'cannot take logarithm of zero or a negative number',
  badPower: 'no power or root that is a real number',
  outOfYears: 'years out of range',
  badJson: 'JSON of another kind',
  betweenBuckets: 'between two buckets',
  notIso: 'no timestamp of ISO 8601',
  lateInMonth: 'a series of months that begins after the 28th',
  skippedTime: 'a series over a time that the clocks of the time zone skip',
};

/** The number 0, if the condition is false or NULL; the engine computes nothing else in its place. */
export const raiseIf = (condition: string, error: Raised): string =>
  `throwIf(ifNull(${condition}, false), '${messages[error]}', toInt16(${raised[error]}))`;
