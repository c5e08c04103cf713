import { eventTimeColumn } from '../../model/column.ts';
import type { OutputColumn } from '../ir.ts';
import { catalogName, publicSchema, withoutCatalog } from '../relation-names.ts';
import { int4, type SqlType, text, typeLabel } from '../types.ts';
import type { Environment } from './environment.ts';
import { partsOf, relationsOf } from './relations.ts';

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
}

interface CatalogTableColumns extends CatalogTable {
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
  if (name === 'tables') return tablesRelation(tablesOf(env));
  return name === 'columns' ? columnsRelation(withColumns(env)) : undefined;
}

/** Listed once, however often a query reads them. */
const listed = new WeakMap<Environment, readonly CatalogTable[]>();
const listedColumns = new WeakMap<Environment, readonly CatalogTableColumns[]>();

function tableOf(dataset: string, part: string | undefined): CatalogTable {
  if (part === undefined) return { schema: publicSchema, name: dataset, type: 'BASE TABLE' };
  return { schema: dataset, name: part, type: 'VIEW' };
}

function tablesOf(env: Environment): readonly CatalogTable[] {
  const before = listed.get(env);
  if (before !== undefined) return before;
  const tables = env.catalog
    .readable()
    .flatMap(({ name, kind }) => partsOf(kind).map((part) => tableOf(name, part)));
  listed.set(env, tables);
  return tables;
}

function withColumns(env: Environment): readonly CatalogTableColumns[] {
  const before = listedColumns.get(env);
  if (before !== undefined) return before;
  const tables = env.catalog
    .datasets()
    .flatMap((dataset) =>
      relationsOf(dataset).map(({ part, columns }) => ({ ...tableOf(dataset.name, part), columns })),
    );
  listedColumns.set(env, tables);
  return tables;
}

const textColumns = (names: readonly string[]): readonly OutputColumn[] =>
  names.map((name) => ({ name, type: text }));

const tablesRelation = (tables: readonly CatalogTable[]): CatalogRelation => ({
  columns: textColumns(['table_catalog', 'table_schema', 'table_name', 'table_type']),
  rows: tables.map(({ schema, name, type }) => [catalogName, schema, name, type]),
});

const columnsRelation = (tables: readonly CatalogTableColumns[]): CatalogRelation => ({
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
