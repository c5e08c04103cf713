import { quoteString } from '../../../lib/quote.ts';
import { limits } from '../../../limits/limits.ts';
import { lowerCase } from '../../../model/text-search.ts';
import { apply, isNull, literal } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { sqlError } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { similarName } from '../../syntax/read-operator.ts';
import { bool, int4, text } from '../../types.ts';
import {
  argument,
  type CallSite,
  callOverload,
  checkCount,
  constantOf,
  constantText,
  type FunctionTable,
  fn,
  type Overload,
  type SpecialForm,
} from '../definition.ts';
import { format, shownText } from './format.ts';
import { upperCase } from './letter-case.ts';
import { substringByRegex } from './regex-functions.ts';
import { similarTo, substringSimilar } from './sql-pattern.ts';

/** A length or position, which the store counts in 64 bits. */
const count = (sql: string): string => `toInt32(${sql})`;

/** From 1; what lies before the string counts into the length but gives nothing. */
const start = (from: string): string => `if(${from} < 1, 1, ${from})`;
const lengthFrom = (from: string, length: string): string => `toInt64(${from}) + ${length} - ${start(from)}`;
const substring = (value: string, from: string, length: string): string =>
  `substringUTF8(${value}, ${start(from)}, if(${lengthFrom(from, length)} < 0, 0, ${lengthFrom(from, length)}))`;
/** There is no negative length, but of what is NULL. */
const checkedLength = (value: string, from: string, length: string): string =>
  `(toInt64(${length}) + ${raiseIf(`isNotNull(${value}) AND isNotNull(${from}) AND ${length} < 0`, 'outOfRange')})`;

/** `trim(both 'x' from s)`: the second argument is a set of characters. */
const trim =
  (render: string): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 2, site);
    const given = args[1] === undefined ? literal(text, ' ') : constantOf(args[1], text);
    const characters = given.kind === 'literal' && typeof given.value === 'string' ? given.value : undefined;
    const value = textArguments(args.slice(0, 1), site);
    if (characters === undefined || !/^[\0-\x7f]*$/.test(characters)) {
      const set = coerce(given, text, site.at);
      return apply(`${site.name} of a set`, text, (a, b) => trimmedOf(render, a, b), ...value, set);
    }
    const set = literal(text, characters);
    return apply(site.name, text, (a, b) => `${render}(${a}, ${b})`, ...value, set);
  };

/** Of characters that differ by row, or of several bytes: of these the store's functions know none. */
function trimmedOf(render: string, value: string, set: string): string {
  const isOther = "(c -> position(s, c) = 0, extractAll(a, '(?s).'))";
  const first = render === 'trimRight' ? '1' : `arrayFirstIndex${isOther}`;
  const last = render === 'trimLeft' ? 'lengthUTF8(a)' : `arrayLastIndex${isOther}`;
  const kept = `arrayMap((f, l) -> if(f = 0, '', substringUTF8(a, f, l - f + 1)), [${first}], [${last}])[1]`;
  const known = letBindings(['a', 's'], [`assumeNotNull(${value})`, `assumeNotNull(${set})`], kept);
  return `if(isNull(${value}) OR isNull(${set}), NULL, ${known})`;
}

const textArguments = (args: readonly Expr[], site: CallSite): readonly Expr[] =>
  args.map((arg) => coerce(arg, text, site.at));

/** Any values as text, without the NULLs. */
const concat: SpecialForm = (args, site) => {
  checkCount(args, 1, 1000, site);
  const parts = args.map((arg) => shownText(arg, site.at));
  return apply(
    'concat()',
    text,
    (...each) => `concat(${each.map((part) => `ifNull(${part}, '')`).join(', ')}, '')`,
    ...parts,
  );
};

/** NULL where the separator is. */
const concatWithSeparator: SpecialForm = (args, site) => {
  checkCount(args, 2, 1000, site);
  const [separator, ...parts] = args;
  const converted = parts.map((part) => shownText(part, site.at));
  if (separator?.kind === 'literal' && typeof separator.value === 'string') {
    return apply(
      'concat_ws',
      text,
      (by, ...each) => `arrayStringConcat([${each.join(', ')}], ${by})`,
      literal(text, separator.value),
      ...converted,
    );
  }
  const render = (by: string, ...each: string[]): string => {
    // Each part with a separator before it, and that before the first one cut off.
    const all = `arrayMap(x -> concat(b, assumeNotNull(x)), arrayFilter(x -> isNotNull(x), [${each.join(', ')}]))`;
    return letBindings(
      ['b'],
      [by],
      `if(isNull(b), NULL, substring(arrayStringConcat(${all}), length(b) + 1))`,
    );
  };
  return apply('concat_ws by', text, render, coerce(argument(args, 0), text, site.at), ...converted);
};

