import { quoteString } from '../../../lib/quote.ts';
import { limits } from '../../../limits/limits.ts';
import { apply, isNull, literal } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { arrayOf, bool, int4, type SqlType, text } from '../../types.ts';
import {
  argument,
  type CallSite,
  checkCount,
  constantInteger,
  constantText,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';
import { byAlphabet, checkExact, type EngineRegex, engineRegex } from './regex.ts';

/** The flags of a call, which may have none: `i`, and `g` where it has a meaning. */
function flagsOf(given: Expr | undefined, allowed: string, site: CallSite): ReadonlySet<string> {
  const written = given === undefined ? '' : constantText(given, 'the flags', site, { sample: '' });
  const unknown = [...written].find((flag) => !allowed.includes(flag));
  if (unknown !== undefined) throw unsupported(`${site.name} with the flag ${unknown}`, site.at);
  return new Set(written);
}

/** The regular expression of a call, which is its second argument. */
const patternOf = (args: readonly Expr[], site: CallSite): string =>
  constantText(args[1], 'the regular expression', site);

/** The engine's form of a replacement: `\\1` and `\\\\` are the same in both, `\\&` is `\\0`. */
function replacementOf(written: string, groups: number, site: CallSite): string {
  return written.replace(/\\(.?)/gs, (whole, next: string) => {
    if (next === '&') return '\\0';
    if (next === '\\' || (/^[1-9]$/.test(next) && Number(next) <= groups)) return whole;
    throw unsupported(`A replacement with ${JSON.stringify(whole)}`, site.at);
  });
}

function exactRegex(pattern: string, ignoreCase: boolean, site: CallSite): EngineRegex {
  const regex = engineRegex(pattern, ignoreCase, site);
  checkExact(regex, pattern, site);
  return regex;
}

/** Matches at the begin of a text alone. */
const matchesOnce = ({ outline }: EngineRegex): boolean => outline.startsWith('^') && !outline.includes('|');
/** Reaches the end of a text; what it matches there once more is empty. */
const endsAtEnd = ({ outline }: EngineRegex): boolean => outline.endsWith('$') && !outline.includes('|');

/**
 * Empty matches are counted by characters in PostgreSQL, and by bytes or not at all in the engine.
 */
function refuseEmpty({ canBeEmpty }: EngineRegex, site: CallSite): void {
  if (canBeEmpty)
    throw unsupported(`${site.name} of all matches of a pattern that matches the empty text`, site.at);
}

/** Of a text that is NULL, the pattern is not even looked at. */
const orNull =
  (type: SqlType, form: SpecialForm): SpecialForm =>
  (args, site) =>
    isNull(args[0]) || isNull(args[1]) ? literal(type, null) : form(args, site);

const replace: SpecialForm = (args, site) => {
  checkCount(args, 3, 4, site);
  const flags = flagsOf(args[3], 'gi', site);
  const pattern = patternOf(args, site);
  const regex = exactRegex(pattern, flags.has('i'), site);
  const to = replacementOf(constantText(args[2], 'the replacement', site), regex.groups, site);
  const isOnce = !flags.has('g') || matchesOnce(regex) || (to === '' && endsAtEnd(regex));
  if (!isOnce) refuseEmpty(regex, site);
  const render = isOnce ? 'replaceRegexpOne' : 'replaceRegexpAll';
  return apply(
    `${render} ${regex.unicode} ${to}`,
    text,
    (a) => byAlphabet(a, regex, (from) => `${render}(${a}, ${from}, ${quoteString(to)})`),
    coerce(argument(args, 0), text, site.at),
  );
};

/** The engine has no NULL for a group that took no part in the match. */
function checkGroups({ outline }: EngineRegex, site: CallSite): void {
  if (/\)(?:[*?]|\{0)/.test(outline)) {
    throw unsupported(`${site.name} with a group that may be left out`, site.at);
  }
}

/** A regular expression of which its groups are asked for, quoted. */
function regexOfGroups(pattern: string, ignoreCase: boolean, site: CallSite) {
  const found = engineRegex(pattern, ignoreCase, site);
  checkGroups(found, site);
  checkExact(found, pattern, site);
  return { ...found, regex: quoteString(found.unicode) };
}

/** The groups of the first match, or all of it where there are no groups; NULL without a match. */
const match: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const flags = flagsOf(args[2], 'i', site);
  const pattern = patternOf(args, site);
  const { regex, groups } = regexOfGroups(pattern, flags.has('i'), site);
  const found = (a: string): string =>
    groups === 0 ? `[extract(${a}, ${regex})]` : `extractGroups(${a}, ${regex})`;
  return apply(
    `regexp_match ${regex}`,
    arrayOf(text),
    (a) => `if(ifNull(match(${a}, ${regex}), false), [${found(`ifNull(${a}, '')`)}], [])`,
    coerce(argument(args, 0), text, site.at),
  );
};

/** A row for the first match, or with `g` for each: its groups, or all of it where there are no groups. */
const matches: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const flags = flagsOf(args[2], 'gi', site);
  const pattern = patternOf(args, site);
  const { regex, groups, canBeEmpty } = regexOfGroups(pattern, flags.has('i'), site);
  if (canBeEmpty) throw unsupported(`${site.name} of what may be empty`, site.at);
  const all = (a: string): string =>
    groups === 0 ? `arrayMap(m -> [m], extractAll(${a}, ${regex}))` : `extractAllGroups(${a}, ${regex})`;
  const rows = (a: string): string => (flags.has('g') ? all(a) : `arraySlice(${all(a)}, 1, 1)`);
  return apply(
    `regexp_matches ${flags.has('g')} ${regex}`,
    arrayOf(arrayOf(text)),
    // An array within a row is kept inside an outer one, as everywhere.
    (a) => `[arrayMap(m -> [m], ${rows(`ifNull(${a}, '')`)})]`,
    coerce(argument(args, 0), text, site.at),
  );
};

