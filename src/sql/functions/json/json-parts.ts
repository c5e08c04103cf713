import { quoteString } from '../../../lib/quote.ts';
import { limits } from '../../../limits/limits.ts';
import { letBindings } from '../../let-bindings.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { jsonString } from './json-string.ts';

/**
 * Parts of JSON as they are written, in the store's SQL. The engine's own functions write a part anew, which
 * loses digits (`2.50`), repeated names and spaces; these cut the text at its tokens. All take JSON that is
 * valid, and not NULL.
 */
type Text = (json: string) => string;

/** A string, a sign, a number or word. */
const token = '"(?:[^"\\\\]|\\\\.)*"|[{}\\[\\]:,]|[^\\s{}\\[\\]:,"]+';
const tokensOf: Text = (json) => `extractAll(${json}, ${quoteString(token)})`;
const tokensAndSpaces: Text = (json) => `extractAll(${json}, ${quoteString(`${token}|\\s+`)})`;
const spaces = "' \\t\\r\\n'";
const trimmed: Text = (json) => `trimBoth(${json}, ${spaces})`;

const opens = "('{', '[')";
const closes = "('}', ']')";
const depthsOf = (tokens: string): string =>
  `arrayCumSum(arrayMap(t -> toInt32(t IN ${opens}) - toInt32(t IN ${closes}), ${tokens}))`;

/** What stands within the outermost braces or brackets, cut at the commas of that level; a comma leads. */
const runsOf: Text = (json) => {
  const runs = "arraySplit((t, d) -> t = ',' AND d = 0, i, d)";
  const inner = `arrayPopBack(arrayPopFront(${tokensAndSpaces(trimmed(json))}))`;
  const filled = `arrayFilter(t -> match(t, '\\\\S'), i) = []`;
  return letBindings(['i'], [inner], letBindings(['d'], [depthsOf('i')], `if(${filled}, [], ${runs})`));
};

/** The elements of an array, as they are written. */
export const itemsOf: Text = (json) =>
  `arrayMap(r -> ${trimmed("arrayStringConcat(if(r[1] = ',', arrayPopFront(r), r))")}, ${runsOf(json)})`;

/** The value of a string. */
export const stringValue: Text = (string) =>
  `if(position(${string}, '\\\\') > 0, JSONExtractString(${string}), substring(${string}, 2, length(${string}) - 2))`;

/** The members of an object: tuples of the name, as it is written, and the value. */
export const membersOf: Text = (json) =>
  `arrayMap(r -> tuple(arrayFirst(t -> startsWith(t, '"'), r), ${trimmed(
    "arrayStringConcat(arraySlice(r, indexOf(r, ':') + 1))",
  )}), ${runsOf(json)})`;

/** The last member of a name, as it is written; empty if there is none. */
export const memberOf = (json: string, key: string): string =>
  `tupleElement(arrayLast(m -> ${stringValue('tupleElement(m, 1)')} = ${key}, ${membersOf(json)}), 2)`;

/** The element at a place from 1, or from the end if negative. */
export const itemOf = (json: string, place: string): string => `arrayElement(${itemsOf(json)}, ${place})`;

export const objectOf = (members: string): string =>
  `concat('{', arrayStringConcat(arrayMap(m -> concat(tupleElement(m, 1), ': ', tupleElement(m, 2)), ${members}), ', '), '}')`;
export const arrayOfItems = (items: string): string => `concat('[', arrayStringConcat(${items}, ', '), ']')`;

const far = 2 * limits.maxSqlJsonExponent;

/** A number as a decimal: without an exponent, and zero without a sign. */
const decimal: Text = (t) => {
  const unsigned = `replaceRegexpOne(${t}, '^-', '')`;
  const parts = [
    `extract(u, '^[0-9]+')`,
    `extract(u, '\\\\.([0-9]+)')`,
    `greatest(-${far}, least(${far}, ifNull(toInt64OrNull(replaceOne(extract(u, '[eE](.*)$'), '+', '')), 0)))`,
  ];
  const isFar = raiseIf(`abs(e) > ${limits.maxSqlJsonExponent} AND match(u, '^[0-9]')`, 'farExponent');
  const digits =
    "concat(repeat('0', greatest(0, 1 - p)), w, f, repeat('0', greatest(0, p - length(w) - length(f))))";
  const point = letBindings(
    ['q', 'z'],
    [digits, 'toInt64(greatest(p, 1))'],
    `concat(${integerDigits('substring(q, 1, z)')}, if(length(q) > z, concat('.', substring(q, z + 1)), ''))`,
  );
  const number = letBindings(['p'], [`toInt64(length(w)) + e + ${isFar}`], point);
  const written = letBindings(['w', 'f', 'e'], parts, number);
  const plain = letBindings(['u'], [unsigned], `if(match(u, '[eE]'), ${written}, u)`);
  const signed = letBindings(
    ['n'],
    [plain],
    `if(startsWith(${t}, '-') AND match(n, '[1-9]'), concat('-', n), n)`,
  );
  return `if(match(${t}, '[eE]') OR startsWith(${t}, '-'), ${signed}, ${t})`;
};

