import type { ReadableDataset, SqlCatalog, SqlDataset } from '../sql-catalog.ts';
import {
  type KnownTables,
  knownTables,
  publicSchema,
  type TableColumn,
  tableColumns,
  type VisibleData,
  type VisibleTable,
} from '../system-catalog/system-catalog.ts';
import { partsOf, relationsOf } from './relations.ts';

/**
 * The relations of the datasets that a query may read; their columns are looked for when they are needed.
 * What is made of the same datasets is made once: clients ask for the catalog in several statements.
 */
export const visibleData = (catalog: SqlCatalog): VisibleData => ({
  tables: () => tablesOf(catalog.readable()),
  columns: ({ dataset, part }) => {
    const found = catalog.dataset(dataset);
    return found === undefined ? [] : (columnsOf(found)[part] ?? []);
  },
  requireAllColumns: () => {
    catalog.datasets();
  },
  sizes: () => catalog.sizes(),
});

const tables = new WeakMap<readonly ReadableDataset[], KnownTables>();

function tablesOf(datasets: readonly ReadableDataset[]): KnownTables {
  const known = tables.get(datasets);
  if (known !== undefined) return known;
  const made = knownTables(
    datasets.flatMap(({ name, kind }) =>
      partsOf(kind).map((part, index): VisibleTable => {
        const common = { dataset: name, part: index };
        if (part === undefined) return { ...common, schema: publicSchema, name, kind: 'r' };
        return { ...common, schema: name, name: part, kind: 'v' };
      }),
    ),
  );
  tables.set(datasets, made);
  return made;
}

type Parts = readonly (readonly TableColumn[])[];

/** By the fields, which are the same object as long as the columns are the same. */
const columns = new WeakMap<SqlDataset['fields'], Parts>();

/** Of each relation of a dataset. */
function columnsOf(dataset: SqlDataset): Parts {
  const known = columns.get(dataset.fields);
  if (known !== undefined) return known;
  const made = relationsOf(dataset).map((relation) => tableColumns(relation.columns));
  columns.set(dataset.fields, made);
  return made;
}
