import { quoteString } from '../../../lib/quote.ts';

/** Strings as PostgreSQL writes them in JSON (escape_json in src/backend/utils/adt/json.c). */
const escapes: readonly (readonly [string, string])[] = [
  [quoteString('\\'), quoteString('\\\\')],
  [quoteString('"'), quoteString('\\"')],
  // The store's SQL has the same letters for these.
  ...['n', 'r', 't', 'b', 'f'].map((letter) => [`'\\${letter}'`, `'\\\\${letter}'`] as const),
];

/** Control characters that have no letter. */
const controls = quoteString('[\\x00-\\x07\\x0b\\x0e-\\x1f]');

/** A string of JSON. */
export const jsonString = (value: string): string => {
  const escaped = escapes.reduce((sql, [from, to]) => `replaceAll(${sql}, ${from}, ${to})`, value);
  const byNumber = `if(match(c, ${controls}), concat('\\\\u00', lower(hex(c))), c)`;
  const each = `arrayStringConcat(arrayMap(c -> ${byNumber}, extractAll(${escaped}, '(?s).')))`;
  return `concat('"', if(match(${value}, ${controls}), ${each}, ${escaped}), '"')`;
};
