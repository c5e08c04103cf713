import { reservedWords } from '../syntax/reserved-words.ts';
import type { SystemCatalog } from '../system-catalog/system-catalog.ts';
import {
  type SystemType,
  systemFunctions,
  systemTypes,
  typesByName,
} from '../system-catalog/system-types.ts';
import { catalogError, noRelation } from './catalog-error.ts';

/**
 * Names of relations, types and other objects, as clients write them: `'public."My table"'::regclass`
 * (PostgreSQL's src/backend/utils/adt/regproc.c).
 */

/** Types whose values are object ids, written as names. */
export type ObjectType =
  | 'oid'
  | 'regclass'
  | 'regtype'
  | 'regproc'
  | 'regprocedure'
  | 'regnamespace'
  | 'regrole';

/** What is not quoted is in lower case. @returns undefined where a part is missing or not closed */
function parsePath(written: string): readonly string[] | undefined {
  const parts: string[] = [];
  let rest = written.trim();
  for (;;) {
    const length = rest.startsWith('"') ? quotedLength(rest) : plainLength(rest);
    if (length === 0) return undefined;
    const part = rest.slice(0, length);
    parts.push(part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part.toLowerCase());
    rest = rest.slice(length).trimStart();
    if (rest === '') return parts;
    if (!rest.startsWith('.')) return undefined;
    rest = rest.slice(1).trimStart();
  }
}

