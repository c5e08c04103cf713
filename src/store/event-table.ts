import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import type { ColumnSpec } from '../model/column.ts';
import { databaseOf, physicalTable } from '../model/dataset.ts';
import type { Store } from './store.ts';

/** The table of an events dataset, whose columns come with its events. */
interface EventDataset {
  readonly tenant: string;
  readonly name: string;
}

/**
 * Its columns in the store, in their order.
 * @throws StoreError
 */
export async function readEventColumns(store: Store, { tenant, name }: EventDataset): Promise<ColumnSpec[]> {
  const database = quoteString(databaseOf(tenant));
  const table = quoteString(physicalTable(name, 'events'));
  const bytes = await store.select(
    `SELECT name, type FROM system.columns WHERE database = ${database} AND table = ${table} ORDER BY position`,
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
 * Adds columns; those that are there stay as they are.
 * @throws StoreError
 */
export async function addEventColumns(
  store: Store,
  { tenant, name }: EventDataset,
  columns: readonly ColumnSpec[],
): Promise<void> {
  if (columns.length === 0) return;
  const added = columns.map(
    (column) => `ADD COLUMN IF NOT EXISTS ${quoteIdentifier(column.name)} ${column.type}`,
  );
  const table = `${quoteIdentifier(databaseOf(tenant))}.${quoteIdentifier(physicalTable(name, 'events'))}`;
  await store.command(`ALTER TABLE ${table} ${added.join(', ')}`);
}
