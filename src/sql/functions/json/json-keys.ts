import { and, apply, literal, or } from '../../build.ts';
import type { Expr } from '../../ir.ts';
import { sqlError } from '../../sql-error.ts';
import { readArrayText } from '../../syntax/literals.ts';
import { arrayOf, bool, text } from '../../types.ts';
import { type CallSite, constantText } from '../definition.ts';

/** The texts of `ARRAY['a', 'b']` or `'{a,b}'`; a NULL among them is no name. */
function namesOf(names: Expr, site: CallSite): readonly string[] {
  if (names.kind === 'apply' && names.name === 'array') {
    return names.args.flatMap((each) =>
      each.kind === 'literal' && each.value === null ? [] : [constantText(each, 'each name', site)],
    );
  }
  const written = constantText(names, 'the array of names', site, { type: arrayOf(text), sample: '{}' });
  const words = readArrayText(written);
  if (words === undefined) throw sqlError('sql_bad_value', `malformed array literal: "${written}"`, site.at);
  return words.filter((word) => word !== null);
}

/**
 * `json ?| names`, `json ?& names`: whether it has one of the names, or all.
 * @param hasName whether it has a name
 */
export function hasNames(
  quantifier: 'any' | 'all',
  json: Expr,
  names: Expr,
  hasName: (json: Expr, name: Expr) => Expr,
  site: CallSite,
): Expr {
  const tests = namesOf(names, site).map((name) => hasName(json, literal(text, name)));
  const [first, ...rest] = tests;
  if (first === undefined) {
    const value = quantifier === 'all';
    return apply(`json of no names ${value}`, bool, (a) => `if(isNull(${a}), NULL, ${value})`, json);
  }
  if (rest.length === 0) return first;
  return quantifier === 'any' ? or(...tests) : and(...tests);
}
