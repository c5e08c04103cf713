import { createHash } from 'node:crypto';
import { unsupported } from '../sql-error.ts';
import type { Value } from '../system-catalog/catalog-value.ts';
import { catalogError } from './catalog-error.ts';
import { type CallOf, type FunctionTable, fn, listOf, numberOf, textOf } from './catalog-function.ts';
import type { CompileContext } from './catalog-scope.ts';
import { parseIdentifiers, quoteIdent } from './object-names.ts';
import { regularExpression } from './re2-pattern.ts';
import { elementOf, writeValue } from './value-conversion.ts';
import { requireLength, spendLength } from './value-length.ts';

/**
 * Functions of texts, as PostgreSQL has them (its documentation, "String Functions and Operators"). Whatever
 * makes a text longer says how long it gets before it is made.
 */

const letters = (value: Value | undefined): readonly string[] => [...textOf(value)];

/** A text as a literal of SQL. */
const literalText = (value: string): string =>
  `${value.includes('\\') ? 'E' : ''}'${value.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;

/** Without these letters at its ends. */
function trimmed(value: Value | undefined, set: Value | undefined, where: 'both' | 'start' | 'end'): string {
  const drop = new Set(set === undefined ? ' ' : textOf(set));
  const all = letters(value);
  let [start, end] = [0, all.length];
  if (where !== 'end') while (start < end && drop.has(all[start] ?? '')) start += 1;
  if (where !== 'start') while (end > start && drop.has(all[end - 1] ?? '')) end -= 1;
  return all.slice(start, end).join('');
}

const trim = (where: 'both' | 'start' | 'end') =>
  fn('text text', 'text', ([value, set]) => trimmed(value, set, where), { optional: 1 });

/** Filled up, or cut, to a length. */
const padded = (where: 'start' | 'end') =>
  fn(
    'text int4 text',
    'text',
    ([value, length, by], { context }) => {
      const count = Math.max(0, numberOf(length));
      spendLength(context, count);
      const all = letters(value).slice(0, count);
      const fill = by === undefined ? [' '] : letters(by);
      const missing = fill.length === 0 ? 0 : count - all.length;
      const more = Array.from({ length: missing }, (_, index) => fill[index % fill.length] ?? '');
      return (where === 'start' ? [...more, ...all] : [...all, ...more]).join('');
    },
    { optional: 1 },
  );

function substring([value, start, count]: readonly Value[], { context }: CallOf): Value {
  if (typeof start === 'string') {
    spendPattern(context, start, textOf(value));
    const matcher = regularExpression(start, '').matcher(textOf(value));
    if (!matcher.find()) return null;
    return matcher.groupCount() > 0 ? matcher.group(1) : matcher.group();
  }
  if (count !== undefined && numberOf(count) < 0)
    throw catalogError('substring_error', 'negative substring length not allowed');
  const from = numberOf(start) - 1;
  const end = count === undefined ? undefined : Math.max(0, from + numberOf(count));
  return letters(value).slice(Math.max(0, from), end).join('');
}

/** RE2 takes time by the length of the text and of the pattern. */
export function spendPattern(context: CompileContext, pattern: string, text: string): void {
  spendLength(context, pattern.length);
  context.spend(Math.ceil((text.length * pattern.length) / 32));
}

function replaced([value, from, to]: readonly Value[], { context }: CallOf): Value {
  const [text, part, by] = [textOf(value), textOf(from), textOf(to)];
  if (part === '') return text;
  const pieces = text.split(part);
  spendLength(context, text.length + (pieces.length - 1) * by.length);
  return pieces.join(by);
}

function splitPart([value, by, place]: readonly Value[]): Value {
  const index = numberOf(place);
  if (index === 0) throw catalogError('invalid_parameter_value', 'field position must not be zero');
  const [text, separator] = [textOf(value), textOf(by)];
  const parts = separator === '' ? [text] : text.split(separator);
  return textOf(parts.at(index > 0 ? index - 1 : index));
}

const regexFlags: ReadonlySet<string> = new Set('gi');

/** @throws AppError for flags that PostgreSQL does not have, and for those that are not supported here */
function checkFlags(flags: string, allowsAll: boolean): void {
  for (const flag of flags) {
    if (regexFlags.has(flag) && (flag !== 'g' || allowsAll)) continue;
    if ('bcegimnpqstwx'.includes(flag)) throw unsupported(`The option "${flag}" of a regular expression`);
    throw catalogError('invalid_parameter_value', `invalid regular expression option: "${flag}"`);
  }
}

/** `\1` is what a group has matched, `\&` what the pattern has matched, `\\` a backslash. */
function regexpReplace([value, pattern, by, flags]: readonly Value[], { context }: CallOf): Value {
  const options = textOf(flags);
  checkFlags(options, true);
  const [text, replacement] = [textOf(value), textOf(by)];
  spendPattern(context, textOf(pattern), text);
  const matcher = regularExpression(textOf(pattern), options).matcher(text);
  const isAll = options.includes('g');
  // Each may be the whole match.
  const groups = replacement.split('\\').length - 1;
  let result = '';
  let end = 0;
  while (matcher.find()) {
    result += text.slice(end, matcher.start());
    const most = replacement.length + groups * (matcher.end() - matcher.start());
    requireLength(result.length + most);
    spendLength(context, most);
    result += replacement.replace(/\\(.)/gs, (whole, letter: string) => {
      if (letter === '&') return matcher.group() ?? '';
      if (letter >= '0' && letter <= '9')
        return Number(letter) <= matcher.groupCount() ? (matcher.group(Number(letter)) ?? '') : '';
      return letter === '\\' ? letter : whole;
    });
    end = matcher.end();
    if (!isAll) break;
  }
  return result + text.slice(end);
}

function regexpMatch([value, pattern, flags]: readonly Value[], { context }: CallOf): Value {
  checkFlags(textOf(flags), false);
  spendPattern(context, textOf(pattern), textOf(value));
  const matcher = regularExpression(textOf(pattern), textOf(flags)).matcher(textOf(value));
  if (!matcher.find()) return null;
  const count = matcher.groupCount();
  if (count === 0) return [matcher.group()];
  return Array.from({ length: count }, (_, index) => matcher.group(index + 1) ?? null);
}

/** Texts of values of any type, NULL for NULL. */
const writtenValues = (values: readonly Value[], { args, context }: CallOf): ReadonlyArray<string | null> =>
  values.map((value, index) =>
    value === null
      ? null
      : writeValue(
          value,
          args[index]?.type === 'bool' ? 'bool' : (args[index]?.type ?? 'text'),
          context.catalog,
        ),
  );

function joined(parts: readonly string[], separator: string, context: CompileContext): string {
  spendLength(
    context,
    parts.reduce((sum, part) => sum + part.length + separator.length, 0),
  );
  return parts.join(separator);
}

const isText = (part: string | null): part is string => part !== null;

/** One of `format`'s `%[n$][-][width]type`. */
interface FormatSpec {
  readonly argument: number | undefined;
  readonly isLeft: boolean;
  readonly width: number;
  readonly kind: string;
}

const formatSpec = /%(?:(\d{1,9})\$)?(-?)(\d{0,9})(.?)/gs;

function format(values: readonly Value[], call: CallOf): Value {
  const [pattern = null] = values;
  if (pattern === null) return null;
  const { context } = call;
  const written = writtenValues(values, call);
  let next = 1;
  let length = 0;
  const put = (text: string): string => {
    length += text.length;
    spendLength(context, length);
    return text;
  };
  return textOf(pattern).replace(
    formatSpec,
    (whole, argument = '', flag: string, width: string, kind: string) => {
      if (whole === '%%') return '%';
      const spec: FormatSpec = {
        argument: argument === '' ? undefined : Number(argument),
        isLeft: flag === '-',
        width: Number(width),
        kind,
      };
      if (kind === '') throw catalogError('invalid_parameter_value', 'unterminated format() type specifier');
      if (kind === '*') throw unsupported('A width of format() that is an argument');
      if (!['s', 'I', 'L'].includes(kind))
        throw catalogError('invalid_parameter_value', `unrecognized format() type specifier "${kind}"`);
      const place = spec.argument ?? next;
      next = place + 1;
      const value = written[place];
      if (place === 0 || value === undefined)
        throw catalogError('invalid_parameter_value', 'too few arguments for format()');
      spendLength(context, spec.width);
      const text = formatted(value, kind);
      return put(spec.isLeft ? text.padEnd(spec.width) : text.padStart(spec.width));
    },
  );
}

function formatted(value: string | null, kind: string): string {
  if (kind === 'L') return value === null ? 'NULL' : literalText(value);
  if (kind === 's') return value ?? '';
  if (value !== null) return quoteIdent(value);
  throw catalogError('null_value_not_allowed', 'null values cannot be formatted as an SQL identifier');
}

/** A value in `json_build_object`. */
function jsonText(value: Value, type: string, { context }: CallOf): string {
  if (value === null) return 'null';
  if (Array.isArray(value))
    return `[${value.map((item) => jsonText(item, elementOf(type), { args: [], context, at: undefined })).join(',')}]`;
  if (typeof value === 'boolean') return String(value);
  const isPlain = typeof value === 'number' && ['int2', 'int4', 'int8', 'float8', 'numeric'].includes(type);
  if (isPlain || type === 'json' || type === 'jsonb') return String(value);
  return JSON.stringify(writeValue(value, type, context.catalog));
}

function jsonBuildObject(values: readonly Value[], call: CallOf): Value {
  if (values.length % 2 === 1)
    throw catalogError('invalid_parameter_value', 'argument list must have even number of elements');
  const parts: string[] = [];
  for (let index = 0; index < values.length; index += 2) {
    const key = values[index] ?? null;
    if (key === null) throw catalogError('invalid_parameter_value', `argument ${index + 1} cannot be null`);
    const name = writeValue(key, call.args[index]?.type ?? 'text', call.context.catalog);
    const text = jsonText(values[index + 1] ?? null, call.args[index + 1]?.type ?? 'text', call);
    parts.push(`${JSON.stringify(name)} : ${text}`);
  }
  return `{${joined(parts, ', ', call.context)}}`;
}

export const textFunctions: FunctionTable = {
  quote_ident: fn('text', 'text', ([name]) => quoteIdent(textOf(name))),
  quote_literal: fn('text', 'text', ([value]) => literalText(textOf(value))),
  quote_nullable: fn(
    'text',
    'text',
    ([value = null]) => (value === null ? 'NULL' : literalText(textOf(value))),
    {
      takesNulls: true,
    },
  ),
  parse_ident: fn(
    'text bool',
    '_text',
    ([name, isStrict]) => parseIdentifiers(textOf(name), isStrict !== false),
    {
      optional: 1,
    },
  ),
  lower: fn('text', 'text', ([value]) => textOf(value).toLowerCase()),
  upper: fn('text', 'text', ([value]) => textOf(value).toUpperCase()),
  initcap: fn('text', 'text', ([value]) =>
    textOf(value).replace(/[\p{L}\p{N}]+/gu, (word) => {
      const [first = '', ...more] = word;
      return first.toUpperCase() + more.join('').toLowerCase();
    }),
  ),
  length: fn('text', 'int4', ([value]) => letters(value).length),
  char_length: fn('text', 'int4', ([value]) => letters(value).length),
  character_length: fn('text', 'int4', ([value]) => letters(value).length),
  octet_length: fn('text', 'int4', ([value]) => Buffer.byteLength(textOf(value))),
  trim: trim('both'),
  btrim: trim('both'),
  ltrim: trim('start'),
  rtrim: trim('end'),
  lpad: padded('start'),
  rpad: padded('end'),
  reverse: fn('text', 'text', ([value]) => letters(value).toReversed().join('')),
  repeat: fn('text int4', 'text', ([value, count], { context }) => {
    const times = Math.max(0, numberOf(count));
    spendLength(context, times * textOf(value).length);
    return textOf(value).repeat(times);
  }),
  ascii: fn('text', 'int4', ([value]) => textOf(value).codePointAt(0) ?? 0),
  chr: fn('int4', 'text', ([code]) => {
    const point = numberOf(code);
    if (point === 0) throw catalogError('invalid_parameter_value', 'null character not permitted');
    if (point < 0 || point > 0x10_ffff || (point >= 0xd800 && point < 0xe000))
      throw catalogError('invalid_parameter_value', `requested character not valid for encoding: ${point}`);
    return String.fromCodePoint(point);
  }),
  md5: fn('text', 'text', ([value]) => createHash('md5').update(textOf(value)).digest('hex')),
  concat: fn(
    'any',
    'text',
    (values, call) => joined(writtenValues(values, call).filter(isText), '', call.context),
    {
      takesNulls: true,
      variadic: true,
    },
  ),
  concat_ws: fn(
    'text',
    'text',
    (values, call) => {
      const [separator = null, ...parts] = writtenValues(values, call);
      return separator === null ? null : joined(parts.filter(isText), separator, call.context);
    },
    { takesNulls: true, variadic: true },
  ),
  format: fn('text', 'text', format, { takesNulls: true, variadic: true }),
  json_build_object: fn('', 'json', jsonBuildObject, { takesNulls: true, variadic: true }),
  replace: fn('text text text', 'text', replaced),
  translate: fn('text text text', 'text', ([value, from, to]) => {
    const target = letters(to);
    const places = new Map(
      letters(from)
        .map((letter, index) => [letter, index] as const)
        .toReversed(),
    );
    return letters(value)
      .flatMap((each) => {
        const index = places.get(each);
        return index === undefined ? [each] : (target[index] ?? []);
      })
      .join('');
  }),
  substring: fn('text any int4', 'text', substring, { optional: 1 }),
  substr: fn('text int4 int4', 'text', substring, { optional: 1 }),
  left: fn('text int4', 'text', ([value, count]) => letters(value).slice(0, numberOf(count)).join('')),
  right: fn('text int4', 'text', ([value, count]) => {
    const length = numberOf(count);
    return length === 0 ? '' : letters(value).slice(-length).join('');
  }),
  split_part: fn('text text int4', 'text', splitPart),
  strpos: fn('text text', 'int4', ([value, part]) => placeOf(textOf(value), textOf(part))),
  position: fn('text text', 'int4', ([value, part]) => placeOf(textOf(value), textOf(part))),
  starts_with: fn('text text', 'bool', ([value, start]) => textOf(value).startsWith(textOf(start))),
  regexp_replace: fn('text text text text', 'text', regexpReplace, { optional: 1 }),
  regexp_match: fn('text text text', '_text', regexpMatch, { optional: 1 }),
  regexp_split_to_array: fn('text text', '_text', ([value, pattern], { context }) =>
    splitByPattern(textOf(value), textOf(pattern), context),
  ),
  string_to_array: fn(
    'text text text',
    '_text',
    ([value = null, by = null, nullText], { context }) =>
      value === null ? null : splitText(textOf(value), by, nullText, context),
    { optional: 1, takesNulls: true },
  ),
  array_to_string: fn(
    'any text text',
    'text',
    ([array = null, separator = null, nullText = null], { args, context }) => {
      if (array === null || separator === null) return null;
      const type = elementOf(args[0]?.type ?? '');
      const parts = listOf(array)
        .filter((item) => item !== null || nullText !== null)
        .map((item) => (item === null ? textOf(nullText) : writeValue(item, type, context.catalog)));
      return joined(parts, textOf(separator), context);
    },
    { optional: 1, takesNulls: true },
  ),
};

/** In letters, from 1; 0 if it is not there. */
function placeOf(text: string, part: string): number {
  const index = text.indexOf(part);
  return index < 0 ? 0 : [...text.slice(0, index)].length + 1;
}

/** @param by NULL: each letter is an element; empty: the text is the only one */
export function splitText(
  text: string,
  by: Value,
  nullText: Value | undefined,
  context: CompileContext,
): readonly Value[] {
  spendLength(context, text.length);
  if (text === '') return [];
  const separator = textOf(by);
  const parts = by === null ? [...text] : separator === '' ? [text] : text.split(separator);
  return parts.map((part) => (typeof nullText === 'string' && part === nullText ? null : part));
}

export function splitByPattern(text: string, pattern: string, context: CompileContext): readonly string[] {
  spendPattern(context, pattern, text);
  const matcher = regularExpression(pattern, '').matcher(text);
  const parts: string[] = [];
  let end = 0;
  while (matcher.find()) {
    // As in PostgreSQL, nothing at the beginning or right behind a match separates nothing.
    if (matcher.end() === matcher.start() && (matcher.end() === 0 || matcher.end() >= text.length)) continue;
    parts.push(text.slice(end, matcher.start()));
    end = matcher.end();
  }
  parts.push(text.slice(end));
  return parts;
}
