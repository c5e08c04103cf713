import type { Query } from '../ast.ts';
import { relationPaths } from '../relation-names.ts';
import { isCatalogPath } from '../system-catalog/system-relations.ts';
import { isCatalogFunction } from './catalog-functions.ts';
import { objectTypes } from './value-conversion.ts';

/**
 * Whether all relations of a query are of the catalog, or it has none and calls a function of the catalog.
 * One that names a relation which the catalog does not have is such a query, too.
 */
export function isCatalogQuery(query: Query): boolean {
  const found = { ctes: new Set<string>(), calls: new Set<string>(), types: new Set<string>() };
  visit(query, found);
  const paths = relationPaths(query).filter(
    ([name = '', more]) => more !== undefined || !found.ctes.has(name),
  );
  if (paths.length > 0) return paths.every(isCatalogPath);
  return [...found.calls].some(isCatalogFunction) || [...found.types].some((type) => catalogTypes.has(type));
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
}

function visit(value: unknown, found: Found): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Map) {
    for (const each of value.values()) visit(each, found);
    return;
  }
  if ('recursive' in value && 'name' in value && typeof value.name === 'string') found.ctes.add(value.name);
  if ('kind' in value && value.kind === 'call' && 'name' in value && typeof value.name === 'string')
    found.calls.add(value.name);
  if ('modifiers' in value && 'name' in value && typeof value.name === 'string') found.types.add(value.name);
  for (const each of Object.values(value)) visit(each, found);
}