/** With both quotes; 0 if it is empty or not closed. */
function quotedLength(text: string): number {
  for (let at = text.indexOf('"', 1); at > 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at === 1 ? 0 : at + 1;
  return 0;
}

/** Up to a dot or a blank. */
function plainLength(text: string): number {
  let at = 0;
  while (at < text.length && text[at] !== '.' && !isBlank(text.charAt(at))) at += 1;
  return at;
}

const isBlank = (letter: string): boolean => letter.trim() === '';

/** The parts of a name, separated by dots. @throws AppError `sql_bad_value` */
export function readPath(written: string): readonly string[] {
  const parts = parsePath(written);
  if (parts === undefined) throw catalogError('invalid_name', 'invalid name syntax');
  return parts;
}

/** A name with at most a schema; a database in front of it must be this one. @throws AppError */
function readQualifiedName(
  written: string,
  kind: string,
  catalog: SystemCatalog,
): readonly [schema: string | undefined, name: string] {
  const path = readPath(written);
  if (path.length > 3)
    throw catalogError('syntax_error', `improper ${kind} name (too many dotted names): ${written}`);
  const [database] = path.length === 3 ? path : [];
  if (database !== undefined && database !== catalog.session.database)
    throw catalogError('feature_not_supported', `cross-database references are not implemented: ${written}`);
  return [path.at(-2), path.at(-1) ?? ''];
}

/** The object id of what is named, if it is there. @throws AppError for what is no name */
export function findObject(written: string, type: ObjectType, catalog: SystemCatalog): number | undefined {
  switch (type) {
    case 'regclass': {
      const [schema, name] = readQualifiedName(written, 'relation', catalog);
      return catalog.relationOid(schema === undefined ? [name] : [schema, name]);
    }
    case 'regtype':
      return findWrittenType(written)?.oid;
    case 'regproc':
    case 'regprocedure': {
      const open = written.indexOf('(');
      const [schema, name] = readQualifiedName(
        open < 0 ? written : written.slice(0, open),
        'function',
        catalog,
      );
      return schema === undefined || schema === 'pg_catalog' ? systemFunctions.get(name) : undefined;
    }
    case 'regnamespace': {
      const [name = '', more] = readPath(written);
      return more === undefined ? catalog.schemas.get(name) : undefined;
    }
    case 'regrole': {
      const [name = '', more] = readPath(written);
      return more === undefined ? catalog.roleOid(name) : undefined;
    }
    case 'oid':
      return undefined;
  }
}

/** @throws AppError as PostgreSQL does where there is nothing of this name */
export function requireObject(written: string, type: ObjectType, catalog: SystemCatalog): number {
  const found = findObject(written, type, catalog);
  if (found !== undefined) return found;
  switch (type) {
    case 'regclass': {
      const [schema] = readPath(written).slice(-2, -1);
      if (schema === undefined || catalog.schemas.has(schema)) throw noRelation(written);
      throw catalogError('invalid_schema_name', `schema "${schema}" does not exist`);
    }
    case 'regtype':
      throw catalogError('undefined_object', `type "${written}" does not exist`);
    case 'regnamespace':
      throw catalogError('invalid_schema_name', `schema "${written}" does not exist`);
    case 'regrole':
      throw catalogError('undefined_object', `role "${written}" does not exist`);
    default:
      throw catalogError('undefined_function', `function "${written}" does not exist`);
  }
}

/** Other names that the grammar of PostgreSQL has for types, beside those of `format_type`. */
const grammarNames: ReadonlyArray<readonly [string, string]> = [
  ['char', 'bpchar'],
  ['nchar', 'bpchar'],
  ['national character', 'bpchar'],
  ['char varying', 'varchar'],
  ['int', 'int4'],
  ['decimal', 'numeric'],
  ['dec', 'numeric'],
  ['float', 'float8'],
  ['timestamp', 'timestamp'],
  ['time', 'time'],
];

const typesByLabel: ReadonlyMap<string, SystemType> = new Map([
  ...systemTypes
    .filter(({ label }) => !label.startsWith('"') && !label.endsWith(']'))
    .map((type) => [type.label, type] as const)
    .toReversed(),
  ...grammarNames.flatMap(([label, name]) => {
    const type = typesByName.get(name);
    return type === undefined ? [] : [[label, type] as const];
  }),
]);

/**
 * A type as it is written in SQL: `integer`, `pg_catalog.int4`, `"char"`, `varchar(20)`, `text[]`.
 * @throws AppError for what cannot be a type
 */
export function findWrittenType(written: string): SystemType | undefined {
  let text = written.trim();
  let isArray = false;
  while (text.endsWith(']')) {
    isArray = true;
    text = text.slice(0, Math.max(0, text.lastIndexOf('['))).trimEnd();
  }
  const [open, close] = [text.indexOf('('), text.indexOf(')')];
  if (open >= 0 && close > open) text = `${text.slice(0, open).trimEnd()}${text.slice(close + 1)}`;
  if (text === '') throw catalogError('syntax_error', `invalid type name "${written}"`);
  if (!isNameStart(text)) throw catalogError('syntax_error', `syntax error at or near "${text}"`);
  const type = findPlainType(text);
  return isArray ? typesByName.get(`_${type?.name ?? ''}`) : type;
}

const isNameStart = (text: string): boolean => /^["_a-z\u0080-\uffff]/i.test(text);

function findPlainType(text: string): SystemType | undefined {
  const label = text.toLowerCase().split(' ').filter(Boolean).join(' ');
  const known = typesByLabel.get(label);
  if (known !== undefined) return known;
  const path = parsePath(text);
  if (path === undefined || path.length > 2) return undefined;
  const [schema] = path.length === 2 ? path : ['pg_catalog'];
  return schema === 'pg_catalog' ? typesByName.get(path.at(-1) ?? '') : undefined;
}

/**
 * `parse_ident`: identifiers as the grammar has them, separated by dots.
 * @param isStrict whether something may follow
 * @throws AppError `sql_bad_value`
 */
export function parseIdentifiers(written: string, isStrict: boolean): readonly string[] {
  const wrong = (): Error =>
    catalogError('invalid_parameter_value', `string is not a valid identifier: "${written}"`);
  const parts: string[] = [];
  let rest = written.trimStart();
  for (;;) {
    const quoted = /^"((?:[^"]|"")*)"/.exec(rest);
    const plain = /^[_a-z\u0080-\uffff][\w$\u0080-\uffff]*/i.exec(rest);
    if (quoted === null && plain === null) throw wrong();
    const part = quoted === null ? (plain?.[0] ?? '').toLowerCase() : (quoted[1] ?? '').replaceAll('""', '"');
    if (part === '') throw wrong();
    parts.push(part);
    rest = rest.slice((quoted ?? plain)?.[0].length).trimStart();
    if (!rest.startsWith('.')) break;
    rest = rest.slice(1).trimStart();
  }
  if (isStrict && rest !== '') throw wrong();
  return parts;
}

/** An identifier as it has to be written. */
export const quoteIdent = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) && !reservedWords.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