/** In no text of UTF-8. */
const noCharacter = `'\\xFF'`;

/** By a delimiter that differs by row, of which the store's function takes none. */
const splitByColumn = (args: readonly Expr[], site: CallSite): Expr => {
  const [value, delimiter] = textArguments(args.slice(0, 2), site);
  const field = coerce(argument(args, 2), int4, site.at);
  if (value === undefined || delimiter === undefined) throw new Error('BUG: the arguments were counted');
  const render = (a: string, by: string, n: string): string => {
    const isBad = `${n} = 0 AND isNotNull(${a}) AND isNotNull(${by})`;
    const place = `ifNull(${n} + ${raiseIf(isBad, 'outOfRange')}, 1)`;
    // Instead of nothing, what the text does not contain is looked for.
    const needle = `if(empty(assumeNotNull(${by})), ${noCharacter}, assumeNotNull(${by}))`;
    const parts = `splitByChar(${noCharacter}, replaceAll(assumeNotNull(${a}), ${needle}, ${noCharacter}))`;
    return `if(isNull(${a}) OR isNull(${by}) OR isNull(${n}), NULL, ${parts}[${place}])`;
  };
  return apply('split_part by', text, render, value, delimiter, field);
};

/** The field counted from 1, or from the end if negative; empty where there is none. */
const splitPart: SpecialForm = (args, site) => {
  checkCount(args, 3, 3, site);
  const given = constantOf(args[1], text);
  if (given?.kind !== 'literal' || typeof given.value !== 'string' || given.value === '') {
    return splitByColumn(args, site);
  }
  const field = args[2];
  if (field?.kind === 'literal' && field.value === '0' && !isNull(args[0])) {
    throw sqlError('sql_out_of_range', 'split_part: field position must not be zero', site.at);
  }
  return apply(
    'split_part',
    text,
    (a, b, c) => {
      const isBad = `${c} = 0 AND isNotNull(${a})`;
      const place = field?.kind === 'literal' ? c : `${c} + ${raiseIf(isBad, 'outOfRange')}`;
      return `if(isNull(${a}), NULL, splitByString(${b}, assumeNotNull(${a}))[${place}])`;
    },
    ...textArguments(args.slice(0, 2), site),
    ...args.slice(2).map((arg) => coerce(arg, int4, site.at)),
  );
};

/** To a length in characters; longer text is cut at its end. */
const pad =
  (name: string): SpecialForm =>
  (args, site) => {
    checkCount(args, 2, 3, site);
    const given = args[2] === undefined ? literal(text, ' ') : constantOf(args[2], text);
    const fill = coerce(given, text, site.at);
    const length = coerce(argument(args, 1), int4, site.at);
    const { maxPaddedLength } = limits;
    const isKnown = length.kind === 'literal';
    if (isKnown && Number(length.value) > maxPaddedLength) {
      throw sqlError('sql_too_large', `${site.name} to more than ${maxPaddedLength} characters`, site.at);
    }
    const render = (a: string, size: string, by: string): string => {
      const known = `if(${size} < 0, 0, ${size})`;
      const checked = isKnown ? known : `${known} + ${raiseIf(`${size} > ${maxPaddedLength}`, 'outOfRange')}`;
      if (fill.kind === 'literal' && typeof fill.value === 'string' && fill.value !== '') {
        return `${name}(${a}, toUInt32(${checked}), ${by})`;
      }
      return paddedBy(name === 'leftPadUTF8', a, `(${checked})`, by);
    };
    return apply(site.name, text, render, coerce(argument(args, 0), text, site.at), length, fill);
  };

/** With a fill that differs by row, or is empty: then nothing is put in. */
function paddedBy(left: boolean, value: string, size: string, fill: string): string {
  const missing = `greatest(toInt64(n) - lengthUTF8(a), 0)`;
  const times = `toUInt32(intDiv(${missing}, greatest(lengthUTF8(f), 1)) + 1)`;
  const put = `substringUTF8(repeat(f, ${times}), 1, ${missing})`;
  const cut = `substringUTF8(a, 1, toUInt64(n))`;
  const body = left ? `concat(${put}, ${cut})` : `concat(${cut}, ${put})`;
  return letBindings(['a', 'n', 'f'], [value, size, fill], `if(isNull(n), NULL, ${body})`);
}

