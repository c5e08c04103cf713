import { RE2JS, RE2JSException } from 're2js';
import { sqlError } from '../sql-error.ts';
import { catalogError } from './catalog-error.ts';

/**
 * Regular expressions and LIKE patterns of clients, which are matched here and not in the store. RE2 takes
 * time linear in the text for each of them; JavaScript's own take exponential time for some.
 */

/**
 * @param flags as PostgreSQL's functions take them; `i` ignores case
 * @throws AppError `sql_bad_regex`
 */
export function regularExpression(pattern: string, flags: string): RE2JS {
  // As in PostgreSQL, a dot is a line feed, too.
  const options = RE2JS.DOTALL | (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0);
  try {
    return RE2JS.compile(pattern, options);
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    throw sqlError('sql_bad_regex', `invalid regular expression: ${thrown.message}`);
  }
}

/**
 * A pattern of LIKE, which is about the whole text.
 * @param escapeLetter one letter, or nothing
 * @returns undefined for one that ends with its escape letter, and matches nothing
 * @throws AppError `sql_bad_value`
 */
export function likePattern(pattern: string, escapeLetter: string, flags: string): RE2JS | undefined {
  if ([...escapeLetter].length > 1)
    throw catalogError('invalid_escape_sequence', 'invalid escapeLetter string');
  let source = '';
  let isEscaped = false;
  for (const letter of pattern) {
    if (!isEscaped && letter === escapeLetter) isEscaped = true;
    else {
      source += isEscaped
        ? RE2JS.quote(letter)
        : letter === '%'
          ? '.*'
          : letter === '_'
            ? '.'
            : RE2JS.quote(letter);
      isEscaped = false;
    }
  }
  return isEscaped ? undefined : regularExpression(`^${source}$`, flags);
}

export const isFound = (pattern: RE2JS, text: string): boolean => pattern.matcher(text).find();
