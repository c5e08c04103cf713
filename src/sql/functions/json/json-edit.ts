import { limits } from '../../../limits/limits.ts';
import { apply } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { readArrayText } from '../../syntax/literals.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { arrayOf, bool, int4, isInteger, jsonb, json as jsonType, text } from '../../types.ts';
import {
  argument,
  type CallSite,
  checkCount,
  constantOf,
  constantText,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';
import {
  arrayOfItems,
  binaryText,
  binaryTokens,
  fromWithin,
  itemsOf,
  membersOf,
  membersOfTokens,
  objectOf,
  plainTokens,
} from './json-parts.ts';
import { jsonString } from './json-string.ts';
import { typedNull, withReadNumbers } from './json-unsorted.ts';

/**
 * Changes of `jsonb`, in the store's SQL. Values are texts as PostgreSQL shows them, and so are the results.
 */
const binary = (expr: Expr, at: number | undefined): Expr => {
  return typedNull(withReadNumbers(coerce(expr, jsonb, at), at));
};

const typeOf = (json: string): string => `JSONType(${json})`;
const isScalar = (json: string): string => `${typeOf(json)} NOT IN ('Object', 'Array')`;
const notNull = (names: readonly string[], sql: string): string =>
  `if(${names.map((name) => `isNull(${name})`).join(' OR ')}, NULL, ${sql})`;
/** What may be NULL is set aside before. */
const known = (json: string): string => `ifNull(${json}, '{}')`;

/** `a || b`: objects become one, everything else an array. */
export function concatenateJson(left: Expr, right: Expr, site: CallSite): Expr {
  const inner = (j: string): string =>
    `if(${typeOf(j)} = 'Array', substring(${j}, 2, length(${j}) - 2), ${j})`;
  const merged = `concat(substring(a, 1, length(a) - 1), if(a = '{}' OR b = '{}', '', ', '), substring(b, 2))`;
  const joined = `concat('[', ${inner('a')}, if(a = '[]' OR b = '[]', '', ', '), ${inner('b')}, ']')`;
  const both = `${typeOf('a')} = 'Object' AND ${typeOf('b')} = 'Object'`;
  const render = (a: string, b: string): string => {
    const result = `if(${both}, ${letBindings(['m'], [merged], binaryText('m'))}, ${joined})`;
    return letBindings(
      ['x', 'y'],
      [a, b],
      notNull(['x', 'y'], letBindings(['a', 'b'], ['assumeNotNull(x)', 'assumeNotNull(y)'], result)),
    );
  };
  return apply('jsonb ||', jsonb, render, binary(left, site.at), binary(right, site.at));
}

/** An object without members, or an array without strings, that a condition on `n` names. */
function without(json: string, isNamed: (name: string) => string): string {
  const members = `arrayFilter(m -> NOT ${isNamed('tupleElement(m, 1)')}, ${membersOf('a')})`;
  const items = `arrayFilter(e -> NOT (startsWith(e, '"') AND ${isNamed('e')}), ${itemsOf('a')})`;
  const refused = raiseIf(isScalar('a'), 'jsonParameter');
  return letBindings(
    ['a'],
    [json],
    `if(${typeOf('a')} = 'Object', ${objectOf(members)}, if(${refused} = 0, ${arrayOfItems(items)}, ''))`,
  );
}

/** `json - name`, `json - position`, `json - names`. */
export function removeFromJson(left: Expr, right: Expr, site: CallSite): Expr {
  const json = binary(left, site.at);
  if (isInteger(right.type)) return removeAt(json, coerce(right, int4, site.at));
  if (right.type.name === 'array') {
    const render = (a: string, names: string): string => {
      const made = without('assumeNotNull(x)', (name) => `has(w, ${name})`);
      const written = `arrayMap(c -> ${jsonString("ifNull(c, '')")}, arrayFilter(c -> isNotNull(c), l[1]))`;
      const bound = letBindings(['w'], [written], made);
      return letBindings(['x', 'l'], [a, names], `if(isNull(x) OR empty(l), NULL, ${bound})`);
    };
    return apply('jsonb - names', jsonb, render, json, coerce(right, arrayOf(text), site.at));
  }
  const render = (a: string, name: string): string => {
    const bound = letBindings(
      ['w'],
      [jsonString("ifNull(y, '')")],
      without('assumeNotNull(x)', (each) => `(${each} = w)`),
    );
    return letBindings(['x', 'y'], [a, name], notNull(['x', 'y'], bound));
  };
  return apply('jsonb - name', jsonb, render, json, coerce(right, text, site.at));
}

function removeAt(json: Expr, place: Expr): Expr {
  const kept = `arrayFilter((e, p) -> p != if(y < 0, length(q) + y, y) + 1, q, arrayEnumerate(q))`;
  const refused = raiseIf(`${typeOf('a')} != 'Array'`, 'jsonParameter');
  const made = `if(${refused} = 0, ${letBindings(['q'], [itemsOf('a')], arrayOfItems(kept))}, '')`;
  const bound = letBindings(['a'], ['assumeNotNull(x)'], made);
  return apply(
    'jsonb - place',
    jsonb,
    (a, n) => letBindings(['x', 'y'], [a, `toInt64(${n})`], notNull(['x', 'y'], bound)),
    json,
    place,
  );
}

/** A path that is written in the query: each level is an expression within that of the level before. */
export function editPath(path: Expr, site: CallSite): readonly string[] {
  const names = literalNames(path, site);
  if (names.length > limits.maxSqlJsonEditDepth) {
    throw sqlError(
      'sql_too_large',
      `${site.name} goes deeper into JSON than ${limits.maxSqlJsonEditDepth} levels`,
      site.at,
    );
  }
  return names;
}

export function literalNames(path: Expr, site: CallSite): readonly string[] {
  if (path.kind === 'apply' && path.name === 'array') {
    return path.args.map((each) => constantText(each, 'each name of the path', site));
  }
  const written = constantText(path, 'the path', site, { type: arrayOf(text), sample: '{}' });
  const names = readArrayText(written);
  if (names === undefined || names.includes(null)) {
    throw sqlError('sql_bad_value', `${site.name}: the path is no array of names`, site.at);
  }
  return names.map(String);
}

/** What becomes of the value at the end of the path. */
interface Edit {
  /** Of an object `a`, whose members are `o`: of a name, as it is written. */
  readonly object: (name: string) => string;
  /** Of an array, whose elements are `q`: at the place `p`, which may lie outside. */
  readonly array: string;
  /** True if an empty array stays as it is, wherever the path leads: only the outermost value does. */
  readonly keepsEmpty: boolean;
}

const scalarRefused = (json: string): string =>
  `if(${raiseIf(isScalar(json), 'jsonParameter')} = 0, ${json}, '')`;

/** A path without names leaves the value as it is, which must not be a scalar all the same. */
const editedWhole = (json: string, path: readonly string[], edit: Edit): string =>
  path.length === 0 ? scalarRefused(json) : edited(json, path, edit, true);

/**
 * A member of that name, or the element at that place, put through the rest of the path. What becomes of it
 * is written once, so that the statement grows with the path.
 */
function edited(json: string, path: readonly string[], edit: Edit, isOutermost: boolean): string {
  const [name = '', ...rest] = path;
  const w = sqlString(JSON.stringify(name));
  const isNumber = /^\s*[+-]?\d{1,9}\s*$/.test(name);
  const isObject = `${typeOf('a')} = 'Object'`;
  const isArray = `${typeOf('a')} = 'Array'`;
  const isEnd = rest.length === 0;
  const member = `tupleElement(arrayFirst(m -> tupleElement(m, 1) = ${w}, o), 2)`;
  const child = `if(${isObject}, ${member}, arrayFirst((e, n) -> n = p, q, arrayEnumerate(q)))`;
  const changed = isEnd ? "''" : letBindings(['c'], [child], edited('c', rest, edit, false));
  const members = isEnd
    ? edit.object(w)
    : objectOf(`arrayMap(m -> if(tupleElement(m, 1) = ${w}, tuple(tupleElement(m, 1), z), m), o)`);
  const items = isEnd
    ? edit.array
    : arrayOfItems('arrayMap((e, n) -> if(n = p, z, e), q, arrayEnumerate(q))');
  const needsNumber = isOutermost && edit.keepsEmpty ? `${isArray} AND a != '[]'` : isArray;
  const place = isNumber ? String(Number(name)) : `toInt64(${raiseIf(needsNumber, 'badJson')})`;
  // PostgreSQL says so of the outermost value alone.
  const scalar = isOutermost ? scalarRefused('a') : 'a';
  const whole = `multiIf(${isObject}, ${members}, ${isArray}, ${items}, ${scalar})`;
  const parts = [`if(${isObject}, ${membersOf('a')}, [])`, `if(${isArray}, ${itemsOf('a')}, [])`];
  const at = `if(${place} < 0, toInt64(length(q)) + ${place} + 1, toInt64(${place}) + 1)`;
  const bound = letBindings(['p'], [at], letBindings(['z'], [changed], whole));
  return letBindings(['a'], [json], letBindings(['o', 'q'], parts, bound));
}

const sqlString = (value: string): string => `'${value.replace(/[\\']/g, '\\$&')}'`;

/** `json #- path` */
export function removePath(left: Expr, right: Expr, site: CallSite): Expr {
  const json = binary(left, site.at);
  const path = editPath(right, site);
  const edit: Edit = {
    object: (w) => objectOf(`arrayFilter(m -> tupleElement(m, 1) != ${w}, o)`),
    array: arrayOfItems('arrayFilter((e, n) -> n != p, q, arrayEnumerate(q))'),
    keepsEmpty: true,
  };
  const render = (a: string): string =>
    letBindings(['x'], [a], notNull(['x'], editedWhole('assumeNotNull(x)', path, edit)));
  return apply(`jsonb #- ${JSON.stringify(path)}`, jsonb, render, json);
}

/** `true` and `false` as literals or parameters. */
function flag(given: Expr | undefined, otherwise: boolean, site: CallSite): boolean {
  if (given === undefined) return otherwise;
  const value = coerce(constantOf(given, bool, 'true'), bool, site.at);
  if (value.kind === 'literal' && typeof value.value === 'boolean') return value.value;
  throw unsupported(`${site.name} with a flag that is neither a literal nor a parameter`, site.at);
}

const setEdit = (creates: boolean): Edit => {
  const replaced = (w: string): string =>
    objectOf(`arrayMap(m -> if(tupleElement(m, 1) = ${w}, tuple(${w}, v), m), o)`);
  const added = (w: string): string => {
    const all = `concat(substring(a, 1, length(a) - 1), if(a = '{}', '', ', '), ${w}, ': ', v, '}')`;
    return letBindings(['s'], [all], binaryText('s'));
  };
  const has = (w: string): string => `arrayExists(m -> tupleElement(m, 1) = ${w}, o)`;
  const beside = `multiIf(p < 1, arrayPushFront(q, v), p > length(q), arrayPushBack(q, v), arrayMap((e, n) -> if(n = p, v, e), q, arrayEnumerate(q)))`;
  const within = 'arrayMap((e, n) -> if(n = p, v, e), q, arrayEnumerate(q))';
  return {
    object: (w) => (creates ? `if(${has(w)}, ${replaced(w)}, ${added(w)})` : replaced(w)),
    array: arrayOfItems(creates ? beside : within),
    keepsEmpty: !creates,
  };
};

const insertEdit = (isAfter: boolean): Edit => {
  const has = (w: string): string => `arrayExists(m -> tupleElement(m, 1) = ${w}, o)`;
  const cut = `toInt64(least(greatest(p${isAfter ? '' : ' - 1'}, 0), length(q)))`;
  return {
    object: (w) => {
      const all = `concat(substring(a, 1, length(a) - 1), if(a = '{}', '', ', '), ${w}, ': ', v, '}')`;
      return `if(${raiseIf(`${typeOf('a')} = 'Object' AND ${has(w)}`, 'jsonParameter')} = 0, ${letBindings(['s'], [all], binaryText('s'))}, '')`;
    },
    array: arrayOfItems(`arrayConcat(arraySlice(q, 1, ${cut}), [v], arraySlice(q, ${cut} + 1))`),
    keepsEmpty: false,
  };
};

const editor =
  (editOf: (flag: boolean) => Edit, otherwise: boolean): SpecialForm =>
  (args, site) => {
    checkCount(args, 3, 4, site);
    const json = binary(argument(args, 0), site.at);
    const path = editPath(argument(args, 1), site);
    const value = binary(argument(args, 2), site.at);
    const edit = editOf(flag(args[3], otherwise, site));
    const render = (a: string, b: string): string => {
      const made = editedWhole('assumeNotNull(x)', path, edit);
      const bound = letBindings(['v'], [known('y')], made);
      return letBindings(['x', 'y'], [a, b], notNull(['x', 'y'], bound));
    };
    return apply(
      `${site.name} ${JSON.stringify(path)} ${String(args[3] && flag(args[3], otherwise, site))}`,
      jsonb,
      render,
      json,
      value,
    );
  };

/** Objects without the members that are null, at all levels. */
const stripNulls =
  (isBinary: boolean): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 1, site);
    const type = isBinary ? jsonb : jsonType;
    const json = typedNull(coerce(argument(args, 0), type, site.at));
    const [comma, colon] = isBinary ? [', ', ': '] : [',', ':'];
    const kept = `arrayFilter(m -> tupleElement(m, 3) != 'null', ${membersOfTokens})`;
    const member = `concat(tupleElement(m, 1), '${colon}', tupleElement(m, 3))`;
    const object = `concat('{', arrayStringConcat(arrayMap(m -> ${member}, ${kept}), '${comma}'), '}')`;
    // Strings are written anew; the engine computes both branches of an `if` within a lambda.
    const hasEscape = `startsWith(t, '"') AND position(t, '\\\\') > 0`;
    const rewritten = jsonString(`JSONExtractString(if(${hasEscape}, t, ''))`);
    const tokens = `arrayMap(t -> if(${hasEscape}, ${rewritten}, t), ${plainTokens('assumeNotNull(x)')})`;
    const made = fromWithin(
      isBinary ? binaryTokens('assumeNotNull(x)') : tokens,
      `if(r[1] = '{', ${object}, arrayStringConcat(r))`,
    );
    return apply(site.name, type, (a) => letBindings(['x'], [a], notNull(['x'], made)), json);
  };

