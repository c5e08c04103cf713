import { quoteString } from '../../../lib/quote.ts';
import { apply, literal } from '../../build.ts';
import { coerce, convert, settle } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { arrayOf, json, jsonb, text, typeLabel } from '../../types.ts';
import {
  argument,
  type CallSite,
  checkCount,
  constantOf,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';
import { asRow } from '../rows.ts';
import { binaryText } from './json-parts.ts';
import { jsonString } from './json-string.ts';
import { jsonOf, shownMembers } from './json-text.ts';

const kind = (binary: boolean) => (binary ? jsonb : json);

/** The text of a key that is a literal of the query, or a parameter; undefined for others. */
function keyOf(given: Expr, site: CallSite): string | undefined {
  const key = constantOf(given, text);
  if (key.kind === 'literal' && key.value === null) throw keyIsNull(site);
  const words = convert(settle(key, site.at), text, site.at);
  const source = key.kind === 'literal' && typeof key.value === 'string' ? key.value : undefined;
  return source !== undefined && (words.kind === 'literal' || /^-?\d+$/.test(source)) ? source : undefined;
}

const keyIsNull = (site: CallSite): Error =>
  sqlError('sql_invalid_parameter', `${site.name}: a key must not be NULL`, site.at);

/** Names and values, of which a name is known when the query runs. */
function objectOfRows(pairs: readonly (readonly [Expr, Expr])[], binary: boolean, site: CallSite): Expr {
  const colon = binary ? ': ' : ' : ';
  const render = (...parts: string[]): string => {
    const members = pairs.map((_, index) => {
      const [name = '', value = ''] = parts.slice(2 * index);
      const isMissing = raiseIf(`isNull(${name})`, 'jsonParameter');
      return `concat(${letBindings(['n'], [`concat(ifNull(${name}, ''), substring('', 1 + ${isMissing}))`], jsonString('n'))}, '${colon}', ${value})`;
    });
    const object = `concat('{', arrayStringConcat([${members.join(', ')}], ', '), '}')`;
    return binary ? letBindings(['o'], [object], binaryText('o')) : object;
  };
  return apply(`${site.name} of names`, kind(binary), render, ...pairs.flat());
}

/** `json_object ('{name,value,…}')`, `json_object (names, values)`: all values are texts. */
const objectOfTexts =
  (binary: boolean): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 2, site);
    const [names, values] = args.map((arg) => coerce(arg, arrayOf(text), site.at));
    if (names === undefined) throw new Error('BUG: the arguments were counted');
    const colon = binary ? ': ' : ' : ';
    const value = `if(isNull(v), 'null', ${jsonString("ifNull(v, '')")})`;
    const member = `concat(${jsonString("ifNull(n, '')")}, '${colon}', ${value})`;
    const render = (a: string, b?: string): string => {
      const [left, right] =
        b === undefined
          ? [
              'arrayFilter((x, i) -> i % 2 = 1, l[1], arrayEnumerate(l[1]))',
              'arrayFilter((x, i) -> i % 2 = 0, l[1], arrayEnumerate(l[1]))',
            ]
          : ['l[1]', 'r[1]'];
      const isUneven =
        b === undefined
          ? 'length(l[1]) % 2 = 1'
          : 'notEmpty(l) AND notEmpty(r) AND length(l[1]) != length(r[1])';
      const refused = `${raiseIf(isUneven, 'unevenArrays')} + ${raiseIf(`arrayExists(n -> isNull(n), ${left})`, 'nullKey')}`;
      const joined = `concat('{', arrayStringConcat(arrayMap((n, v) -> ${member}, ${left}, arrayResize(${right}, length(${left}), NULL)), ', '), '}')`;
      const object = binary ? letBindings(['o'], [joined], binaryText('o')) : joined;
      return letBindings(
        ['l', 'r'],
        [a, b ?? '[]'],
        `if(empty(l) OR ${b === undefined ? 'false' : 'empty(r)'}, NULL, concat(${object}, substring('', 1 + ${refused})))`,
      );
    };
    return apply(site.name, kind(binary), render, names, ...(values === undefined ? [] : [values]));
  };

