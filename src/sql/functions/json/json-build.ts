import { quoteString } from '../../../lib/quote.ts';
import { apply } from '../../build.ts';
import { convert, settle } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { json, jsonb, text } from '../../types.ts';
import {
  argument,
  type CallSite,
  checkCount,
  constantOf,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';
import { jsonOf } from './json-text.ts';

/**
 * `jsonb` keeps the last value of a key, shorter keys before longer ones, and each length in
 * the order of its bytes.
 */
const binaryOrder = (a: string, b: string): number =>
  Buffer.byteLength(a) - Buffer.byteLength(b) || Buffer.compare(Buffer.from(a), Buffer.from(b));

const kind = (binary: boolean) => (binary ? jsonb : json);

/** Keys are literals of the query, or parameters. */
function keyOf(given: Expr, site: CallSite): string {
  const key = constantOf(given, text);
  if (key.kind === 'literal' && key.value === null) {
    throw sqlError('sql_bad_value', `${site.name}: a key must not be NULL`, site.at);
  }
  const words = convert(settle(key, site.at), text, site.at);
  const source = key.kind === 'literal' && typeof key.value === 'string' ? key.value : undefined;
  if (source !== undefined && (words.kind === 'literal' || /^-?\d+$/.test(source))) return source;
  throw unsupported(`${site.name} with a key that is neither a literal nor a parameter`, site.at);
}

const joined = (open: string, parts: readonly string[], close: string): string =>
  `concat(${[quoteString(open), ...parts, quoteString(close)].join(', ')})`;

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
    for (let index = 0; index < args.length; index += 2) {
      const value = settle(argument(args, index + 1), site.at);
      pairs.push([keyOf(argument(args, index), site), jsonOf(value, binary, site)]);
    }
    const kept = binary ? [...new Map(pairs)].sort(([a], [b]) => binaryOrder(a, b)) : pairs;
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
    const render = (a: string, whole: string): string => `if(${isMissing}(${whole}), NULL, ${a})`;
    return apply(site.name, kind(binary), render, jsonOf(value, binary, site), value);
  };

/** JSON made of values. */
export const jsonBuilders: FunctionTable = {
  json_build_object: buildObject(false),
  jsonb_build_object: buildObject(true),
  json_build_array: buildArray(false),
  jsonb_build_array: buildArray(true),
  to_json: toJson(false),
  to_jsonb: toJson(true),
};
