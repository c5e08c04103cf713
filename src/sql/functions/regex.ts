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

/** The pattern as the engine writes it. */
export function engineRegex(pattern: string, ignoreCase: boolean, site: CallSite): string {
  const insensitive = pattern.startsWith('(?i)');
  const body = insensitive ? pattern.slice(4) : pattern;
  if (!commonRegex.test(body)) {
    throw sqlError(
      'sql_unsupported',
      `The regular expression ${JSON.stringify(pattern)} uses something that is not supported: look-around, back references, \\m \\M \\y, embedded options other than (?i)`,
      site.at,
    );
  }
  return ignoreCase || insensitive ? `(?i)${body}` : body;
}

/**
 * A pattern for a function that asks what was matched, not only whether. PostgreSQL takes the longest match of all
 * from the leftmost place, the engine the first that its alternatives and quantifiers lead to. They are the same for
 * patterns without alternatives (but words of which none begins another) in which either all quantifiers are greedy
 * or none is, and in which a group that may be left out is followed by the end of the text.
 */
export function exactRegex(pattern: string, ignoreCase: boolean, site: CallSite): string {
  const regex = engineRegex(pattern, ignoreCase, site);
  const plain = regex.replace(/\\./g, 'x').replace(/\[\^?\]?[^\]]*\]/g, 'x');
  const words = plain.replace('(?i)', '').split('|');
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
export const groupCount = (pattern: string): number =>
  pattern
    .replace(/\\./g, '')
    .replace(/\[\^?\]?[^\]]*\]/g, '')
    .match(/\((?!\?)/g)?.length ?? 0;
