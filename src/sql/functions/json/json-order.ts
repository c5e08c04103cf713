import { apply } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { bool, jsonb, text } from '../../types.ts';
import { binaryTokens, fromWithin, stringValue } from './json-parts.ts';
import { typedNull, withReadNumbers } from './json-unsorted.ts';

/**
 * Comparisons of `jsonb` (compareJsonbContainers in src/backend/utils/adt/jsonb_util.c), by texts that
 * are equal where the values are, or sort as they do.
 */

/** Numbers are equal whatever zeros they end with. */
const withoutZeros = (t: string): string =>
  `if(match(${t}, '^-?[0-9]+\\\\.'), replaceRegexpOne(${t}, '\\\\.?0+$', ''), ${t})`;

const equalityKey = (json: string): string => {
  const tokens = `arrayMap(t -> ${withoutZeros('t')}, ${binaryTokens('assumeNotNull(j)')})`;
  const key = `multiIf(isNull(j), NULL, position(j, '.') = 0, j, arrayStringConcat(${tokens}))`;
  return letBindings(['j'], [json], key);
};

/** Digits of a number in the key, before the point and behind it. */
const fractionDigits = 30;
const shift = `toDecimal256('1${'0'.repeat(44)}', ${fractionDigits})`;
const numberKey = (t: string): string =>
  `leftPad(toDecimalString(toDecimal256(${t}, ${fractionDigits}) + ${shift}, ${fractionDigits}), 80, '0')`;

/** Which kind is less: null, string, number, boolean, array, object. */
const scalarKey = (t: string): string =>
  `multiIf(${t} = 'null', '0', startsWith(${t}, '"'), concat('1', ${stringValue(t)}, '\\0'), ${t} = 'false', '30', ${t} = 'true', '31', match(${t}, '^[-0-9]'), concat('2', ${numberKey(t)}), ${t})`;

/** Of arrays and objects, more members are greater; then the members count, in their order. */
const orderKey = (json: string): string => {
  const tokens = `arrayMap(t -> if(t IN ('{', '}', '[', ']', ', ', ': '), t, ${scalarKey('t')}), ${binaryTokens('assumeNotNull(j)')})`;
  const within = "arrayFilter(t -> t NOT IN ('{', '}', '[', ']', ', ', ': '), r)";
  const count = "leftPad(toString(length(w)), 10, '0')";
  const container = letBindings(
    ['w'],
    [within],
    `if(r[1] = '{', concat('5', leftPad(toString(intDiv(length(w), 2)), 10, '0'), arrayStringConcat(w)), concat('4', ${count}, arrayStringConcat(w)))`,
  );
  // An empty array is less than all else, for a reason of PostgreSQL's past.
  return letBindings(
    ['j'],
    [json],
    `if(isNull(j), NULL, if(j = '[]', '', ${fromWithin(tokens, container)}))`,
  );
};

const isEquality = (operator: string): boolean => operator === '=' || operator === '<>';

export function compareJson(operator: string, left: Expr, right: Expr, at: number | undefined): Expr {
  const keys = [left, right].map((side) => {
    const value = typedNull(withReadNumbers(coerce(side, jsonb, at), at));
    return isEquality(operator) ? equalityKeyOf(value) : orderKeyOf(value);
  });
  const sign = operator === '<>' ? '!=' : operator;
  return apply(`compare ${sign}`, bool, (a, b) => `(${a} ${sign} ${b})`, ...keys);
}

/** What is equal where values are. */
export const equalityKeyOf = (value: Expr): Expr => apply('equality of jsonb', text, equalityKey, value);

/**
 * A condition that holds for each value of which no other text is equal, and else refuses the query: keys of
 * groups are compared as texts.
 */
export const hasOneText = (value: Expr): Expr =>
  apply(
    'one text of jsonb',
    bool,
    (a) => {
      const token = "match(t, '^-?[0-9]+\\\\.[0-9]*0$')";
      const isOther = `arrayExists(t -> ${token}, ${binaryTokens("ifNull(j, '')")})`;
      const refused = raiseIf(`match(j, '[.][0-9]*0([^0-9]|$)') AND ${isOther}`, 'zerosInJson');
      return letBindings(['j'], [a], `(${refused} = 0)`);
    },
    value,
  );

/** What sorts as the value does. */
export const orderKeyOf = (value: Expr): Expr => apply('order of jsonb', text, orderKey, value);