/** One line for each value, four spaces for each level. */
const pretty: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const opens = "t IN ('{', '[')";
  const closes = "t IN ('}', ']')";
  const indent = "repeat('    ', toUInt32(d))";
  const cases = [
    `${opens}, if(n IN ('}', ']'), t, concat(t, '\\n', ${indent}))`,
    `${closes}, concat('\\n', ${indent}, t)`,
    `t = ',', concat(',\\n', ${indent})`,
    `t = ':', ': '`,
  ].join(', ');
  const depths = `arrayCumSum(arrayMap(t -> toInt32(${opens}) - toInt32(${closes}), k))`;
  const tooLong = raiseIf(`4 * arraySum(l) > ${limits.maxSqlJsonIndent}`, 'outOfRange');
  const lines = `arrayStringConcat(arrayMap((t, d, n) -> multiIf(${cases}, t), k, l, arrayPushBack(arrayPopFront(k), '')))`;
  const checked = letBindings(['l'], [depths], `if(${tooLong} = 0, ${lines}, '')`);
  const made = letBindings(['k'], [plainTokens('assumeNotNull(x)')], checked);
  return apply(
    site.name,
    text,
    (a) => letBindings(['x'], [a], notNull(['x'], made)),
    binary(argument(args, 0), site.at),
  );
};

/** Functions that change JSON. */
export const jsonEditors: FunctionTable = {
  jsonb_set: editor(setEdit, true),
  jsonb_insert: editor(insertEdit, false),
  jsonb_strip_nulls: stripNulls(true),
  json_strip_nulls: stripNulls(false),
  jsonb_pretty: pretty,
};
