import { quoteString } from '../../../lib/quote.ts';
import { apply } from '../../build.ts';
import { convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { isInteger, type SqlType, text } from '../../types.ts';
import { bytesText } from '../bytes/bytes-text.ts';
import type { CallSite } from '../definition.ts';
import { jsonTimestamp } from '../numbers/conversions.ts';
import { floatText } from '../numbers/float-text.ts';
import { asRow, type Row } from '../rows.ts';
import { timeOfDayText } from '../time/time-of-day-text.ts';
import { binaryText } from './json-parts.ts';
import { jsonString } from './json-string.ts';

/**
 * Values as PostgreSQL writes them in JSON, in the store's SQL (src/backend/utils/adt/json.c and jsonb.c).
 */
type Writer = (value: string) => string;

/**
 * In `jsonb` numbers are decimals, which have no exponent and no sign of zero. What is not
 * finite is text in both.
 */
const floatOf =
  (binary: boolean): Writer =>
  (x) =>
    `if(isFinite(${x}), ${binary ? decimalOf(x) : floatText(x)}, concat('"', ${floatText(x)}, '"'))`;

/** The engine writes numbers from 1e-6 to 1e21 without an exponent. */
const decimalOf: Writer = (x) => {
  const hasExponent = `NOT (${x} = 0 OR (abs(${x}) >= 1e-6 AND abs(${x}) < 1e21))`;
  const refused = raiseIf(hasExponent, 'numberOfJson');
  return `if(${x} = 0, '0', concat(toString(${x}), if(${refused}, '', '')))`;
};

function scalarWriter(type: SqlType, binary: boolean, at: number | undefined): Writer {
  if (isInteger(type)) return (x) => `toString(${x})`;
  switch (type.name) {
    case 'bool':
      return (x) => `if(${x}, 'true', 'false')`;
    case 'float':
      return floatOf(binary);
    case 'text':
      return jsonString;
    case 'json':
      return binary ? binaryText : (x) => x;
    case 'jsonb':
      return (x) => x;
    case 'time':
      return (x) => `concat('"', ${timeOfDayText(x)}, '"')`;
    case 'bytea':
      return (x) => jsonString(bytesText(x));
    case 'date':
      return (x) => `concat('"', toString(${x}), '"')`;
    case 'timestamp':
    case 'timestamptz':
      return (x) => jsonTimestamp(x, type);
    case 'numeric':
      if (type.exact) return (x) => `toDecimalString(${x}, ${type.scale})`;
      throw unsupported('JSON of a numeric whose digits are not fixed (use round(x, digits) first)', at);
    case 'record':
      throw unsupported('JSON of a row that a subquery gives', at);
    default:
      throw unsupported(`JSON of ${type.name}`, at);
  }
}

/** What may be NULL, which JSON writes as null; its name in the lambda is new at each depth. */
export function jsonWriter(type: SqlType, binary: boolean, at: number | undefined): Writer {
  if (type.name === 'array') {
    const each = jsonWriter(type.element, binary, at);
    const items = `arrayMap(i -> ${each('i')}, v[1])`;
    const joined = `concat('[', arrayStringConcat(${items}, '${binary ? ', ' : ','}'), ']')`;
    return (a) => `if(empty(${a}), 'null', ${letBindings(['v'], [a], joined)})`;
  }
  const write = scalarWriter(type, binary, at);
  return (a) => letBindings(['x'], [a], `if(isNull(x), 'null', ${write('assumeNotNull(x)')})`);
}

/** The JSON of a value, as text that is never NULL. */
export function jsonOf(value: Expr, binary: boolean, site: CallSite): Expr {
  const { type } = value;
  if (type.name === 'interval') return jsonOf(convert(value, text, site.at), binary, site);
  const row = asRow(value);
  if (row !== undefined) return jsonOfRow(row, binary, site);
  const write = jsonWriter(type, binary, site.at);
  return apply(`json of ${binary}`, text, write, value);
}

/**
 * `jsonb` keeps the last value of a key, shorter keys before longer ones, and each length in
 * the order of its bytes.
 */
const binaryOrder = (a: string, b: string): number =>
  Buffer.byteLength(a) - Buffer.byteLength(b) || Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The members of an object as JSON shows them, in the order of its type. */
export const shownMembers = <Value>(
  pairs: readonly (readonly [string, Value])[],
  binary: boolean,
): readonly (readonly [string, Value])[] =>
  binary ? [...new Map(pairs)].sort(([a], [b]) => binaryOrder(a, b)) : pairs;

/** A row as an object, without spaces in `json`. */
function jsonOfRow({ fields, args }: Row, binary: boolean, site: CallSite): Expr {
  const pairs = fields.flatMap((name, index) =>
    args.slice(index, index + 1).map((value) => [name, jsonOf(value, binary, site)] as const),
  );
  const kept = shownMembers(pairs, binary);
  const [between, colon] = binary ? [', ', ': '] : [',', ':'];
  const keys = kept.map(([key], index) => `${index === 0 ? '{' : between}${JSON.stringify(key)}${colon}`);
  const render = (...values: string[]): string =>
    `concat(${values.flatMap((value, index) => [quoteString(keys[index] ?? ''), value]).join(', ')}, '}')`;
  return apply(`json of row ${binary} ${keys.join('')}`, text, render, ...kept.map(([, value]) => value));
}
