import { quoteString } from '../../lib/quote.ts';
import { sqlError, unsupported } from '../errors.ts';
import type { CallSite } from './definition.ts';

/**
 * What means the same in PostgreSQL's regular expressions (ARE) and in the engine's (RE2): literals, `.`,
 * anchors, groups, alternation, quantifiers, bracket expressions and class shorthands. The rest of ARE
 * (look-around, back references, `\m \M \y`, `***`, embedded options but `(?i)`) is refused.
 */
const commonRegex = (() => {
  const escapes = String.raw`\\[dwsDWSntr]|\\[^A-Za-z0-9]`;
  const inBrackets = String.raw`[^\]\\[]|\\[^A-Za-z0-9]|\\[dwsntr]|\[:[a-z]+:\]`;
  const atom = String.raw`[^\\[\](){}*+?|^$]|${escapes}|\[\^?\]?(?:${inBrackets})*\]`;
  const quantifier = String.raw`(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??`;
  return new RegExp(String.raw`^(?:(?:${atom}|\))(?:${quantifier})?|\(\?:|\((?!\?)|[|^$])*$`, 'u');
})();

const letters = String.raw`\p{L}\p{Nl}\x{24B6}-\x{24E9}`;
/** Of Unicode, without those at which no line is broken. */
const otherSpaces = String.raw`\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200A}\x{205F}\x{3000}`;
const spaces = String.raw`\s\x0B\x{2028}\x{2029}${otherSpaces}`;

/** Classes of characters, which the engine knows of ASCII alone, as what stands in brackets. */
const classes: Readonly<Record<string, string>> = {
  '\\w': String.raw`${letters}\p{Nd}_`,
  '\\s': spaces,
  '[:alpha:]': letters,
  '[:alnum:]': String.raw`${letters}\p{Nd}`,
  // Roman numerals and letters in circles have cases, too.
  '[:upper:]': String.raw`\p{Lu}\p{Lt}\x{2160}-\x{216F}\x{24B6}-\x{24CF}`,
  '[:lower:]': String.raw`\p{Ll}\x{AA}\x{BA}\x{2170}-\x{217F}\x{24D0}-\x{24E9}`,
  '[:space:]': spaces,
  '[:blank:]': `[:blank:]${otherSpaces}`,
  '[:punct:]': String.raw`[:punct:]\p{P}\p{S}`,
  '[:graph:]': String.raw`\p{L}\p{M}\p{N}\p{P}\p{S}`,
  '[:print:]': String.raw`\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}`,
};
const negated: Readonly<Record<string, string>> = { '\\W': '\\w', '\\S': '\\s' };

/** What stands in brackets or behind a backslash. */
const token = /\\.|\[\^?\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*\]/gsu;

/** Where case is ignored, PostgreSQL takes any letter for an upper and for a lower one. */
const anyCase = /^\[:(?:upper|lower):\]$/;

const ofUnicode = (pattern: string, ignoreCase: boolean): string =>
  pattern.replace(token, (found) => {
    if (found.startsWith('[')) {
      return found.replace(/\\.|\[:[a-z]+:\]/gsu, (part) =>
        ignoreCase && anyCase.test(part) ? letters : (classes[part] ?? part),
      );
    }
    const opposite = negated[found];
    if (opposite !== undefined) return `[^${classes[opposite]}]`;
    return Object.hasOwn(classes, found) ? `[${classes[found]}]` : found;
  });

/** Of texts without other characters: the classes that the engine has, but `\v` is a space. */
const ofAscii = (pattern: string): string =>
  pattern.replace(token, (found) => {
    if (found.startsWith('[')) return found.replace(/\\./gsu, (part) => (part === '\\s' ? '\\s\\x0B' : part));
    if (found === '\\s') return '[\\s\\x0B]';
    return found === '\\S' ? '[^\\s\\x0B]' : found;
  });

/**
 * The structure of a pattern: what stands in brackets or is a class is a point, a letter behind a backslash `_`, and an
 * option at the beginning is left out.
 */
export const outlineOf = (pattern: string): string =>
  pattern.replace('(?i)', '').replace(token, (found) => (/^\\[^A-Za-z0-9]$/.test(found) ? '_' : '.'));

/** The pattern as the engine writes it, and as it may for texts of ASCII alone. */
export interface EngineRegex {
  readonly unicode: string;
  readonly ascii: string;
}

/**
 * @param ignoreCase as the flag `i` or a `~*` says; `(?i)` in front of the pattern says so, too
 * @throws AppError `sql_unsupported` for what the engine would read otherwise, or not at all
 */
export function engineRegex(pattern: string, ignoreCase: boolean, site: CallSite): EngineRegex {
  const insensitive = pattern.startsWith('(?i)');
  const body = insensitive ? pattern.slice(4) : pattern;
  if (!commonRegex.test(body)) {
    throw sqlError(
      'sql_unsupported',
      `The regular expression ${JSON.stringify(pattern)} uses something that is not supported: look-around, back references, \\m \\M \\y, embedded options other than (?i)`,
      site.at,
    );
  }
  const anyOfCases = ignoreCase || insensitive;
  const option = anyOfCases ? '(?i)' : '';
  return { unicode: `${option}${ofUnicode(body, anyOfCases)}`, ascii: `${option}${ofAscii(body)}` };
}

/**
 * A call for which the classes of Unicode cost much more than asking whether a text needs them: `extract` of `\w+` takes
 * 156 ns of them and 33 of ASCII's, `replaceRegexpAll` of `\W+` 502 and 80 (ClickHouse 26.7, one thread).
 */
export const byAlphabet = (
  value: string,
  { unicode, ascii }: EngineRegex,
  call: (regex: string) => string,
): string =>
  unicode === ascii
    ? call(quoteString(unicode))
    : `if(isValidASCII(${value}), ${call(quoteString(ascii))}, ${call(quoteString(unicode))})`;

/**
 * A pattern for a function that asks what was matched, not only whether. PostgreSQL takes the longest match of all
 * from the leftmost place, the engine the first that its alternatives and quantifiers lead to. They are the same for
 * patterns without alternatives (but words of which none begins another) in which either all quantifiers are greedy
 * or none is, and in which a group that may be left out is followed by the end of the text.
 */
export function exactRegex(pattern: string, ignoreCase: boolean, site: CallSite): EngineRegex {
  const regex = engineRegex(pattern, ignoreCase, site);
  const plain = outlineOf(pattern);
  const words = plain.split('|');
  const isChoiceOfWords = words.every(
    (word, index) =>
      /^\w+$/.test(word) && words.every((other, place) => place === index || !other.startsWith(word)),
  );
  const hasLazy = /[*+?}]\?/.test(plain);
  const hasGreedy = /(?:[*+}]|(?<![*+?}(])\?)(?!\?)/.test(plain);
  const hasOptionalGroup = /\)[*+?{]/.test(plain) && !plain.endsWith('$');
  if ((words.length > 1 && !isChoiceOfWords) || (hasLazy && hasGreedy) || hasOptionalGroup) {
    throw unsupported(
      `${site.name} with the regular expression ${JSON.stringify(pattern)}, whose matches may differ from PostgreSQL's,`,
      site.at,
    );
  }
  return regex;
}

/** The number of groups that capture. */
export const groupCount = (pattern: string): number => outlineOf(pattern).match(/\((?!\?)/g)?.length ?? 0;

/** Whether a pattern that the engine takes matches a text without characters. */
export const canBeEmpty = (pattern: string): boolean => new RegExp(`^(?:${outlineOf(pattern)})$`).test('');
