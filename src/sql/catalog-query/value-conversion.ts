import { offsetText } from '../../lib/time-zone.ts';
import { sessionZone } from '../session-times.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { readArrayText, readLiteral } from '../syntax/literals.ts';
import type { Value } from '../system-catalog/catalog-value.ts';
import type { SystemCatalog } from '../system-catalog/system-catalog.ts';
import { systemFunctionNames, typesByOid } from '../system-catalog/system-types.ts';
import { type ObjectType, quoteIdent, requireObject } from './object-names.ts';
import { lengthOf, requireLength } from './value-length.ts';

/** Values of the catalog by the names of their types: reading, converting, comparing and writing them. */

const integers: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'xid', 'xid8']);
const numbers: ReadonlySet<string> = new Set([...integers, 'float8', 'numeric']);
/** Names of objects that are kept as their object ids. */
const objectTypeNames: readonly ObjectType[] = [
  'oid',
  'regclass',
  'regtype',
  'regproc',
  'regprocedure',
  'regnamespace',
  'regrole',
];
export const objectTypes: ReadonlySet<string> = new Set(objectTypeNames);
const isObjectType = (type: string): type is ObjectType => objectTypes.has(type);
const texts: ReadonlySet<string> = new Set([
  'text',
  'name',
  'char',
  'varchar',
  'bpchar',
  'unknown',
  'json',
  'jsonb',
]);

export const isNumberType = (type: string): boolean => numbers.has(type) || objectTypes.has(type);
export const isTextType = (type: string): boolean => texts.has(type);
export const isArrayType = (type: string): boolean => type.startsWith('_') || isVector(type);
export const isVector = (type: string): boolean => type === 'int2vector' || type === 'oidvector';
export const elementOf = (type: string): string =>
  type === 'int2vector'
    ? 'int2'
    : type === 'oidvector'
      ? 'oid'
      : type.startsWith('_')
        ? type.slice(1)
        : 'text';
export const arrayOf = (type: string): string => `_${type === 'unknown' ? 'text' : type}`;

/** The first index of an array. */
export const lowerBound = (type: string): number => (isVector(type) ? 0 : 1);

type Category = 'number' | 'text' | 'json' | 'array' | string;

function categoryOf(type: string): Category {
  if (type === 'json' || type === 'jsonb') return 'json';
  if (isNumberType(type)) return 'number';
  if (isTextType(type)) return 'text';
  if (type === 'timestamp' || type === 'timestamptz') return 'time';
  return isArrayType(type) ? `${categoryOf(elementOf(type))}[]` : type;
}

/** Two types that have nothing in common, which PostgreSQL does not compare or put into one column. */
export function mismatch(types: readonly string[]): readonly [string, string] | undefined {
  const [first, ...others] = types.filter((type) => type !== 'unknown');
  if (first === undefined) return undefined;
  const other = others.find((type) => categoryOf(type) !== categoryOf(first));
  return other === undefined ? undefined : [first, other];
}

/** The type of several values in one place. */
export function commonTypeOf(types: readonly string[]): string {
  const known = types.filter((type) => type !== 'unknown');
  const [first = 'text'] = known;
  if (known.every((type) => type === first)) return first;
  if (known.every(isNumberType)) {
    return known.find((type) => objectTypes.has(type)) ?? widest(known);
  }
  if (known.some((type) => isArrayType(type))) return known.find((type) => type.startsWith('_')) ?? first;
  return 'text';
}

const widest = (types: readonly string[]): string =>
  ['float8', 'numeric', 'int8', 'int4'].find((type) => types.includes(type)) ?? 'int4';

const badValue = (type: string, written: string, at?: number): Error =>
  sqlError('sql_bad_value', `invalid input syntax for type ${type}: ${JSON.stringify(written)}`, at);

