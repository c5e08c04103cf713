import { apply, literal } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { arrayOf, int4, text } from '../../types.ts';
import {
  argument,
  checkCount,
  constantOf,
  constantText,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';
import { shownBool } from '../text/format.ts';
import { arrayAndValue, elementOf, inner, unlessMissing } from './arrays.ts';

/** From a place on, if one is given. */
const position: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const [array, value] = arrayAndValue(args.slice(0, 2), site);
  const [, , start] = args;
  if (start === undefined) {
    const first = (a: string, v: string): string => `toInt32(nullIf(indexOf(${inner(a)}, ${v}), 0))`;
    return apply('array_position', int4, first, array, value);
  }
  const from = (a: string, v: string, place: string): string =>
    `toInt32(arrayFirstOrNull(i -> i >= ${place} AND ${isSame(`${inner(a)}[i]`, v)}, arrayEnumerate(${inner(a)})))`;
  return apply('array_position from', int4, from, array, value, coerce(start, int4, site.at));
};

/** NULL is the same as NULL. */
const isSame = (a: string, b: string): string => `ifNull(${a} = ${b}, isNull(${a}) AND isNull(${b}))`;

const positions: SpecialForm = (args, site) => {
  const [array, value] = arrayAndValue(args, site);
  const all = (a: string, v: string): string =>
    `arrayMap(e -> arrayFilter(i -> ${isSame('e[i]', v)}, arrayEnumerate(e)), ${a})`;
  return apply('array_positions', arrayOf(int4), all, array, value);
};

const replace: SpecialForm = (args, site) => {
  checkCount(args, 3, 3, site);
  const [array, value, type] = arrayAndValue(args.slice(0, 2), site);
  const render = (a: string, v: string, other: string): string =>
    `arrayMap(e -> arrayMap(x -> if(${isSame('x', v)}, ${other}, x), e), ${a})`;
  return apply('array_replace', array.type, render, array, value, coerce(argument(args, 2), type, site.at));
};

/** NULL is removed by NULL. */
const remove: SpecialForm = (args, site) => {
  const [array, value] = arrayAndValue(args, site);
  const keep = (v: string): string => `x -> NOT ifNull(x = ${v}, isNull(x) AND isNull(${v}))`;
  return apply(
    'array_remove',
    array.type,
    (a, v) => `arrayMap(e -> arrayFilter(${keep(v)}, e), ${a})`,
    array,
    value,
  );
};

/** Booleans as PostgreSQL's output shows them. */
const wordsOf = (array: Expr, at: number | undefined): Expr =>
  array.type.name === 'array' && array.type.element.name === 'bool'
    ? apply(
        'shown booleans',
        arrayOf(text),
        (a) => `arrayMap(e -> arrayMap(x -> ${shownBool('x')}, e), ${a})`,
        array,
      )
    : convert(array, arrayOf(text), at);

const toText: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const [, separator, forNull] = args;
  const array = argument(args, 0);
  elementOf(array, site);
  const words = wordsOf(array, site.at);
  const by = literal(text, constantText(separator, 'the delimiter', site));
  const missing = forNull && literal(text, constantText(forNull, 'the text for NULL', site));
  return apply(
    'array_to_string',
    text,
    (a, sep, nothing) => {
      const present =
        nothing === undefined
          ? `arrayMap(x -> assumeNotNull(x), arrayFilter(x -> isNotNull(x), ${inner(a)}))`
          : `arrayMap(x -> ifNull(x, ${nothing}), ${inner(a)})`;
      return unlessMissing([a], `arrayStringConcat(${present}, ${sep})`);
    },
    words,
    by,
    ...(missing === undefined ? [] : [missing]),
  );
};

/** The parts of a text; those that are a given text become NULL. */
const fromText: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const value = argument(args, 0);
  const [delimiter, forNull] = args.slice(1).map((arg) => constantOf(arg, text));
  const isNull = delimiter?.kind === 'literal' && delimiter.value === null;
  const by = isNull ? null : constantText(delimiter, 'the delimiter', site);
  const isNeverNull = forNull === undefined || (forNull.kind === 'literal' && forNull.value === null);
  const missing = isNeverNull ? [] : [literal(text, constantText(forNull, 'the text for NULL', site))];
  return apply(
    'string_to_array',
    arrayOf(text),
    (a, sep, nothing) => {
      const parts = splitBy(by, sep, `ifNull(${a}, '')`);
      const shown = nothing === undefined ? parts : `arrayMap(x -> nullIf(x, ${nothing}), ${parts})`;
      return `multiIf(isNull(${a}), [], ${a} = '', [[]], [${shown}])`;
    },
    coerce(value, text, site.at),
    literal(text, by),
    ...missing,
  );
};

/** Without a delimiter, into characters; by an empty one, not at all. */
function splitBy(delimiter: string | null, printed: string, value: string): string {
  if (delimiter === null) return `extractAll(${value}, '(?s).')`;
  return delimiter === '' ? `[${value}]` : `splitByString(${printed}, ${value})`;
}

/** All elements but the last ones. */
const trimArray: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const array = argument(args, 0);
  elementOf(array, site);
  const render = (a: string, n: string): string => {
    const size = `length(${inner(a)})`;
    const checked = `${n} + ${raiseIf(`notEmpty(${a}) AND (${n} < 0 OR ${n} > ${size})`, 'outOfRange')}`;
    return `if(empty(${a}) OR isNull(${n}), [], [arraySlice(${inner(a)}, 1, toInt64(greatest(0, ${size} - ifNull(${checked}, 0))))])`;
  };
  return apply('trim_array', array.type, render, array, coerce(argument(args, 1), int4, site.at));
};

/** A row for each part. */
export const stringToTable = fromText;

/** What is looked for and changed in arrays, and arrays from and to text. */
export const elementFunctions: FunctionTable = {
  array_position: position,
  array_positions: positions,
  array_remove: remove,
  array_replace: replace,
  array_to_string: toText,
  string_to_array: fromText,
  trim_array: trimArray,
};
