import { quoteString } from '../../../lib/quote.ts';
import { limits } from '../../../limits/limits.ts';
import { lowerCase } from '../../../model/text-search.ts';
import { checkTextLength } from '../../budget.ts';
import { apply, isNull, literal, not } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr, Renderer } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { bool, text } from '../../types.ts';
import { type CallSite, constantOf, constantText } from '../definition.ts';
import { engineRegex } from './regex.ts';
import { partsOfLikePattern } from './required-parts.ts';

/** `LIKE`, `ILIKE` and the `~` family, under PostgreSQL's names for their operators. */
export function matchPattern(
  operator: string,
  subject: Expr,
  pattern: Expr,
  escapeCharacter: Expr | undefined,
  site: CallSite,
): Expr {
  const negated = operator.startsWith('!');
  const name = negated ? operator.slice(1) : operator;
  const ignoreCase = name.endsWith('*');
  const subjectText = coerce(subject, text, site.at);
  const match = name.startsWith('~~')
    ? like(subjectText, pattern, escapeCharacter, ignoreCase, site)
    : regexMatch(subjectText, pattern, ignoreCase, site);
  return negated ? not(match) : match;
}

function like(
  subject: Expr,
  pattern: Expr,
  escapeCharacter: Expr | undefined,
  ignoreCase: boolean,
  site: CallSite,
): Expr {
  const patternText = coerce(constantOf(pattern, text), text, site.at);
  const [operator, render] = ignoreCase ? ['ILIKE', anyCase] : ['LIKE', sameCase];
  if (patternText.kind === 'literal' && typeof patternText.value === 'string') {
    const character =
      escapeCharacter === undefined ? '\\' : constantText(escapeCharacter, 'the escape character', site);
    const value = engineLikePattern(patternText.value, character, site);
    const match = apply(operator, bool, render, subject, { ...patternText, value });
    return { ...match, contains: partsOfLikePattern(value) };
  }
  if (escapeCharacter !== undefined) {
    const character = constantText(escapeCharacter, 'the escape character', site);
    return likeEscaped(subject, patternText, character, [operator, render], site);
  }
  return apply(
    operator,
    bool,
    (a, b) => render(a, `replaceRegexpAll(${b}, ${unescapeOthers}, '\\\\1\\\\2')`),
    subject,
    patternText,
  );
}

/** A pattern that differs by row, with an escape character of its own. */
function likeEscaped(
  subject: Expr,
  pattern: Expr,
  character: string,
  [operator, render]: readonly [string, Renderer],
  site: CallSite,
): Expr {
  if ([...character].length > 1) {
    throw sqlError('sql_bad_value', 'invalid escape string: it must be empty or one character', site.at);
  }
  if (character === '\\') throw unsupported('ESCAPE of a backslash with a pattern of a column', site.at);
  const mark = `'\\xFF'`;
  const engine = (b: string): string => {
    const escaped = quoteString(`(?s)${character.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')}(.)`);
    // What is escaped is marked with a byte that no text has, which is a backslash where one is needed.
    const marked = character === '' ? b : `replaceRegexpAll(${b}, ${escaped}, concat(${mark}, '\\\\1'))`;
    const backslashes = `replaceAll(${marked}, '\\\\', '\\\\\\\\')`;
    const wildcards = ['%', '_'].reduce(
      (sql, each) => `replaceAll(${sql}, concat(${mark}, '${each}'), '\\\\${each}')`,
      backslashes,
    );
    return `replaceAll(${wildcards}, ${mark}, '')`;
  };
  return apply(`${operator} escape ${character}`, bool, (a, b) => render(a, engine(b)), subject, pattern);
}

const sameCase: Renderer = (a, b) => `(${a} LIKE ${b})`;

/**
 * PostgreSQL compares both in lower case. The engine's own `ILIKE` takes more for alike, as all three of σ, ς
 * and Σ, and is hardly faster: 797 ms for 5 million lines of 120 bytes with `%error%`, this 846 (one thread
 * of ClickHouse 26.7).
 */
const anyCase: Renderer = (a, b) => sameCase(lowerCase(a), lowerCase(b));

/** In PostgreSQL the escape character makes any character literal; in the engine only `%`, `_` and itself. */
const unescapeOthers = quoteString('\\\\([^%_\\\\])|(\\\\[%_\\\\])');

/** The pattern with the engine's escape character, a backslash. */
function engineLikePattern(pattern: string, escapeCharacter: string, site: CallSite): string {
  if ([...escapeCharacter].length > 1) {
    throw sqlError('sql_bad_value', 'invalid escape string: it must be empty or one character', site.at);
  }
  checkTextLength(pattern, limits.maxSqlPatternLength, 'A pattern of LIKE', site.at);
  let result = '';
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    if (character !== escapeCharacter) {
      result += character === '\\' ? '\\\\' : character;
      continue;
    }
    index += 1;
    const escaped = characters[index];
    if (escaped === undefined) {
      throw sqlError('sql_bad_value', 'LIKE pattern must not end with escape character', site.at);
    }
    result += '%_\\'.includes(escaped) ? `\\${escaped}` : escaped;
  }
  return result;
}

function regexMatch(subject: Expr, pattern: Expr, ignoreCase: boolean, site: CallSite): Expr {
  if (isNull(subject) || isNull(pattern)) return literal(bool, null);
  const written = constantText(pattern, 'a regular expression', site);
  const { unicode: regex, required } = engineRegex(written, ignoreCase, site);
  const match = apply(`match ${regex}`, bool, (a) => `match(${a}, ${quoteString(regex)})`, subject);
  return { ...match, contains: required };
}
