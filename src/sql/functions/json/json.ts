import { quoteString } from '../../../lib/quote.ts';
import { limits } from '../../../limits/limits.ts';
import { spend } from '../../budget.ts';
import { apply } from '../../build.ts';
import { coerce, settle } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { bindOnce } from '../../let-bindings.ts';
import { boundedList } from '../../print/bounded.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { readArrayText, readLiteral } from '../../syntax/literals.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { arrayOf, bool, int4, isInteger, jsonb, json as jsonType, text, typeLabel } from '../../types.ts';
import {
  argument,
  type CallSite,
  checkCount,
  constantText,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';
import { jsonBuilders } from './json-build.ts';
import { hasNames } from './json-keys.ts';

/**
 * PostgreSQL's operators on JSON, which the store keeps as text: of type `json` or `jsonb`, or as an
 * extension any text. SQL NULL stands for what is not there.
 */
const isJson = (expr: Expr): boolean =>
  ['json', 'jsonb', 'text', 'unknown', 'mixed'].includes(expr.type.name);

export const typeOf = (json: string): string => `JSONType(${json})`;

/** A member of an object: the last of its name. The engine finds the first. */
const member = (json: string, key: string): string => {
  const pairs = `JSONExtractKeysAndValuesRaw(ifNull(${json}, ''))`;
  const last = `tupleElement(arrayLast(p -> tupleElement(p, 1) = ${key}, ${pairs}), 2)`;
  // A name may be written with a backslash, too.
  const mayRepeat = `(countSubstrings(${json}, concat('"', ${key}, '"')) > 1 OR position(${json}, '\\\\') > 0)`;
  return `if(${typeOf(json)} = 'Object' AND JSONHas(${json}, ${key}), if(${mayRepeat}, ${last}, JSONExtractRaw(${json}, ${key})), NULL)`;
};

/** An element of an array, counted from 0, or from its end if negative. */
const element = (json: string, index: string): string => {
  const place = `if(${index} < 0, toInt64(${index}), toInt64(${index}) + 1)`;
  return `if(${typeOf(json)} = 'Array' AND JSONHas(${json}, ${place}), JSONExtractRaw(${json}, ${place}), NULL)`;
};

/**
 * The same of `jsonb`, which keeps a scalar as an array of one element, and shows that here and nowhere else.
 */
const elementOfBinary = (json: string, index: string): string =>
  `if(${typeOf(json)} NOT IN ('Array', 'Object') AND ${index} IN (0, -1), ${json}, ${element(json, index)})`;

/**
 * Strings without their quotes. The text form of an object or array is not the one that PostgreSQL writes.
 */
export const asText = (json: string): string => {
  const refuse = raiseIf(`${typeOf('j')} IN ('Object', 'Array')`, 'textOfJson');
  const cases = `multiIf(${refuse} != 0 OR ${typeOf('j')} = 'Null', NULL, ${typeOf('j')} = 'String', JSONExtractString(j), j)`;
  return `arrayMap(j -> ${cases}, [${json}])[1]`;
};

function step(json: Expr, key: Expr, site: CallSite): Expr {
  const isIndex = isInteger(key.type);
  const name = isIndex ? coerce(key, int4, site.at) : coerce(key, text, site.at);
  const atIndex = json.type.name === 'jsonb' ? elementOfBinary : element;
  const render = (a: string, key: string) =>
    bindOnce([a], (whole) => (isIndex ? atIndex : member)(whole, key));
  return apply(isIndex ? 'json element' : 'json member', partType(json), render, json, name);
}

/** Parts of JSON are of the type of the whole. */
const partType = ({ type }: Expr) => (type.name === 'json' ? type : jsonb);

/** Each level is an expression around that of the level before. */
function checkDepth(depth: number, site: CallSite): void {
  if (depth <= limits.maxSqlJsonDepth) return;
  throw sqlError(
    'sql_too_large',
    `${site.name} goes deeper into JSON than ${limits.maxSqlJsonDepth} levels`,
    site.at,
  );
}

/** A path of names and positions; a number is either, as the value at hand has it. */
function walk(json: Expr, path: readonly string[], site: CallSite): Expr {
  checkDepth(path.length, site);
  return path.reduce<Expr>((value, name) => {
    const key = quoteString(name);
    const isPosition = /^-?\d{1,9}$/.test(name);
    const render = (a: string): string =>
      isPosition ? `coalesce(${member(a, key)}, ${element(a, name)})` : member(a, key);
    return apply(`json path ${name}`, partType(value), (a) => bindOnce([a], render), value);
  }, json);
}

const textOf = (json: Expr): Expr => apply('json text', text, asText, json);

/** `#>` and `#>>` take a path written as an array of text. */
function pathOf(path: Expr, site: CallSite): readonly string[] {
  const names = readArrayText(constantText(path, 'the path', site, { type: arrayOf(text), sample: '{}' }));
  if (names === undefined || names.includes(null)) {
    throw sqlError('sql_bad_value', `${site.name}: the path is no array of names`, site.at);
  }
  return names.map(String);
}

/** True if a value has a name: a member of an object, a string in an array, a string itself. */
function hasName(json: Expr, name: Expr, site: CallSite): Expr {
  return apply(
    'json ?',
    bool,
    (a, key) => {
      const inArray = `arrayExists(e -> ${typeOf('e')} = 'String' AND JSONExtractString(e) = ${key}, JSONExtractArrayRaw(ifNull(${a}, '')))`;
      const cases = `${typeOf(a)} = 'Object', JSONHas(${a}, ${key}), ${typeOf(a)} = 'Array', ${inArray}`;
      return `if(isNull(${a}), NULL, multiIf(${cases}, ${typeOf(a)} = 'String', JSONExtractString(${a}) = ${key}, false))`;
    },
    json,
    coerce(name, text, site.at),
  );
}

/** Whether the store's JSON contains a value of the query, as jsonb's `@>` says. */
function containment(json: string, wanted: unknown, depth: number, site: CallSite): string {
  checkDepth(depth, site);
  spend('steps');
  if (Array.isArray(wanted)) {
    const name = `e${depth}`;
    const each = boundedList(
      wanted,
      (item) =>
        `arrayExists(${name} -> ${containment(name, item, depth + 1, site)}, JSONExtractArrayRaw(${json}))`,
    );
    return `(${[`${typeOf(json)} = 'Array'`, ...each].join(' AND ')})`;
  }
  if (typeof wanted === 'object' && wanted !== null) {
    const each = boundedList(Object.entries(wanted), ([key, value]) => {
      const name = quoteString(key);
      return `JSONHas(${json}, ${name}) AND ${containment(`JSONExtractRaw(${json}, ${name})`, value, depth + 1, site)}`;
    });
    return `(${[`${typeOf(json)} = 'Object'`, ...each].join(' AND ')})`;
  }
  if (typeof wanted === 'string') {
    return `(${typeOf(json)} = 'String' AND JSONExtractString(${json}) = ${quoteString(wanted)})`;
  }
  if (wanted === null) return `(${typeOf(json)} = 'Null')`;
  if (typeof wanted === 'boolean')
    return `(${typeOf(json)} = 'Bool' AND JSONExtractBool(${json}) = ${wanted})`;
  return `(${typeOf(json)} IN ('Int64', 'UInt64', 'Double') AND JSONExtractFloat(${json}) = ${Number(wanted)})`;
}

function contains(json: Expr, wanted: Expr, site: CallSite): Expr {
  const written = constantText(
    wanted.kind === 'apply' ? wanted.args[0] : wanted,
    'the right side of @>',
    site,
    { type: jsonb, sample: '{}' },
  );
  const value: unknown = JSON.parse(String(readLiteral(written, jsonb, site.at).value));
  // An array contains a scalar that is one of its elements: an exception that PostgreSQL makes.
  if (typeof value !== 'object' || value === null)
    throw unsupported('@> with a value other than an object or array', site.at);
  return apply(
    `json @> ${written}`,
    bool,
    (a) => `if(isNull(${a}), NULL, ${containment(`ifNull(${a}, '')`, value, 0, site)})`,
    json,
  );
}

const operators: Readonly<Record<string, (json: Expr, right: Expr, site: CallSite) => Expr>> = {
  '->': step,
  '->>': (json, key, site) => textOf(step(json, key, site)),
  '#>': (json, path, site) => walk(json, pathOf(path, site), site),
  '#>>': (json, path, site) => textOf(walk(json, pathOf(path, site), site)),
  '?': hasName,
  '?|': (json, names, site) => hasNames('any', json, names, (a, b) => hasName(a, b, site), site),
  '?&': (json, names, site) => hasNames('all', json, names, (a, b) => hasName(a, b, site), site),
  '@>': contains,
};

export const jsonOperatorNames: readonly string[] = Object.keys(operators);

/** An operator on JSON; undefined for others. */
export function jsonOperator(name: string, left: Expr, right: Expr, site: CallSite): Expr | undefined {
  // What is written on the left is in the JSON on the right.
  if (name === '<@') return jsonOperator('@>', right, left, site);
  const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
  return operator !== undefined && isJson(left) ? operator(settle(left, site.at), right, site) : undefined;
}

export const jsonArgument = (args: readonly Expr[], site: CallSite): Expr => {
  const given = argument(args, 0);
  if (given.kind === 'parameter' && given.type.name === 'unknown') {
    return coerce(given, site.name.startsWith('jsonb_') ? jsonb : jsonType, site.at);
  }
  if (isJson(given)) return settle(given, site.at);
  throw sqlError('sql_unknown_function', `${site.name} needs JSON, not ${typeLabel(given.type)}`, site.at);
};

// As text: `transform` finds nothing in a list for an enumeration that may be NULL.
const typeNames =
  "transform(toString(JSONType(j)), ['Object', 'Array', 'String', 'Bool', 'Null'], ['object', 'array', 'string', 'boolean', 'null'], 'number')";

const typeName: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const named = (a: string): string => `if(isNull(${a}), NULL, ${typeNames.replace('(j)', `(${a})`)})`;
  return apply('json typeof', text, named, jsonArgument(args, site));
};

const arrayLength: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  // PostgreSQL says that there is no length of anything else.
  const length = (a: string): string =>
    `if(isNull(${a}), NULL, toInt32(JSONLength(${a}) + ${raiseIf(`${typeOf(a)} != 'Array'`, 'badJson')}))`;
  return apply('json array length', int4, length, jsonArgument(args, site));
};

const extractPath =
  (finish: (json: Expr) => Expr): SpecialForm =>
  (args, site) => {
    checkCount(args, 2, 100, site);
    const path = args.slice(1).map((each) => constantText(each, 'the path', site));
    return finish(walk(jsonArgument(args, site), path, site));
  };

export const jsonFunctions: FunctionTable = {
  jsonb_typeof: typeName,
  json_typeof: typeName,
  jsonb_array_length: arrayLength,
  json_array_length: arrayLength,
  jsonb_extract_path: extractPath((json) => json),
  json_extract_path: extractPath((json) => json),
  jsonb_extract_path_text: extractPath(textOf),
  json_extract_path_text: extractPath(textOf),
  ...jsonBuilders,
};
