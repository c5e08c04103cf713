import { sqlError } from '../sql-error.ts';
import { readArrayText } from '../syntax/literals.ts';
import type { Value } from '../system-catalog/catalog-value.ts';
import type { SystemCatalog } from '../system-catalog/system-catalog.ts';
import {
  findType,
  systemFunctionNames,
  systemFunctions,
  typesByOid,
} from '../system-catalog/system-types.ts';

/** Values of the catalog by the names of their types: reading, converting, comparing and writing them. */

const integers: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'xid', 'xid8']);
const numbers: ReadonlySet<string> = new Set([...integers, 'float8', 'numeric']);
/** Names of objects that are kept as their object ids. */
export const objectTypes: ReadonlySet<string> = new Set([
  'oid',
  'regclass',
  'regtype',
  'regproc',
  'regprocedure',
  'regnamespace',
  'regrole',
]);
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
  if (objectTypes.has(type)) return readObject(written, type, catalog);
  if (type === 'bool') return readBoolean(written);
  if (type === 'timestamptz' || type === 'timestamp') {
    const ms = Date.parse(written);
    if (Number.isNaN(ms)) throw badValue(type, written);
    return ms;
  }
  return written;
}

function readNumber(written: string, type: string): number {
  const value = Number(written.trim());
  if (written.trim() === '' || Number.isNaN(value)) throw badValue(type, written);
  return integers.has(type) ? Math.round(value) : value;
}

function readBoolean(written: string): boolean {
  const word = written.trim().toLowerCase();
  if (['t', 'true', 'y', 'yes', 'on', '1'].includes(word)) return true;
  if (['f', 'false', 'n', 'no', 'off', '0'].includes(word)) return false;
  throw badValue('boolean', written);
}

/** `a."B c"` as its parts, in lower case where they are not quoted. */
export function readPath(written: string): readonly string[] {
  const parts = written.match(/"(?:[^"]|"")*"|[^."]+/g) ?? [];
  return parts.map((part) =>
    part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part.trim().toLowerCase(),
  );
}

function readObject(written: string, type: string, catalog: SystemCatalog): number {
  if (/^\d+$/.test(written)) return Number(written);
  if (written === '-' && type !== 'oid') return 0;
  const found = findObject(written, type, catalog);
  if (found !== undefined) return found;
  if (type === 'oid') throw badValue('oid', written);
  const code = type === 'regclass' ? 'sql_unknown_relation' : 'sql_bad_value';
  const kind = objectKinds[type] ?? 'object';
  throw sqlError(code, `${kind} "${written}" does not exist`);
}

const objectKinds: Readonly<Record<string, string>> = {
  regclass: 'relation',
  regtype: 'type',
  regproc: 'function',
  regprocedure: 'function',
  regnamespace: 'schema',
  regrole: 'role',
};

/** The object id of what is named, if it is there. */
export function findObject(written: string, type: string, catalog: SystemCatalog): number | undefined {
  const path = readPath(written);
  const last = path.at(-1) ?? '';
  switch (type) {
    case 'regclass':
      return catalog.relationOid(path);
    case 'regtype':
      return findType(written)?.oid;
    case 'regproc':
    case 'regprocedure':
      return systemFunctions.get(last.split('(', 1)[0] ?? '');
    case 'regnamespace':
      return catalog.schemas.get(last);
    case 'regrole':
      return catalog.roleOid(last);
    default:
      return undefined;
  }
}

/** An identifier as it has to be written. */
export const quoteIdent = (name: string): string =>
  /^[a-z_][a-z0-9_$]*$/.test(name) && !reservedWords.has(name) ? name : `"${name.replaceAll('"', '""')}"`;

/** Words that cannot stand as names of tables and columns. */
export const reservedWords: ReadonlySet<string> = new Set(
  (
    'all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create ' +
    'current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc ' +
    'distinct do else end except false fetch for foreign from grant group having in initially intersect into ' +
    'lateral leading limit localtime localtimestamp not null offset on only or order placing primary references ' +
    'returning select session_user some symmetric table then to trailing true union unique user using variadic ' +
    'when where window with authorization binary collation concurrently cross current_schema freeze full ilike ' +
    'inner is isnull join left like natural notnull outer overlaps right similar tablesample verbose between ' +
    'bigint bit boolean char character coalesce dec decimal exists extract float greatest inout int integer ' +
    'interval least national nchar none nullif numeric out overlay position precision real row setof smallint ' +
    'substring time timestamp treat trim values varchar'
  ).split(' '),
);

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
  const words = items.map((item) => {
    if (item === null) return 'NULL';
    const word = writeValue(item, element, catalog);
    return word === '' || /[{},"\\\s]/.test(word) || /^null$/i.test(word)
      ? `"${word.replace(/["\\]/g, '\\$&')}"`
      : word;
  });
  return `{${words.join(',')}}`;
}

const writeTime = (ms: number, type: string): string =>
  `${new Date(ms)
    .toISOString()
    .slice(0, 23)
    .replace('T', ' ')
    .replace(/(?:\.000|00|0)$/, '')}${type === 'timestamptz' ? '+00' : ''}`;

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

/** A value of one type as one of another. @throws AppError `sql_bad_value`, `sql_type` */
export function castValue(value: Value, from: string, to: string, catalog: SystemCatalog): Value {
  if (value === null || from === to) return value;
  if (isNumberType(from) && isNumberType(to)) {
    return integers.has(to) && typeof value === 'number' ? Math.round(value) : value;
  }
  if (Array.isArray(value) && isArrayType(to)) {
    const [inner, outer] = [elementOf(from), elementOf(to)];
    return value.map((item) => castValue(item, inner, outer, catalog));
  }
  if (typeof value === 'boolean' && integers.has(to)) return value ? 1 : 0;
  if (to === 'bool' && typeof value === 'number') return value !== 0;
  if (isTextType(to)) {
    const written = writeValue(value, from === 'bool' ? 'text' : from, catalog);
    return to === 'char' ? [...written].slice(0, 1).join('') : written;
  }
  if (typeof value === 'string') return readValue(value, to, catalog);
  return value;
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

/** Items by what they have in common, in the order in which each was met first. */
export function grouped<Item, Key>(items: readonly Item[], keyOfItem: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOfItem(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** A text that two values have in common if and only if they are equal, or both NULL. */
export const keyOf = (values: readonly Value[]): string => JSON.stringify(values);
