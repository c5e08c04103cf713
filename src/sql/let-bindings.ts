/** Values of an expression by names, in the store's SQL, so that the statement holds each of them once. */

/** @param body says the names where it needs the values */
export const letBindings = (names: readonly string[], values: readonly string[], body: string): string =>
  `arrayMap((${names.join(', ')}) -> ${body}, ${values.map((value) => `[${value}]`).join(', ')})[1]`;

/** A name costs the store more than repeating a column or a number. */
const maxRepeatedLength = 60;

/** What the clocks of a time zone show is longer: its changes are part of the statement. */
const maxManyTimesLength = 1000;

/**
 * The expression around a few values that it needs many times; if one of them is very long, all get names.
 */
export const bindLong = (values: readonly string[], body: (...shorts: string[]) => string): string =>
  values.some((value) => value.length > maxManyTimesLength) ? bindOnce(values, body) : body(...values);

/** The expression around values that it needs several times. If one of them is long, all get names. */
export function bindOnce(values: readonly string[], body: (...shorts: string[]) => string): string {
  if (values.every((value) => value.length <= maxRepeatedLength)) return body(...values);
  const names = values.map((_, index) => `d${index + 1}`);
  return letBindings(names, values, body(...names));
}