/** Reads the text form of a value. @throws AppError `sql_bad_value`, `sql_unknown_relation` */
export function readValue(written: string, type: string, catalog: SystemCatalog): Value {
  if (isTextType(type)) return type === 'char' ? [...written].slice(0, 1).join('') : written;
  if (numbers.has(type)) return readNumber(written, type);
  if (isVector(type))
    return written
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => readNumber(word, 'int8'));
  if (isArrayType(type)) {
    const words = readArrayText(written);
    if (words === undefined) throw badValue('array', written);
    const element = elementOf(type);
    return words.map((word) => (word === null ? null : readValue(word, element, catalog)));
  }
  if (isObjectType(type)) return readObject(written, type, catalog);
  if (type === 'bool') return readBoolean(written);
  if (type === 'timestamptz' || type === 'timestamp') {
    return Math.floor(Number(readLiteral(written, { name: type }, undefined).value) / 1000);
  }
  return written;
}

function readNumber(written: string, type: string): number {
  const value = Number(written.trim());
  if (written.trim() === '' || Number.isNaN(value)) throw badValue(type, written);
  if (!integers.has(type)) return value;
  if (!Number.isInteger(value) || !/^\s*[+-]?\d+\s*$/.test(written)) throw badValue(type, written);
  return checkedInteger(value, type);
}

const maxInteger = 0x7fff_ffff;
const ranges: Readonly<Record<string, readonly [max: number, label: string]>> = {
  int2: [0x7fff, 'smallint'],
  int4: [maxInteger, 'integer'],
  int8: [2 ** 63, 'bigint'],
};

/** @throws AppError `sql_out_of_range`, `sql_unsupported` for what a double does not hold exactly */
export function checkedInteger(value: number, type: string): number {
  const [max, label] = ranges[type] ?? [2 ** 63, type];
  if (value > max || value < -max - 1) throw sqlError('sql_out_of_range', `${label} out of range`);
  if (!Number.isSafeInteger(value)) throw unsupported('A whole number above 2^53 in a query of the catalog');
  return value;
}

/** As PostgreSQL rounds: half a decimal away from zero, half a double to the even number. */
function rounded(value: number, from: string): number {
  const isTie = Math.abs(value % 1) === 0.5;
  if (from === 'float8' && isTie) return 2 * Math.round(value / 2);
  return Math.sign(value) * Math.round(Math.abs(value));
}

function readBoolean(written: string): boolean {
  const word = written.trim().toLowerCase();
  if (['t', 'true', 'y', 'yes', 'on', '1'].includes(word)) return true;
  if (['f', 'false', 'n', 'no', 'off', '0'].includes(word)) return false;
  throw badValue('boolean', written);
}

function readObject(written: string, type: ObjectType, catalog: SystemCatalog): number {
  const digits = written.trim();
  if (/^-?\d+$/.test(digits)) return checkedObjectId(Number(digits));
  if (written === '-' && type !== 'oid') return 0;
  if (type === 'oid') throw badValue('oid', written);
  return requireObject(written, type, catalog);
}

/** PostgreSQL's go up to 2^32; all that there are here have 31 bits. */
function checkedObjectId(value: number): number {
  if (value >= 0 && value <= maxInteger) return value;
  if (value < -maxInteger - 1 || value > 0xffff_ffff)
    throw sqlError('sql_out_of_range', `value "${value}" is out of range for type oid`);
  throw unsupported('An object id above 2147483647');
}

/** The text form of a value that is not NULL. */
export function writeValue(value: Value, type: string, catalog: SystemCatalog): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return type === 'text' ? String(value) : value ? 't' : 'f';
  if (Array.isArray(value)) return writeArray(value, type, catalog);
  if (typeof value === 'number') {
    if (type === 'timestamptz' || type === 'timestamp') return writeTime(value, type);
    if (objectTypes.has(type) && type !== 'oid') return objectName(value, type, catalog);
  }
  return String(value);
}

function writeArray(items: readonly Value[], type: string, catalog: SystemCatalog): string {
  const element = elementOf(type);
  if (isVector(type)) return items.join(' ');
  let length = 0;
  const words = items.map((item) => {
    const word = item === null ? 'NULL' : writeArrayItem(writeValue(item, element, catalog));
    length += word.length + 1;
    requireLength(length);
    return word;
  });
  return `{${words.join(',')}}`;
}

