import { selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { unusedColumnComment } from '../clickhouse/table-definitions.ts';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import type { ColumnSpec } from '../model/column.ts';
import { databaseOf, physicalTable } from '../model/dataset.ts';
import { type DatasetOptions, keyColumns, searchedColumns } from '../model/dataset-options.ts';
import { searchIndex } from '../model/text-search.ts';
import { type Entry, learn } from './dataset-entry.ts';
import type { RegisteredDataset } from './dataset-registry.ts';

/** The table of an events dataset. Its columns are added as events need them. */
interface EventDataset {
  readonly tenant: string;
  readonly id: string;
}

/**
 * The columns in the store that may hold values, in order. The table must exist.
 * @throws StoreError
 */
export async function readEventColumns(store: Store, table: EventDataset): Promise<readonly ColumnSpec[]> {
  type Row = [name: string, type: string, defaultKind: string, defaultValue: string, comment: string];
  const rows = await selectRows<Row>(store, `DESCRIBE TABLE ${tableOf(table)}`);
  return rows
    .filter(([, , , , comment]) => comment !== unusedColumnComment)
    .map(([name, type]) => ({ name, type }));
}

/**
 * Reads the columns of all events datasets in one query. Other kinds have fixed columns.
 * @throws StoreError
 */
export async function readColumns(
  store: Store,
  datasets: readonly RegisteredDataset[],
): Promise<Array<readonly [RegisteredDataset, readonly ColumnSpec[]]>> {
  const tables = datasets.filter(({ kind }) => kind === 'events');
  const columns = await readAllEventColumns(store, tables);
  return datasets.map((dataset) => [dataset, columns.get(nameOf(dataset)) ?? []]);
}

const nameOf = ({ tenant, id }: EventDataset): string =>
  `${databaseOf(tenant)}/${physicalTable(id, 'events')}`;

const tableOf = ({ tenant, id }: EventDataset): string =>
  `${quoteIdentifier(databaseOf(tenant))}.${quoteIdentifier(physicalTable(id, 'events'))}`;

/** @returns the columns of the tables that exist, by `nameOf`, in order */
async function readAllEventColumns(
  store: Store,
  tables: readonly EventDataset[],
): Promise<ReadonlyMap<string, readonly ColumnSpec[]>> {
  if (tables.length === 0) return new Map();
  const wanted = new Set(tables.map(nameOf));
  const listOf = (names: readonly string[]) => [...new Set(names)].map(quoteString).join(', ');
  const databases = listOf(tables.map(({ tenant }) => databaseOf(tenant)));
  const names = listOf(tables.map(({ id }) => physicalTable(id, 'events')));
  const found = await selectRows<[name: string, columns: Array<[number, string, string]>]>(
    store,
    `SELECT concat(database, '/', table), arraySort(groupArray((position, name, type))) FROM system.columns
     WHERE database IN (${databases}) AND table IN (${names}) AND comment != ${quoteString(unusedColumnComment)}
     GROUP BY database, table`,
  );
  return new Map(
    found
      .filter(([name]) => wanted.has(name))
      .map(([name, columns]) => [name, columns.map(([, column, type]) => ({ name: column, type }))]),
  );
}

/**
 * Adds the columns that are not known to exist or to be in use.
 * @param options those of the dataset: its key columns are there already; a searched column gets an index
 * @returns whether there were any
 * @throws StoreError
 */
export async function addEventColumns(
  store: Store,
  entry: Entry,
  columns: readonly ColumnSpec[],
  options: DatasetOptions | undefined,
): Promise<boolean> {
  const missing = columns.filter((column) => !entry.columns.has(column.name));
  if (missing.length === 0) return false;
  const keyNames = new Set(keyColumns(options).map(({ name }) => name));
  const searchedNames = new Set(searchedColumns(options));
  const added = missing.flatMap((column) => {
    const name = quoteIdentifier(column.name);
    const add = `ADD COLUMN IF NOT EXISTS ${name} ${column.type}`;
    return [
      add,
      ...(keyNames.has(column.name) ? [`COMMENT COLUMN ${name} ''`] : []),
      ...(searchedNames.has(column.name) ? [`ADD INDEX IF NOT EXISTS ${searchIndex(column.name)}`] : []),
    ];
  });
  await store.command(`ALTER TABLE ${tableOf(entry)} ${added.join(', ')}`);
  learn(entry, missing);
  return true;
}
