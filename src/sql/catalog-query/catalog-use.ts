import type { Query } from '../ast.ts';
import { relationPaths } from '../relation-names.ts';
import { findSystemRelation } from '../system-catalog/system-relations.ts';
import { isCatalogFunction } from './catalog-functions.ts';
import { objectTypes } from './value-conversion.ts';

/** What a statement asks of the catalog. */
export interface CatalogUse {
  /** All of its relations are of the catalog, or it has none and calls a function of the catalog. */
  readonly isCatalogQuery: boolean;
  /** It may show columns of all tables. */
  readonly readsColumns: boolean;
}

const columnRelations: ReadonlySet<string> = new Set([
  'pg_attribute',
  'columns',
  'column_privileges',
  'role_column_grants',
]);

const columnFunctions: ReadonlySet<string> = new Set([
  'col_description',
  'has_column_privilege',
  'pg_get_serial_sequence',
]);

/** Looks at the tree of a query. */
export function catalogUse(query: Query): CatalogUse {
  const found = {
    ctes: new Set<string>(),
    calls: new Set<string>(),
    types: new Set<string>(),
    star: false,
    natts: false,
  };
  visit(query, found);
  const paths = relationPaths(query).filter(
    ([name = '', more]) => more !== undefined || !found.ctes.has(name),
  );
  const system = paths.filter((path) => findSystemRelation(path) !== undefined);
  const names = system.map((path) => path.at(-1) ?? '');
  const calls = [...found.calls];
  const asksCatalog =
    calls.some(isCatalogFunction) || [...found.types].some((type) => catalogTypes.has(type));
  const readsColumns =
    names.some((name) => columnRelations.has(name)) ||
    (names.includes('pg_class') && (found.natts || found.star)) ||
    calls.some((name) => columnFunctions.has(name));
  return {
    isCatalogQuery: system.length === paths.length && (system.length > 0 || asksCatalog),
    readsColumns,
  };
}

const catalogTypes: ReadonlySet<string> = new Set([
  ...objectTypes,
  'name',
  'char',
  'int2vector',
  'oidvector',
]);

interface Found {
  readonly ctes: Set<string>;
  readonly calls: Set<string>;
  readonly types: Set<string>;
  star: boolean;
  natts: boolean;
}

function visit(value: unknown, found: Found): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Map) {
    for (const each of value.values()) visit(each, found);
    return;
  }
  if ('recursive' in value && 'name' in value && typeof value.name === 'string') found.ctes.add(value.name);
  if ('kind' in value) {
    if (value.kind === 'star') found.star = true;
    if (value.kind === 'call' && 'name' in value && typeof value.name === 'string')
      found.calls.add(value.name);
    if (value.kind === 'column' && 'path' in value && Array.isArray(value.path))
      found.natts ||= value.path.at(-1) === 'relnatts';
  }
  if ('modifiers' in value && 'name' in value && typeof value.name === 'string') found.types.add(value.name);
  for (const each of Object.values(value)) visit(each, found);
}