const writeArrayItem = (word: string): string =>
  word === '' || /[{},"\\\s]/.test(word) || /^null$/i.test(word)
    ? `"${word.replace(/["\\]/g, '\\$&')}"`
    : word;

const writeTime = (ms: number, type: string): string => {
  const ahead = type === 'timestamptz' ? sessionZone().offsetSeconds(ms) : 0;
  return `${new Date(ms + ahead * 1000)
    .toISOString()
    .slice(0, 23)
    .replace('T', ' ')
    .replace(/(?:\.000|00|0)$/, '')}${type === 'timestamptz' ? offsetText(ahead) : ''}`;
};

function objectName(oid: number, type: string, catalog: SystemCatalog): string {
  if (oid === 0) return '-';
  switch (type) {
    case 'regclass': {
      const relation = catalog.relation(oid);
      if (relation === undefined) return String(oid);
      const isPlain = relation.schema === 'public' || relation.schema === 'pg_catalog';
      return isPlain
        ? quoteIdent(relation.name)
        : `${quoteIdent(relation.schema)}.${quoteIdent(relation.name)}`;
    }
    case 'regtype':
      return typesByOid.get(oid)?.label ?? String(oid);
    case 'regproc':
      return systemFunctionNames.get(oid) ?? String(oid);
    case 'regnamespace':
      return quoteIdent(catalog.schemaName(oid) ?? String(oid));
    case 'regrole':
      return quoteIdent(catalog.roleName(oid) ?? String(oid));
    default:
      return String(oid);
  }
}

/**
 * A value of one type as one of another.
 * @throws AppError `sql_bad_value`, `sql_out_of_range`, `sql_unsupported`
 */
export function castValue(value: Value, from: string, to: string, catalog: SystemCatalog): Value {
  if (value === null || from === to) return value;
  if (typeof value === 'number' && isNumberType(from) && isNumberType(to)) return castNumber(value, from, to);
  if (Array.isArray(value) && isArrayType(to)) {
    const [inner, outer] = [elementOf(from), elementOf(to)];
    return value.map((item) => castValue(item, inner, outer, catalog));
  }
  if (typeof value === 'boolean' && integers.has(to)) return value ? 1 : 0;
  if (to === 'bool' && typeof value === 'number') return value !== 0;
  if (to === 'char' && typeof value === 'number' && from === 'int4') return letterOf(value);
  if (from === 'char' && to === 'int4') return String(value).charCodeAt(0) || 0;
  if (isTextType(to)) {
    const written = writeValue(value, from === 'bool' ? 'text' : from, catalog);
    return to === 'char' ? [...written].slice(0, 1).join('') : written;
  }
  return typeof value === 'string' ? readValue(value, to, catalog) : value;
}

function castNumber(value: number, from: string, to: string): number {
  if (integers.has(to)) return checkedInteger(rounded(value, from), to);
  return objectTypes.has(to) && !objectTypes.has(from) ? checkedObjectId(value) : value;
}

/** The `"char"` of a number. */
function letterOf(code: number): string {
  if (code < -128 || code > 127) throw sqlError('sql_out_of_range', '"char" out of range');
  return code === 0 ? '' : String.fromCharCode(code & 0xff);
}

/** Less than, equal to, greater than zero; of arrays, element by element. */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0;
  if (Array.isArray(left) && Array.isArray(right)) {
    for (const [index, item] of left.entries()) {
      if (index >= right.length) return 1;
      const order = compareWithNulls(item, right[index] ?? null);
      if (order !== 0) return order;
    }
    return left.length - right.length;
  }
  return Number(left) - Number(right);
}

/** NULL comes last. */
export function compareWithNulls(left: Value, right: Value): number {
  if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
  return compareValues(left, right);
}

/** A text that two values have in common if and only if they are equal, or both NULL. */
export function keyOf(values: readonly Value[]): string {
  requireLength(lengthOf(values));
  return JSON.stringify(values);
}
