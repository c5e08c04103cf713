import { eventTimeColumn } from '../../model/column.ts';
import type { OutputColumn } from '../ir.ts';
import { catalogName, publicSchema, withoutCatalog } from '../relation-names.ts';
import { int4, type SqlType, text, typeLabel } from '../types.ts';
import type { Environment } from './environment.ts';
import { relationsOf } from './relations.ts';

/** A cell of a relation that is made of the catalog. */
export type CatalogCell = string | number | null;

/** A relation whose rows are known when a query is translated. */
export interface CatalogRelation {
  readonly columns: readonly OutputColumn[];
  readonly rows: readonly (readonly CatalogCell[])[];
}

interface CatalogTable {
  readonly schema: string;
  readonly name: string;
  readonly type: 'BASE TABLE' | 'VIEW';
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
}

/**
 * `information_schema.tables` and `.columns`, of the datasets that the query may read, as far as their
 * columns are known: labels, attributes and the like are columns, too, but nobody has listed them.
 * @returns undefined for any other path
 */
export function informationSchema(path: readonly string[], env: Environment): CatalogRelation | undefined {
  const [schema, name = '', ...more] = withoutCatalog(path);
  if (schema !== 'information_schema' || more.length > 0) return undefined;
  const make = name === 'tables' ? tablesRelation : name === 'columns' ? columnsRelation : undefined;
  return make?.(tablesOf(env));
}

const known = new WeakMap<Environment, readonly CatalogTable[]>();

/** Listed once, however often a query reads them. */
function tablesOf(env: Environment): readonly CatalogTable[] {
  const before = known.get(env);
  if (before !== undefined) return before;
  const tables = env.catalog.names().flatMap((dataset) => {
    const found = env.dataset(dataset);
    if (found === undefined) return [];
    return relationsOf(found).map(({ part, columns }): CatalogTable => {
      if (part === undefined) return { schema: publicSchema, name: dataset, type: 'BASE TABLE', columns };
      return { schema: dataset, name: part, type: 'VIEW', columns };
    });
  });
  known.set(env, tables);
  return tables;
}

const textColumns = (names: readonly string[]): readonly OutputColumn[] =>
  names.map((name) => ({ name, type: text }));

const tablesRelation = (tables: readonly CatalogTable[]): CatalogRelation => ({
  columns: textColumns(['table_catalog', 'table_schema', 'table_name', 'table_type']),
  rows: tables.map(({ schema, name, type }) => [catalogName, schema, name, type]),
});

const columnsRelation = (tables: readonly CatalogTable[]): CatalogRelation => ({
  columns: [
    ...textColumns(['table_catalog', 'table_schema', 'table_name', 'column_name']),
    { name: 'ordinal_position', type: int4 },
    ...textColumns(['column_default', 'is_nullable', 'data_type']),
  ],
  rows: tables.flatMap(({ schema, name, columns }) =>
    columns.map((column, index) => [
      catalogName,
      schema,
      name,
      column.name,
      index + 1,
      null,
      timeColumns.has(column.name) ? 'NO' : 'YES',
      // A field that has had values of several types is shown as text.
      column.type.name === 'mixed' ? typeLabel(text) : typeLabel(column.type),
    ]),
  ),
});

const timeColumns: ReadonlySet<string> = new Set([eventTimeColumn.name, 'timestamp']);
