import { quoteString } from '../../../lib/quote.ts';
import { limits } from '../../../limits/limits.ts';
import { checkTextLength } from '../../budget.ts';
import { apply } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { bool, text } from '../../types.ts';
import { argument, type CallSite, checkCount, constantText } from '../definition.ts';
import { engineRegex } from './regex.ts';

/**
 * Patterns of SQL (`SIMILAR TO`), which PostgreSQL makes regular expressions of: `similar_escape_internal` in
 * src/backend/utils/adt/regexp.c.
 */
interface SqlPattern {
  /** Of the whole text, without its ends. */
  readonly parts: readonly string[];
  /** True if it has alternatives, groups or repetitions. */
  readonly varies: boolean;
}

/** @returns the pattern as regular expressions, one for each part between escaped double quotes */
function readSqlPattern(pattern: string, escapeCharacter: string, site: CallSite): SqlPattern {
  if ([...escapeCharacter].length > 1) {
    throw sqlError('sql_bad_value', 'invalid escape string: it must be empty or one character', site.at);
  }
  checkTextLength(pattern, limits.maxSqlPatternLength, 'A pattern of SIMILAR TO', site.at);
  const parts = [''];
  const add = (regex: string): void => {
    parts[parts.length - 1] += regex;
  };
  let escaped = false;
  let inClass = false;
  let varies = false;
  for (const character of pattern) {
    if (escaped) {
      if (character === '"' && !inClass) parts.push('');
      else add(`\\${character}`);
      escaped = false;
    } else if (character === escapeCharacter) {
      escaped = true;
    } else if (inClass) {
      add(character === '\\' ? '\\\\' : character);
      if (character === ']') inClass = false;
    } else {
      inClass = character === '[';
      varies ||= '|*+?{}()'.includes(character);
      add(replacements.get(character) ?? character);
    }
  }
  return { parts, varies };
}

const replacements: ReadonlyMap<string, string> = new Map([
  ['%', '.*'],
  ['_', '.'],
  ['(', '(?:'],
  ['\\', '\\\\'],
  ['.', '\\.'],
  ['^', '\\^'],
  ['$', '\\$'],
]);

const patternAndEscape = (pattern: Expr | undefined, escapeCharacter: Expr | undefined, site: CallSite) => ({
  pattern: constantText(pattern, 'the pattern', site),
  escapeCharacter:
    escapeCharacter === undefined ? '\\' : constantText(escapeCharacter, 'the escape character', site),
});

/** `x SIMILAR TO pattern ESCAPE escape` */
export function similarTo(value: Expr, args: readonly Expr[], site: CallSite): Expr {
  const { pattern, escapeCharacter } = patternAndEscape(args[0], args[1], site);
  const { parts } = readSqlPattern(pattern, escapeCharacter, site);
  if (parts.length > 1) throw unsupported('SIMILAR TO a pattern with escaped double quotes', site.at);
  const regex = engineRegex(`^(?:${parts.join('')})$`, false, site).unicode;
  const subject = coerce(value, text, site.at);
  return apply(`match ${regex}`, bool, (a) => `match(${a}, ${quoteString(regex)})`, subject);
}

/**
 * `substring (x SIMILAR pattern ESCAPE escape)`: what the part between the escaped double quotes matches,
 * where the part before it matches as little as it can. The engine finds the same for parts in which nothing
 * but `%` varies in length.
 */
export function substringSimilar(args: readonly Expr[], site: CallSite): Expr {
  checkCount(args, 2, 3, site);
  const { pattern, escapeCharacter } = patternAndEscape(args[1], args[2], site);
  const { parts, varies } = readSqlPattern(pattern, escapeCharacter, site);
  if (parts.length > 3) {
    throw sqlError(
      'sql_bad_value',
      'SQL regular expression may not contain more than two escape-double-quote separators',
      site.at,
    );
  }
  if (varies) {
    throw unsupported('substring by a pattern of SQL with alternatives, groups or repetitions', site.at);
  }
  const [before = '', inside = '', after = ''] = parts;
  const regex =
    parts.length === 1 ? `^(${before})$` : `^(?:${before.replaceAll('.*', '.*?')})(${inside})(?:${after})$`;
  const { unicode } = engineRegex(regex, false, site);
  const quoted = quoteString(unicode);
  return apply(
    `substring similar ${unicode}`,
    text,
    (a) => `if(match(${a}, ${quoted}), extract(${a}, ${quoted}), NULL)`,
    coerce(argument(args, 0), text, site.at),
  );
}
