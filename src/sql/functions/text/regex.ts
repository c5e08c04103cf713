import { quoteString } from '../../../lib/quote.ts';
import { unsupported } from '../../sql-error.ts';
import type { CallSite } from '../definition.ts';
import { type RegexToken, readRegex } from './regex-syntax.ts';
import { partsOfRegex } from './required-parts.ts';

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

/** Where case is ignored, PostgreSQL takes any letter for an upper and for a lower one. */
const anyCase = /^\[:(?:upper|lower):\]$/;

/** What a class in brackets, or a class on its own, is made of. */
const bracketPart = /\\.|\[:[a-z]{1,20}:\]/gsu;

function ofUnicode({ kind, text }: RegexToken, ignoreCase: boolean): string {
  if (kind !== 'class') return text;
  if (text.startsWith('[')) {
    return text.replace(bracketPart, (part) =>
      ignoreCase && anyCase.test(part) ? letters : (classes[part] ?? part),
    );
  }
  const opposite = negated[text];
  if (opposite !== undefined) return `[^${classes[opposite]}]`;
  return Object.hasOwn(classes, text) ? `[${classes[text]}]` : text;
}

/** Of texts without other characters: the classes that the engine has, but `\v` is a space. */
function ofAscii({ kind, text }: RegexToken): string {
  if (kind !== 'class') return text;
  if (text.startsWith('[')) return text.replace(bracketPart, (part) => (part === '\\s' ? '\\s\\x0B' : part));
  if (text === '\\s') return '[\\s\\x0B]';
  return text === '\\S' ? '[^\\s\\x0B]' : text;
}

function outlineOf({ kind, text }: RegexToken): string {
  if (kind === 'class') return '.';
  if (kind !== 'character' || !text.startsWith('\\')) return text;
  return /^\\[ntr]$/.test(text) ? '.' : '_';
}

/**
 * Before it matches, the engine looks for what must be there by bytes: of a repeated character, it takes all
 * bytes but the last for such.
 */
const asWhole = (text: string, { kind }: RegexToken, next: RegexToken | undefined): string =>
  kind === 'character' && next?.kind === 'quantifier' && !/^[\0-\x7f]*$/.test(text) ? `(?:${text})` : text;

/** The pattern as the engine writes it, and as it may for texts of ASCII alone. */
export interface EngineRegex {
  readonly unicode: string;
  readonly ascii: string;
  /** The structure of the pattern: a class is a point, and a character behind a backslash `_`. */
  readonly outline: string;
  /** The number of groups that capture. */
  readonly groups: number;
  /** Whether it matches a text without characters. */
  readonly canBeEmpty: boolean;
  /** What every text contains that it matches, in upper or lower case. */
  readonly required: readonly string[];
}

/**
 * @param ignoreCase as the flag `i` or a `~*` says; `(?i)` in front of the pattern says so, too
 * @throws AppError `sql_bad_regex` for what is no regular expression, `sql_unsupported` for what the engine
 *   would read otherwise, or not at all, `sql_too_large` for what would take it too long
 */
export function engineRegex(pattern: string, ignoreCase: boolean, site: CallSite): EngineRegex {
  if (pattern.startsWith('***')) throw unsupported('A regular expression that begins with ***', site.at);
  const insensitive = pattern.startsWith('(?i)');
  const { tokens, groups, canBeEmpty } = readRegex(insensitive ? pattern.slice(4) : pattern, site);
  const anyOfCases = ignoreCase || insensitive;
  const option = anyOfCases ? '(?i)' : '';
  // The engine takes an empty pattern for none at all.
  const written = (write: (token: RegexToken) => string): string => tokens.map(write).join('');
  const forEngine = (write: (token: RegexToken) => string): string =>
    tokens.map((token, place) => asWhole(write(token), token, tokens[place + 1])).join('');
  const all = `${option}${tokens.length === 0 ? '(?:)' : ''}`;
  return {
    unicode: `${all}${forEngine((token) => ofUnicode(token, anyOfCases))}`,
    ascii: `${all}${forEngine(ofAscii)}`,
    outline: written(outlineOf),
    groups,
    canBeEmpty,
    required: partsOfRegex(tokens, anyOfCases),
  };
}

/**
 * A call for which the classes of Unicode cost much more than asking whether a text needs them:
 * `extract` of `\w+` takes 156 ns of them and 33 of ASCII's, `replaceRegexpAll` of `\W+` 502 and 80
 * (ClickHouse 26.7, one thread).
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
 * For a function that asks what was matched, not only whether. PostgreSQL takes the longest match of all from
 * the leftmost place, the engine the first that its alternatives and quantifiers lead to. They are the same
 * for patterns without alternatives (but words of which none begins another) in which either all quantifiers
 * are greedy or none is, and in which a group that may be left out is followed by the end of the text.
 */
export function checkExact({ outline }: EngineRegex, pattern: string, site: CallSite): void {
  const words = outline.split('|');
  const hasLazy = /[*+?}]\?/.test(outline);
  const hasGreedy = /(?:[*+}]|(?<![*+?}(])\?)(?!\?)/.test(outline);
  const hasOptionalGroup = /\)[*+?{]/.test(outline) && !outline.endsWith('$');
  if ((words.length > 1 && !isChoiceOfWords(words)) || (hasLazy && hasGreedy) || hasOptionalGroup) {
    throw unsupported(
      `${site.name} with the regular expression ${JSON.stringify(pattern)}, whose matches may differ from PostgreSQL's,`,
      site.at,
    );
  }
}

/** Words of which none begins another: in order, that would be the next one. */
function isChoiceOfWords(words: readonly string[]): boolean {
  if (!words.every((word) => /^\w+$/.test(word))) return false;
  const sorted = [...words].sort();
  return sorted.every((word, index) => sorted[index + 1]?.startsWith(word) !== true);
}
