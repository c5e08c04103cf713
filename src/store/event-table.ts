import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import type { ColumnSpec } from '../model/column.ts';
import { databaseOf, physicalTable } from '../model/dataset.ts';
import { type Entry, learn } from './dataset-entry.ts';
import type { RegisteredDataset } from './datasets.ts';
import { unusedColumnComment } from './schema.ts';
import type { Store } from './store.ts';

/** The table of an events dataset, whose columns come with its events. */
interface EventDataset {
  readonly tenant: string;
  readonly id: string;
}

/**
 * Its columns in the store that may hold values, in their order.
 * @throws StoreError
 */
export async function readEventColumns(store: Store, { tenant, id }: EventDataset): Promise<ColumnSpec[]> {
  const database = quoteString(databaseOf(tenant));
  const table = quoteString(physicalTable(id, 'events'));
  const bytes = await store.select(
    `SELECT name, type FROM system.columns WHERE database = ${database} AND table = ${table}
     AND comment != ${quoteString(unusedColumnComment)} ORDER BY position`,
    'JSONCompactEachRow',
  );
  const lines = Buffer.from(bytes).toString('utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [column, type] = JSON.parse(line) as [string, string];
      return { name: column, type };
    });
}

/**
 * Datasets with their columns in the store; those of other kinds have none that are worth reading.
 * @throws StoreError
 */
export async function readColumns(
  store: Store,
  datasets: readonly RegisteredDataset[],
): Promise<Array<readonly [RegisteredDataset, readonly ColumnSpec[]]>> {
  const read: Array<readonly [RegisteredDataset, readonly ColumnSpec[]]> = [];
  for (const dataset of datasets) {
    read.push([dataset, dataset.kind === 'events' ? await readEventColumns(store, dataset) : []]);
  }
  return read;
}

/**
 * Adds those of the columns that are not known to be there, or to be used.
 * @param key columns that the table has had from the beginning
 * @returns whether there were any
 * @throws StoreError
 */
export async function addEventColumns(
  store: Store,
  entry: Entry,
  columns: readonly ColumnSpec[],
  key: readonly ColumnSpec[],
): Promise<boolean> {
  const missing = columns.filter((column) => !entry.columns.has(column.name));
  if (missing.length === 0) return false;
  const isKey = ({ name }: ColumnSpec): boolean => key.some((column) => column.name === name);
  const added = missing.flatMap((column) => {
    const name = quoteIdentifier(column.name);
    const add = `ADD COLUMN IF NOT EXISTS ${name} ${column.type}`;
    return isKey(column) ? [add, `COMMENT COLUMN ${name} ''`] : [add];
  });
  const { tenant, id } = entry;
  const table = `${quoteIdentifier(databaseOf(tenant))}.${quoteIdentifier(physicalTable(id, 'events'))}`;
  await store.command(`ALTER TABLE ${table} ${added.join(', ')}`);
  learn(entry, missing);
  return true;
}
