/** Quoting for ClickHouse statements. */

/** A name in backticks. */
export const quoteIdentifier = (name: string): string =>
  `\`${name.replace(/[\\`]/g, (character) => `\\${character}`)}\``;

/** A string literal. ClickHouse reads backslash escapes, so the backslash is escaped too. */
export const quoteString = (text: string): string =>
  `'${text.replace(/[\\']/g, (character) => `\\${character}`)}'`;
