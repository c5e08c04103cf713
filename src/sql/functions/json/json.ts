import { quoteString } from '../../../lib/quote.ts';
import { limits } from '../../../limits/limits.ts';
import { spend } from '../../budget.ts';
import { apply, literal } from '../../build.ts';
import { coerce, settle } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { bindOnce, letBindings } from '../../let-bindings.ts';
import { boundedList } from '../../print/bounded.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { readLiteral } from '../../syntax/literals.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { bool, int4, isInteger, jsonb, json as jsonType, text, typeLabel } from '../../types.ts';
import {
  argument,
  type CallSite,
  checkCount,
  constantText,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';
import { jsonBuilders } from './json-build.ts';
import { concatenateJson, jsonEditors, literalNames, removeFromJson, removePath } from './json-edit.ts';
import { hasNames } from './json-keys.ts';
import { binaryText, itemOf, memberOf } from './json-parts.ts';
import { jsonPathFunctions } from './json-path.ts';
import { isUnsorted, typedNull, withoutOrder, withReadNumbers } from './json-unsorted.ts';

/**
 * PostgreSQL's operators on JSON, which the store keeps as text: of type `json` or `jsonb`, or as an
 * extension any text. SQL NULL stands for what is not there.
 */
const isJson = (expr: Expr): boolean =>
  ['json', 'jsonb', 'text', 'unknown', 'mixed'].includes(expr.type.name);

export const typeOf = (json: string): string => `JSONType(${json})`;

/**
 * The text of a value: strings without their quotes.
 */
export const asText = (json: string): string =>
  letBindings(
    ['j'],
    [json],
    `multiIf(${typeOf('j')} = 'Null', NULL, ${typeOf('j')} = 'String', JSONExtractString(j), j)`,
  );

/** A member of a name that stands there once: the engine finds the first, and writes it anew. */
const member = (json: string, key: string): string =>
  `if(${typeOf(json)} = 'Object' AND JSONHas(${json}, ${key}), JSONExtractRaw(${json}, ${key}), NULL)`;

const placeOf = (index: string): string => `if(${index} < 0, toInt64(${index}), toInt64(${index}) + 1)`;

/** An element of an array, counted from 0, or from its end if negative. */
const element = (json: string, index: string): string =>
  `if(${typeOf(json)} = 'Array' AND JSONHas(${json}, ${placeOf(index)}), JSONExtractRaw(${json}, ${placeOf(index)}), NULL)`;

/**
 * The same of `jsonb`, which keeps a scalar as an array of one element, and shows that here and nowhere else.
 */
const elementOfBinary = (json: string, index: string): string =>
  `if(${typeOf(json)} NOT IN ('Array', 'Object') AND ${index} IN (0, -1), ${json}, ${element(json, index)})`;

const exactMember = (json: string, key: string): string =>
  `if(${typeOf(json)} = 'Object' AND JSONHas(${json}, ${key}), ${memberOf(`assumeNotNull(${json})`, key)}, NULL)`;
const exactElement = (json: string, index: string): string =>
  `if(${typeOf(json)} = 'Array' AND JSONHas(${json}, ${placeOf(index)}), ${itemOf(`assumeNotNull(${json})`, placeOf(index))}, NULL)`;
const exactElementOfBinary = (json: string, index: string): string =>
  `if(${typeOf(json)} NOT IN ('Array', 'Object') AND ${index} IN (0, -1), ${json}, ${exactElement(json, index)})`;

/** One step into JSON: by a name, a position, or a number that is either, as the value at hand has it. */
interface Step {
  readonly kind: 'name' | 'position' | 'either';
  readonly key: Expr;
}

/** A place in JSON: what it is a part of, and the steps that lead there. */
interface Place {
  readonly whole: Expr;
  readonly steps: readonly Step[];
}

const places = new WeakMap<Expr, Place>();

/** How the value is found: as the engine writes it, or as it is written in the whole. */
function stepInto(json: string, key: string, { kind }: Step, isBinary: boolean, isExact: boolean): string {
  const byName = isExact ? exactMember : member;
  const byPlace = isExact
    ? isBinary
      ? exactElementOfBinary
      : exactElement
    : isBinary
      ? elementOfBinary
      : element;
  if (kind === 'either') {
    const [name, place] = [byName(json, `toString(${key})`), (isExact ? exactElement : element)(json, key)];
    return `coalesce(${name}, ${place})`;
  }
  return kind === 'name' ? byName(json, key) : byPlace(json, key);
}

const stepsInto = (keys: readonly string[], steps: readonly Step[], isBinary: boolean, isExact: boolean) =>
  steps.reduce(
    (value, step, index) =>
      bindOnce([value], (short) => stepInto(short, keys[index] ?? '', step, isBinary, isExact)),
    'j',
  );

/** A name that cannot be what stands between two strings. */
const isPlainName = ({ kind, key }: Step): boolean =>
  kind === 'name' && key.kind === 'literal' && /^[\p{L}\p{N}_]/u.test(String(key.value));

/** A string, word or number that `jsonb` shows as it is written, behind a name. */
const shortValue = quoteString(
  '^[ \\t\\r\\n]*:[ \\t\\r\\n]*("[^"]*"|true|false|null|-?[1-9][0-9]*(?:\\.[0-9]+)?|0(?:\\.[0-9]+)?)[ \\t\\r\\n]*[,}]',
);

/**
 * The value behind a name that stands once in the text, and so does each name before it; empty if it is no
 * short scalar, NULL if it is not there.
 */
function shortMember(keys: readonly string[]): string {
  const quoted = keys.map((key) => `concat('"', ${key}, '"')`);
  const once = quoted.map((key) => `countSubstrings(j, ${key}) = 1`);
  const last = quoted.at(-1) ?? '';
  const behind = `extract(substring(j, position(j, ${last}) + length(${last})), ${shortValue})`;
  const isSure = ["position(j, '\\\\') = 0", ...once].join(' AND ');
  return `if(JSONHas(j, ${keys.join(', ')}), if(${isSure}, ${behind}, ''), NULL)`;
}

/** The value as the engine writes it, if the text has it so; else empty, and NULL if it is not there. */
function shortPart(keys: readonly string[], steps: readonly Step[], isBinary: boolean): string {
  const names = keys.filter((_, index) => steps[index]?.kind !== 'position');
  const mayRepeat = names.map((key) => `countSubstrings(j, concat('"', toString(${key}), '"')) > 1`);
  // The engine writes 2.0 as 2.
  const isInteger = `${typeOf('p')} IN ('Int64', 'UInt64') AND p != '0' AND NOT match(j, '[0-9][.eE]')`;
  const isPlain = `(${typeOf('p')} IN ('Bool', 'Null', 'String') OR ${isInteger})`;
  const isOther = ["position(j, '\\\\') > 0", ...mayRepeat].join(' OR ');
  const cases = `multiIf(isNull(j), NULL, ${isOther}, '', isNull(p), NULL, ${isPlain}, p, '')`;
  return letBindings(['p'], [stepsInto(keys, steps, isBinary, false)], cases);
}

/**
 * A part of JSON. The engine is fast, and right where it finds a short scalar; what it would write in another
 * way than it is written is cut out of the text.
 */
function partAt({ whole, steps }: Place): Expr {
  const { type } = whole;
  const isText = type.name === 'json';
  const isBinary = type.name === 'jsonb';
  const isRaw = !isBinary || isUnsorted(whole);
  const render = (json: string, ...keys: string[]): string => {
    const short = steps.every(isPlainName) ? shortMember(keys) : shortPart(keys, steps, isBinary);
    const exact = stepsInto(keys, steps, isBinary, true);
    // The engine computes all branches of an `if` within a lambda: of an empty text there is nothing to do.
    const rest = letBindings(['j'], ["if(ifNull(s = '', false), j, '')"], exact);
    const written = isRaw && !isText ? `nullIf(${binaryText(`ifNull(${rest}, '')`)}, '')` : rest;
    const value = letBindings(['s'], [short], `if(ifNull(s = '', false), ${written}, s)`);
    // So that the engine knows the type of what is NULL in any case.
    return letBindings(['j'], [isColumn ? json : `CAST(${json}, 'Nullable(String)')`], value);
  };
  const from = isRaw ? withoutOrder(whole) : whole;
  const isColumn = from.kind === 'column';
  const path = steps.map(({ kind }) => kind).join(' ');
  const part = apply(
    `json part ${path} ${isRaw}`,
    isText ? jsonType : jsonb,
    render,
    from,
    ...steps.map(({ key }) => key),
  );
  places.set(part, { whole, steps });
  return part;
}

/** Steps from a part are steps from the whole of which it is one. */
function into(json: Expr, steps: readonly Step[], site: CallSite): Expr {
  if (steps.length === 0) return json;
  const known = places.get(json) ?? { whole: typedNull(json), steps: [] };
  const all = [...known.steps, ...steps];
  checkDepth(all.length, site);
  return partAt({ whole: known.whole, steps: all });
}

function step(json: Expr, key: Expr, site: CallSite): Expr {
  const isIndex = isInteger(key.type);
  const name = isIndex ? coerce(key, int4, site.at) : coerce(key, text, site.at);
  return into(json, [{ kind: isIndex ? 'position' : 'name', key: name }], site);
}

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
  const steps = path.map((name): Step => {
    const isPosition = /^-?\d{1,9}$/.test(name) && String(Number(name)) === name;
    return isPosition
      ? { kind: 'either', key: literal(int4, name) }
      : { kind: 'name', key: literal(text, name) };
  });
  return into(json, steps, site);
}