/** Characters for others, one by one; those without a partner are left out. */
const translate: SpecialForm = (args, site) => {
  checkCount(args, 3, 3, site);
  const from = [...constantText(args[1], 'the characters to replace', site)];
  const to = [...constantText(args[2], 'the characters to put in', site)];
  const targets = new Map<string, string>();
  for (const [index, character] of from.entries()) {
    if (!targets.has(character)) targets.set(character, to[index] ?? '');
  }
  const list = (characters: Iterable<string>): string => `[${[...characters].map(quoteString).join(', ')}]`;
  return apply(
    `translate ${from.join('')} ${to.join('')}`,
    text,
    (a) => {
      const characters = `extractAll(ifNull(${a}, ''), '(?s).')`;
      const replaced = `arrayMap(c -> transform(c, ${list(targets.keys())}, ${list(targets.values())}, c), ${characters})`;
      return from.length === 0 ? a : `if(isNull(${a}), NULL, arrayStringConcat(${replaced}))`;
    },
    coerce(argument(args, 0), text, site.at),
  );
};

/** A piece of a text, put in the place of as many characters as it has, or of a given number. */
const overlay: SpecialForm = (args, site) => {
  checkCount(args, 3, 4, site);
  const [value, piece] = textArguments(args.slice(0, 2), site);
  const from = coerce(argument(args, 2), int4, site.at);
  if (value === undefined || piece === undefined) throw new Error('BUG: the arguments were counted');
  const taken =
    args[3] === undefined
      ? apply('length', int4, (a) => count(`lengthUTF8(${a})`), piece)
      : coerce(args[3], int4, site.at);
  const render = (a: string, put: string, place: string, size: string): string => {
    const checked = `(${place} + ${raiseIf(`${place} < 1`, 'outOfRange')})`;
    const rest = `${place} + ${size}`;
    return `concat(substringUTF8(${a}, 1, ${checked} - 1), ${put}, substringUTF8(${a}, if(${rest} < 1, 1, ${rest})))`;
  };
  return apply('overlay', text, render, value, piece, from, taken);
};

const length = [fn(['text'], int4, (a) => count(`lengthUTF8(${a})`))];
const substringForms = [
  fn(['text', 'int'], text, (a, from) => `substringUTF8(${a}, ${start(from)})`),
  {
    ...fn(['text', 'int', 'int'], text, substring),
    renderAs: (_, args) => (value, from, length) =>
      args[2]?.kind === 'literal' && Number(args[2].value) >= 0
        ? substring(value, from, length)
        : substring(value, from, checkedLength(value, from, length)),
  } satisfies Overload,
];

/** `substring (s from pattern for escape)`, which PostgreSQL takes two literals for. */
const ofSqlPattern = (args: readonly Expr[]): boolean =>
  args.length === 3 && args.slice(1).every(({ type }) => ['text', 'unknown', 'mixed'].includes(type.name));

export const textFunctions: FunctionTable = {
  lower: [fn(['text'], text, lowerCase)],
  upper: [fn(['text'], text, upperCase)],
  initcap: [fn(['text'], text, (a) => `initcapUTF8(${a})`)],
  reverse: [fn(['text'], text, (a) => `reverseUTF8(${a})`)],
  length,
  char_length: length,
  character_length: length,
  bit_length: [fn(['text'], int4, (a) => count(`length(${a}) * 8`))],
  octet_length: [fn(['text'], int4, (a) => count(`length(${a})`))],
  substring: (args, site) => {
    if (ofSqlPattern(args)) return substringSimilar(args, site);
    return args.length === 2 && ['text', 'unknown', 'mixed'].includes(args[1]?.type.name ?? '')
      ? substringByRegex(args, site)
      : callOverload(substringForms, args, site);
  },
  [similarName]: (args, site) => similarTo(argument(args, 0), args.slice(1), site),
  substr: substringForms,
  left: [fn(['text', 'int'], text, (a, n) => `leftUTF8(${a}, ${n})`)],
  right: [fn(['text', 'int'], text, (a, n) => `rightUTF8(${a}, ${n})`)],
  btrim: trim('trimBoth'),
  ltrim: trim('trimLeft'),
  rtrim: trim('trimRight'),
  lpad: pad('leftPadUTF8'),
  rpad: pad('rightPadUTF8'),
  overlay,
  translate,
  replace: [fn(['text', 'text', 'text'], text, (a, from, to) => `replaceAll(${a}, ${from}, ${to})`)],
  position: [fn(['text', 'text'], int4, (a, part) => count(`positionUTF8(${a}, ${part})`))],
  strpos: [fn(['text', 'text'], int4, (a, part) => count(`positionUTF8(${a}, ${part})`))],
  starts_with: [fn(['text', 'text'], bool, (a, part) => `startsWith(${a}, ${part})`)],
  md5: [fn(['text'], text, (a) => `lower(hex(MD5(${a})))`)],
  split_part: splitPart,
  concat,
  concat_ws: concatWithSeparator,
  format,
};