/** `substring (s from 'pattern')`: the first group, or all of the match. */
export const substringByRegex: SpecialForm = (args, site) => {
  const pattern = patternOf(args, site);
  const regex = engineRegex(pattern, false, site);
  checkGroups(regex, site);
  checkExact(regex, pattern, site);
  return apply(
    `substring from ${regex.unicode}`,
    text,
    (a) => byAlphabet(a, regex, (found) => `if(match(${a}, ${found}), extract(${a}, ${found}), NULL)`),
    coerce(argument(args, 0), text, site.at),
  );
};

const like: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const flags = flagsOf(args[2], 'i', site);
  const pattern = patternOf(args, site);
  const regex = engineRegex(pattern, flags.has('i'), site).unicode;
  const value = coerce(argument(args, 0), text, site.at);
  return apply(`match ${regex}`, bool, (a) => `match(${a}, ${quoteString(regex)})`, value);
};

const count: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const pattern = patternOf(args, site);
  const found = exactRegex(pattern, false, site);
  const { unicode: regex, groups } = found;
  if (groups > 0) throw unsupported('regexp_count with groups', site.at);
  const value = coerce(argument(args, 0), text, site.at);
  if (matchesOnce(found)) {
    return apply(`regexp_once ${regex}`, int4, (a) => `toInt32(match(${a}, ${quoteString(regex)}))`, value);
  }
  refuseEmpty(found, site);
  return apply(
    `regexp_count ${regex}`,
    int4,
    (a) => `toInt32(countMatches(${a}, ${quoteString(regex)}))`,
    value,
  );
};

/** The number of the match, of a search that begins at the first character. */
function matchNumber(args: readonly Expr[], site: CallSite): number {
  const start = args[2] === undefined ? 1 : constantInteger(args[2], 'the start', site);
  const number = args[3] === undefined ? 1 : constantInteger(args[3], 'the number of the match', site);
  if (start < 1 || number < 1) {
    throw sqlError('sql_invalid_parameter', `${site.name}: start and number are positive`, site.at);
  }
  if (start > 1) throw unsupported(`${site.name} with a start behind the first character`, site.at);
  if (number > limits.maxSqlRegexMatch) {
    throw sqlError(
      'sql_too_large',
      `${site.name}: at most match ${limits.maxSqlRegexMatch} can be asked for`,
      site.at,
    );
  }
  return number;
}

/** The whole of a match; NULL where there are not as many. */
const found: SpecialForm = (args, site) => {
  checkCount(args, 2, 5, site);
  const number = matchNumber(args, site);
  const regex = exactRegex(patternOf(args, site), flagsOf(args[4], 'i', site).has('i'), site);
  const value = coerce(argument(args, 0), text, site.at);
  if (number > 1) refuseEmpty(regex, site);
  const whole = quoteString(`(${regex.unicode})`);
  const render = (a: string): string =>
    number === 1
      ? `if(match(${a}, ${whole}), extract(${a}, ${whole}), NULL)`
      : `if(isNull(${a}), NULL, arrayElementOrNull(${allMatches(a, regex, whole)}, ${number}))`;
  return apply(`${site.name} ${number} ${regex.unicode}`, text, render, value);
};

/** The engine gives the first group of each match; all of it stands in one. */
const allMatches = (a: string, { groups }: EngineRegex, whole: string): string =>
  groups === 0
    ? `extractAll(ifNull(${a}, ''), ${whole})`
    : `arrayMap(m -> m[1], extractAllGroups(ifNull(${a}, ''), ${whole}))`;

/** Where the first match begins, from 1; 0 without one. */
const placeOfMatch: SpecialForm = (args, site) => {
  checkCount(args, 2, 6, site);
  if (matchNumber(args, site) > 1) throw unsupported(`${site.name} of a match behind the first`, site.at);
  if (args[4] !== undefined && constantInteger(args[4], 'the kind of place', site) !== 0) {
    throw unsupported(`${site.name} of the end of a match`, site.at);
  }
  const regex = exactRegex(patternOf(args, site), flagsOf(args[5], 'i', site).has('i'), site).unicode;
  const before = quoteString(`^((?s:.*?))(?:${regex})`);
  const render = (a: string): string =>
    `toInt32(if(match(${a}, ${quoteString(regex)}), lengthUTF8(extract(${a}, ${before})) + 1, if(isNull(${a}), NULL, 0)))`;
  return apply(`regexp_instr ${regex}`, int4, render, coerce(argument(args, 0), text, site.at));
};

/** The parts between matches, of which none may be empty. */
const split: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const pattern = patternOf(args, site);
  const { unicode: regex, groups, canBeEmpty } = exactRegex(pattern, false, site);
  if (canBeEmpty || groups > 0) {
    throw sqlError('sql_unsupported', `${site.name} by what may be empty, or by groups`, site.at);
  }
  return apply(
    `regexp_split ${regex}`,
    arrayOf(text),
    (a) => `if(isNull(${a}), [], [splitByRegexp(${quoteString(regex)}, ifNull(${a}, ''))])`,
    coerce(argument(args, 0), text, site.at),
  );
};

export const regexFunctions: FunctionTable = {
  regexp_replace: orNull(text, replace),
  regexp_match: match,
  regexp_like: orNull(bool, like),
  regexp_count: orNull(int4, count),
  regexp_substr: orNull(text, found),
  regexp_instr: orNull(int4, placeOfMatch),
  regexp_split_to_array: split,
};

/** Functions that give a row for each part of a text. */
export const regexSetFunctions: Readonly<Record<string, SpecialForm>> = {
  regexp_matches: matches,
  regexp_split_to_table: split,
};
