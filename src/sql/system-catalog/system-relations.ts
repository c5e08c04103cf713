import { metricParts } from '../metric-tables.ts';
import { withoutCatalog } from '../relation-names.ts';
import type { CatalogColumn } from './catalog-value.ts';
import { systemRelationList } from './system-relation-list.ts';

/** A relation of `pg_catalog` or `information_schema`: what it is, without rows. */
export interface SystemRelation {
  readonly schema: 'pg_catalog' | 'information_schema';
  readonly name: string;
  readonly oid: number;
  readonly kind: 'r' | 'v';
  readonly columns: readonly CatalogColumn[];
}

/** Types that their elements are not distinguished from here. */
const knownAs: Readonly<Record<string, string>> = {
  anyarray: 'text',
  bytea: 'text',
  pg_node_tree: 'text',
  pg_lsn: 'text',
  pg_ndistinct: 'text',
  pg_dependencies: 'text',
  pg_mcv_list: 'text',
  _pg_statistic: 'text',
  numeric: 'float8',
  float4: 'float8',
  _float4: '_float8',
  inet: 'text',
  _aclitem: '_text',
  _regtype: '_oid',
};

function readRelation(line: string): SystemRelation {
  const [head = '', columns = ''] = line.split(' | ');
  const [path = '', oid, kind] = head.split(' ');
  const [schema, name = ''] = path.split('.');
  return {
    schema: schema === 'pg_catalog' ? 'pg_catalog' : 'information_schema',
    name,
    oid: Number(oid),
    kind: kind === 'r' ? 'r' : 'v',
    columns: columns.split('; ').flatMap((group) => {
      const [type = '', names = ''] = group.split(': ');
      return names.split(' ').map((column) => ({ name: column, type: knownAs[type] ?? type }));
    }),
  };
}

/** PostgreSQL shows those with passwords to nobody but its superuser, whom there is not. */
const secret: ReadonlySet<string> = new Set(['pg_authid', 'pg_shadow']);

export const systemRelations: readonly SystemRelation[] = systemRelationList
  .trim()
  .replace(/\n\s+/g, ' ')
  .split('\n')
  .map(readRelation)
  .filter(({ name }) => !secret.has(name));

const byPath: ReadonlyMap<string, SystemRelation> = new Map(
  systemRelations.map((relation) => [`${relation.schema}.${relation.name}`, relation]),
);

const schemas: ReadonlySet<string> = new Set(['pg_catalog', 'information_schema']);
const partNames: ReadonlySet<string> = new Set(metricParts);

/**
 * Whether a path means a relation of the catalog, or one that the catalog does not have: nobody can make one
 * in its schemas. A dataset of metrics may have the name of such a schema; then its parts are meant.
 */
export function isCatalogPath(path: readonly string[]): boolean {
  const [schema = '', name, more] = withoutCatalog(path);
  if (findSystemRelation(path) !== undefined) return true;
  return name !== undefined && more === undefined && schemas.has(schema) && !partNames.has(name);
}

/** A relation that is named with its schema, or one of `pg_catalog`, which is looked into first, without. */
export function findSystemRelation(path: readonly string[]): SystemRelation | undefined {
  const [first = '', second, third] = withoutCatalog(path);
  if (third !== undefined) return undefined;
  return byPath.get(second === undefined ? `pg_catalog.${first}` : `${first}.${second}`);
}