/** Of a part, around which there are no spaces, without a parser. */
const partText = (json: string): string => {
  const unquoted = `if(position(j, '\\\\') > 0, JSONExtractString(j), substring(j, 2, length(j) - 2))`;
  return letBindings(['j'], [json], `multiIf(j = 'null', NULL, startsWith(j, '"'), ${unquoted}, j)`);
};

const textOf = (json: Expr): Expr => apply('json text', text, places.has(json) ? partText : asText, json);

/** `#>` and `#>>` take a path written as an array of text. */
function pathOf(path: Expr, site: CallSite): readonly string[] {
  return literalNames(path, site);
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
    withoutOrder(json),
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
  const contained = (a: string): string => {
    if (typeof value === 'object' && value !== null) return containment(a, value, 0, site);
    // An array contains a scalar that is one of its elements: an exception that PostgreSQL makes.
    return `(${containment(a, value, 0, site)} OR ${containment(a, [value], 0, site)})`;
  };
  return apply(
    `json @> ${written}`,
    bool,
    (a) => `if(isNull(${a}), NULL, ${contained(`ifNull(${a}, '')`)})`,
    withoutOrder(json),
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

export const jsonOperatorNames: readonly string[] = [...Object.keys(operators), '#-'];

/** An operator on JSON; undefined for others. */
export function jsonOperator(name: string, left: Expr, right: Expr, site: CallSite): Expr | undefined {
  // What is written on the left is in the JSON on the right.
  if (name === '<@') return jsonOperator('@>', right, left, site);
  const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
  if (operator === undefined || !isJson(left)) return undefined;
  return operator(settle(withReadNumbers(left, site.at), site.at), right, site);
}

/** Operators that change JSON, which is of type `jsonb`, beside a literal at least on one side. */
export function jsonChange(name: string, left: Expr, right: Expr, site: CallSite): Expr | undefined {
  const isBinary = left.type.name === 'jsonb';
  if (name === '||') {
    const isOther = (expr: Expr): boolean => ['jsonb', 'unknown'].includes(expr.type.name);
    return isOther(left) && isOther(right) && (isBinary || right.type.name === 'jsonb')
      ? concatenateJson(left, right, site)
      : undefined;
  }
  if (name === '#-') return isBinary ? removePath(left, right, site) : undefined;
  if (name !== '-' || !isBinary) return undefined;
  const isName = ['unknown', 'text', 'mixed', 'array'].includes(right.type.name) || isInteger(right.type);
  return isName ? removeFromJson(left, right, site) : undefined;
}

export const jsonArgument = (args: readonly Expr[], site: CallSite): Expr => {
  const given = argument(args, 0);
  if (given.kind === 'parameter' && given.type.name === 'unknown') {
    return coerce(given, site.name.startsWith('jsonb_') ? jsonb : jsonType, site.at);
  }
  if (isJson(given)) {
    const read = withReadNumbers(given, site.at);
    return read.type.name === 'unknown'
      ? coerce(read, site.name.startsWith('jsonb_') ? jsonb : jsonType, site.at)
      : settle(read, site.at);
  }
  throw sqlError('sql_unknown_function', `${site.name} needs JSON, not ${typeLabel(given.type)}`, site.at);
};

// As text: `transform` finds nothing in a list for an enumeration that may be NULL.
const typeNames =
  "transform(toString(JSONType(j)), ['Object', 'Array', 'String', 'Bool', 'Null'], ['object', 'array', 'string', 'boolean', 'null'], 'number')";

const typeName: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const named = (a: string): string => `if(isNull(${a}), NULL, ${typeNames.replace('(j)', `(${a})`)})`;
  return apply('json typeof', text, named, withoutOrder(jsonArgument(args, site)));
};

const arrayLength: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  // PostgreSQL says that there is no length of anything else.
  const length = (a: string): string =>
    `if(isNull(${a}), NULL, toInt32(JSONLength(${a}) + ${raiseIf(`${typeOf(a)} != 'Array'`, 'badJson')}))`;
  return apply('json array length', int4, length, withoutOrder(jsonArgument(args, site)));
};

const extractPath =
  (finish: (json: Expr) => Expr): SpecialForm =>
  (args, site) => {
    checkCount(args, 2, 100, site);
    const path = args.slice(1).map((each) => constantText(each, 'the path', site));
    return finish(walk(jsonArgument(args, site), path, site));
  };

/** What PostgreSQL has, and what has no place here, by name. */
const refusedFunctions: FunctionTable = Object.fromEntries(
  [
    ...['jsonb', 'json'].flatMap((kind) => [`${kind}_populate_record`, `${kind}_populate_recordset`]),
    ...['match', 'query_tz', 'exists_tz', 'match_tz', 'query_array_tz', 'query_first_tz'].map(
      (each) => `jsonb_path_${each}`,
    ),
    'jsonb_set_lax',
  ].map((name): readonly [string, SpecialForm] => [
    name,
    (_, site) => {
      throw unsupported(`The function ${name}`, site.at);
    },
  ]),
);

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
  ...jsonEditors,
  ...jsonPathFunctions,
  ...refusedFunctions,
};
