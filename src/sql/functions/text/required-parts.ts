import type { RegexToken } from './regex-syntax.ts';

/** Texts that every text contains which a pattern matches, in upper or lower case. */

/** @param pattern with a backslash as its escape character */
export function partsOfLikePattern(pattern: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    if (character === '%' || character === '_') {
      parts.push(part);
      part = '';
      continue;
    }
    if (character === '\\') index += 1;
    part += characters[index] ?? '';
  }
  return [...parts, part].filter((each) => each !== '');
}

/**
 * Characters outside of all groups that are not repeated, and stand side by side. Where case is ignored, the
 * engine also takes for alike what is no lower case of the other: `ſ` and `s`, and the sign for kelvin and
 * `k`. So these and what is not ASCII are no part of it there.
 */
export function partsOfRegex(tokens: readonly RegexToken[], ignoreCase: boolean): readonly string[] {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  const end = (): void => {
    parts.push(part);
    part = '';
  };
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind === 'or' && depth === 0) return [];
    if (kind === 'open') depth += 1;
    if (kind === 'close') depth -= 1;
    const isPlain = kind === 'character' && depth === 0 && tokens[index + 1]?.kind !== 'quantifier';
    const character = isPlain ? characterOf(text) : undefined;
    if (character === undefined || (ignoreCase && !hasOneLowerCase(character))) end();
    else part += character;
  }
  end();
  return parts.filter((each) => each !== '');
}

const hasOneLowerCase = (character: string): boolean => character < '\x80' && !'kKsS'.includes(character);

/** The character that a token stands for; undefined for line feeds and the like. */
function characterOf(text: string): string | undefined {
  if (!text.startsWith('\\')) return text;
  return /^\\[ntr]$/.test(text) ? undefined : text.slice(1);
}