const integerDigits: Text = (digits) => `replaceRegexpOne(${digits}, '^0+([0-9])', '\\\\1')`;

/** A token as `jsonb` shows it. */
const shownToken: Text = (t) => {
  // The engine computes both branches of an `if` within a lambda.
  const rewritten = jsonString(`JSONExtractString(if(position(${t}, '\\\\') > 0, ${t}, ''))`);
  return `multiIf(startsWith(${t}, '"'), if(position(${t}, '\\\\') > 0, ${rewritten}, ${t}), ${t} = ',', ', ', ${t} = ':', ': ', match(${t}, '^[-0-9]'), ${decimal(t)}, ${t})`;
};

/**
 * Goes through JSON from its innermost objects and arrays outwards, each of which becomes one text.
 * @param tokens as an array; those of an object are `{`, name, colon, value, comma, …
 * @param finished the text of an object or array, whose tokens are `r`
 */
export const fromWithin = (tokens: string, finished: string): string => {
  const isWhole = `r[1] IN ${opens} AND r[-1] IN ${closes} AND length(r) > 1`;
  const runs = `arraySplit((t, b) -> t IN ${opens} OR b IN ${closes}, a, arrayPushFront(arrayPopBack(a), ''))`;
  const pass = `arrayFlatten(arrayMap(r -> if(${isWhole}, [${finished}], r), ${runs}))`;
  const depth = `arrayMax(${depthsOf('k')})`;
  const tooDeep = raiseIf(`${depth} > ${limits.maxSqlJsonNesting}`, 'deepJson');
  const folded = `arrayFold((a, i) -> ${pass}, range(toUInt32(greatest(${depth}, 0) + ${tooDeep})), k)`;
  return letBindings(['k'], [tokens], `arrayStringConcat(${folded})`);
};

/** The members of an object whose tokens are `r`: name, place, value. */
export const membersOfTokens =
  'arrayMap(n -> tuple(r[4 * n + 2], n, r[4 * n + 4]), range(intDiv(length(r) - 1, 4)))';

/** Shorter names first, each length by its bytes; of one name, the last member. */
const sortedObject = (): string => {
  const named = `arrayMap(m -> tuple(${stringValue('tupleElement(m, 1)')}, m), ${membersOfTokens})`;
  const order = `arraySort(s -> tuple(length(tupleElement(s, 1)), tupleElement(s, 1), tupleElement(tupleElement(s, 2), 2)), ${named})`;
  const isLast = 'x = length(o) OR tupleElement(o[x + 1], 1) != tupleElement(s, 1)';
  const kept = `arrayFilter((s, x) -> ${isLast}, o, arrayEnumerate(o))`;
  const member = "concat(tupleElement(tupleElement(s, 2), 1), ': ', tupleElement(tupleElement(s, 2), 3))";
  const joined = `concat('{', arrayStringConcat(arrayMap(s -> ${member}, ${kept}), ', '), '}')`;
  return `if(r[1] = '{' AND length(r) > 5, ${letBindings(['o'], [order], joined)}, arrayStringConcat(r))`;
};

/** JSON as PostgreSQL shows it as `jsonb`, and of an empty text that. */
export const binaryText: Text = (json) =>
  fromWithin(`arrayMap(t -> ${shownToken('t')}, ${tokensOf(json)})`, sortedObject());

/** The tokens of JSON as `jsonb` shows it, its commas and colons with their spaces. */
export const binaryTokens: Text = (json) =>
  `arrayMap(t -> multiIf(t = ',', ', ', t = ':', ': ', t), ${tokensOf(json)})`;
export const plainTokens = tokensOf;