/** `row_to_json (row)` */
const rowToJson: SpecialForm = (args, site) => {
  checkCount(args, 1, 2, site);
  if (args.length > 1) throw unsupported(`${site.name} with line feeds`, site.at);
  const row = argument(args, 0);
  if (row.type.name !== 'record') {
    throw sqlError(
      'sql_unknown_function',
      `function ${site.name}(${typeLabel(row.type)}) does not exist`,
      site.at,
    );
  }
  return toJson(false)(args, site);
};

const arrayToJson: SpecialForm = (args, site) => {
  checkCount(args, 1, 2, site);
  if (args.length > 1) throw unsupported(`${site.name} with line feeds`, site.at);
  const array = argument(args, 0);
  if (array.type.name === 'array') return toJson(false)(args, site);
  throw sqlError(
    'sql_unknown_function',
    `function ${site.name}(${typeLabel(array.type)}) does not exist`,
    site.at,
  );
};

const joined = (open: string, parts: readonly string[], close: string): string =>
  `concat(${[quoteString(open), ...parts, quoteString(close)].join(', ')})`;

const shownKey = (key: Expr, site: CallSite): Expr => {
  if (
    key.type.name === 'array' ||
    key.type.name === 'record' ||
    key.type.name === 'json' ||
    key.type.name === 'jsonb'
  ) {
    throw sqlError('sql_invalid_parameter', `${site.name}: a key must be a scalar`, site.at);
  }
  return convert(settle(key, site.at), text, site.at);
};

const buildObject =
  (binary: boolean): SpecialForm =>
  (args, site) => {
    checkCount(args, 0, 1000, site);
    if (args.length % 2 === 1) {
      throw sqlError(
        'sql_bad_value',
        `${site.name}: argument list must have even number of elements`,
        site.at,
      );
    }
    const pairs: (readonly [string, Expr])[] = [];
    const rows: (readonly [Expr, Expr])[] = [];
    for (let index = 0; index < args.length; index += 2) {
      const value = settle(argument(args, index + 1), site.at);
      const key = argument(args, index);
      const name = keyOf(key, site);
      const shown = jsonOf(value, binary, site);
      if (name !== undefined) pairs.push([name, shown]);
      rows.push([name === undefined ? shownKey(key, site) : literal(text, name), shown]);
    }
    if (pairs.length < rows.length) return objectOfRows(rows, binary, site);
    const kept = shownMembers(pairs, binary);
    const [between, colon] = binary ? [', ', ': '] : [', ', ' : '];
    const keys = kept.map(([key], index) => `${index === 0 ? '' : between}${JSON.stringify(key)}${colon}`);
    const render = (...values: string[]): string =>
      joined(
        '{',
        values.flatMap((value, index) => [quoteString(keys[index] ?? ''), value]),
        '}',
      );
    return apply(`${site.name} ${keys.join('')}`, kind(binary), render, ...kept.map(([, value]) => value));
  };

const buildArray =
  (binary: boolean): SpecialForm =>
  (args, site) => {
    checkCount(args, 0, 1000, site);
    const values = args.map((arg) => jsonOf(settle(arg, site.at), binary, site));
    const render = (...parts: string[]): string =>
      joined(
        '[',
        parts.flatMap((part, index) => (index === 0 ? [part] : ["', '", part])),
        ']',
      );
    return apply(site.name, kind(binary), render, ...values);
  };

/** Of NULL, SQL's NULL. */
const toJson =
  (binary: boolean): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 1, site);
    const given = argument(args, 0);
    if (given.type.name === 'unknown') {
      throw sqlError(
        'sql_type',
        `could not determine polymorphic type of the argument of ${site.name}`,
        site.at,
      );
    }
    const value = settle(given, site.at);
    const isMissing = value.type.name === 'array' ? 'empty' : 'isNull';
    const shown = jsonOf(value, binary, site);
    if (asRow(value) !== undefined) return apply(site.name, kind(binary), (a) => a, shown);
    const render = (a: string, whole: string): string => `if(${isMissing}(${whole}), NULL, ${a})`;
    return apply(site.name, kind(binary), render, shown, value);
  };

/** JSON made of values. */
export const jsonBuilders: FunctionTable = {
  json_build_object: buildObject(false),
  jsonb_build_object: buildObject(true),
  json_build_array: buildArray(false),
  jsonb_build_array: buildArray(true),
  json_object: objectOfTexts(false),
  jsonb_object: objectOfTexts(true),
  row_to_json: rowToJson,
  array_to_json: arrayToJson,
  to_json: toJson(false),
  to_jsonb: toJson(true),
};
