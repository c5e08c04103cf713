import { limits } from '../../../limits/limits.ts';
import { apply } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { arrayOf, bool, jsonb } from '../../types.ts';
import {
  argument,
  type CallSite,
  checkCount,
  constantText,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';
import { arrayOfItems, itemsOf, memberOf, membersOf } from './json-parts.ts';
import { typedNull, withReadNumbers } from './json-unsorted.ts';

/**
 * Paths of SQL/JSON (`$.a[*].b`) in lax mode: names, positions and all of them. A name looks into the
 * elements of an array, and a position takes what is no array for an array of one element.
 */
type PathStep =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'all names' | 'all places' | 'last' }
  | { readonly kind: 'place'; readonly place: number };

const steps: ReadonlyArray<readonly [RegExp, (found: RegExpExecArray) => PathStep]> = [
  [/\s*\.\s*\*/y, () => ({ kind: 'all names' })],
  [/\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)(?!\s*\()/y, ([, name = '']) => ({ kind: 'name', name })],
  [/\s*\.\s*("(?:[^"\\]|\\.)*")/y, ([, name = '']) => ({ kind: 'name', name: quoted(name) })],
  [/\s*\[\s*\*\s*\]/y, () => ({ kind: 'all places' })],
  [/\s*\[\s*last\s*\]/y, () => ({ kind: 'last' })],
  [/\s*\[\s*(\d{1,9})\s*\]/y, ([, place = '']) => ({ kind: 'place', place: Number(place) })],
];

function quoted(name: string): string {
  try {
    return String(JSON.parse(name));
  } catch {
    return name.slice(1, -1);
  }
}

function readPath(path: string, site: CallSite): readonly PathStep[] {
  const other = (): Error =>
    unsupported(
      `${site.name}: a path with more than names, positions, .* and [*] (such as filters, methods and strict)`,
      site.at,
    );
  const start = /^\s*(?:lax\s+)?\$/.exec(path);
  if (start === null) {
    if (/^\s*(?:strict\b|lax\b|["\d(@]|exists\b|true\b|false\b|null\b|[-+])/.test(path)) throw other();
    throw sqlError('sql_syntax', `${site.name}: ${JSON.stringify(path)} is no path`, site.at);
  }
  const found: PathStep[] = [];
  let at = start[0].length;
  while (path.slice(at).trim() !== '') {
    const read = steps.find(([pattern]) => {
      pattern.lastIndex = at;
      return pattern.test(path);
    });
    if (read === undefined) throw other();
    const [pattern, make] = read;
    pattern.lastIndex = at;
    const match = pattern.exec(path);
    if (match === null) throw other();
    found.push(make(match));
    at = pattern.lastIndex;
    if (found.length > limits.maxSqlJsonDepth) {
      throw sqlError(
        'sql_too_large',
        `${site.name} goes deeper into JSON than ${limits.maxSqlJsonDepth} levels`,
        site.at,
      );
    }
  }
  return found;
}

const isArray = (json: string): string => `startsWith(${json}, '[')`;
const isObject = (json: string): string => `startsWith(${json}, '{')`;
const items = (json: string): string => `if(${isArray(json)}, ${itemsOf(json)}, [${json}])`;

/** What a step finds in the values of a list. */
function found(list: string, step: PathStep): string {
  const unwrapped = `arrayFlatten(arrayMap(u -> ${items('u')}, ${list}))`;
  switch (step.kind) {
    case 'name': {
      const key = `'${step.name.replace(/[\\']/g, '\\$&')}'`;
      const objects = `arrayFilter(u -> ${isObject('u')}, ${unwrapped})`;
      return `arrayFilter(u -> u != '', arrayMap(o -> ${memberOf('o', key)}, ${objects}))`;
    }
    case 'all names': {
      const objects = `arrayFilter(u -> ${isObject('u')}, ${unwrapped})`;
      return `arrayFlatten(arrayMap(o -> arrayMap(m -> tupleElement(m, 2), ${membersOf('o')}), ${objects}))`;
    }
    case 'all places':
      return unwrapped;
    case 'last':
      return at(list, 'length(e)');
    case 'place':
      return at(list, String(step.place + 1));
  }
}

const at = (list: string, place: string): string => {
  const one = letBindings(['e'], [items('u')], `arraySlice(e, ${place}, if(${place} = 0, 0, 1))`);
  return `arrayFlatten(arrayMap(u -> ${one}, ${list}))`;
};

/** All that a path finds, as an array of JSON; NULL of NULL. */
function valuesOf(args: readonly Expr[], site: CallSite): Expr {
  checkCount(args, 2, 4, site);
  if (args.length > 2) throw unsupported(`${site.name} with variables`, site.at);
  const json = typedNull(withReadNumbers(coerce(argument(args, 0), jsonb, site.at), site.at));
  const path = constantText(args[1], 'the path', site, { sample: '$' });
  const read = readPath(path, site);
  const render = (a: string): string => {
    // Each step is bound, so that the text stays linear in their number.
    const list = read.reduce(
      (before, step) => letBindings(['g'], [before], found('g', step)),
      '[assumeNotNull(x)]',
    );
    return letBindings(['x'], [a], `if(isNull(x), [], [${list}])`);
  };
  return apply(`json path ${path}`, arrayOf(jsonb), render, json);
}

export const jsonPathRows: SpecialForm = (args, site) => valuesOf(args, site);

export const jsonPathFunctions: FunctionTable = {
  jsonb_path_query_array: (args, site) => {
    const values = valuesOf(args, site);
    const render = (a: string): string => `if(empty(${a}), NULL, ${arrayOfItems(`${a}[1]`)})`;
    return apply(site.name, jsonb, render, values);
  },
  jsonb_path_query_first: (args, site) =>
    apply(site.name, jsonb, (a) => `arrayElementOrNull(${a}[1], 1)`, valuesOf(args, site)),
  jsonb_path_exists: (args, site) =>
    apply(site.name, bool, (a) => `if(empty(${a}), NULL, notEmpty(${a}[1]))`, valuesOf(args, site)),
};
