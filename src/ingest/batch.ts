import type { ColumnSpec } from '../model/column.ts';
import {
  type DatasetKind,
  databaseOf,
  physicalTable,
  type TableName,
  tablesOfKind,
} from '../model/dataset.ts';
import type { SealedSegment, SegmentRecord } from '../wal/segment.ts';
import type { Rows } from './rows.ts';

/** What one segment holds for one table. It becomes one insert. */
export interface TableBatch {
  readonly tenant: string;
  /** Its id. */
  readonly dataset: string;
  readonly kind: DatasetKind;
  /** Whether the id was presumed, of some of the records. */
  readonly presumed: boolean;
  readonly database: string;
  readonly table: string;
  /** The union of the blocks' columns, in order of first appearance. */
  readonly columns: readonly ColumnSpec[];
  readonly rows: number;
  /** The name of the dataset's table that is inserted first, `<database>.<table>`: this one follows it. */
  readonly lead: string;
  /** Where the blocks are: record and index of the block in it, in log order. */
  readonly parts: ReadonlyArray<{ readonly record: SegmentRecord; readonly index: number }>;
}

interface Growing extends TableBatch {
  readonly byName: Map<string, ColumnSpec>;
  /** Place among the tables of its dataset. */
  readonly order: number;
  readonly parts: Array<{ record: SegmentRecord; index: number }>;
  rows: number;
  presumed: boolean;
}

/**
 * Sorts a segment's blocks by table. A pure function of the segment, so that a repeat after a crash makes the
 * same batches.
 * @returns for each dataset, its tables in the order in which they are to be inserted
 */
export function batchesOf(segment: SealedSegment): TableBatch[] {
  const batches = new Map<string, Growing>();
  for (const record of segment.records) {
    const { tenant, dataset, kind, presumed = false, blocks } = record.header;
    for (const [index, block] of blocks.entries()) {
      const key = `${tenant}/${dataset}/${block.table}`;
      let batch = batches.get(key);
      if (batch === undefined) {
        batch = start(tenant, dataset, kind, block.table);
        batches.set(key, batch);
      }
      batch.presumed ||= presumed;
      batch.rows += block.rows;
      batch.parts.push({ record, index });
      for (const column of block.columns) {
        if (!batch.byName.has(column.name)) batch.byName.set(column.name, column);
      }
    }
  }
  const datasets = new Map<string, Growing[]>();
  for (const batch of batches.values()) {
    const key = `${batch.tenant}/${batch.dataset}`;
    datasets.set(key, [...(datasets.get(key) ?? []), batch]);
  }
  return [...datasets.values()].flatMap((tables) => tables.toSorted((a, b) => a.order - b.order).map(finish));
}

/** What a table is known by, unquoted. */
export const nameOf = ({ database, table }: Pick<TableBatch, 'database' | 'table'>): string =>
  `${database}.${table}`;

/** The same batch for another dataset. */
export const moved = (batch: TableBatch, dataset: string): TableBatch => ({
  ...batch,
  dataset,
  table: `${dataset}${batch.table.slice(batch.dataset.length)}`,
});

/** The rows of a batch whose records are in memory. */
export function batchRows(batch: TableBatch): Rows {
  const blocks = batch.parts.map(({ record, index }) => {
    const bytes = record.blocks?.[index];
    const header = record.header.blocks[index];
    if (bytes === undefined || header === undefined) {
      throw new Error('BUG: a record was not in memory at its insert');
    }
    return { rows: header.rows, columns: header.columns, bytes };
  });
  return { from: 0, to: batch.rows, blocks };
}

function start(tenant: string, dataset: string, kind: DatasetKind, table: TableName): Growing {
  const database = databaseOf(tenant);
  return {
    tenant,
    dataset,
    kind,
    presumed: false,
    database,
    table: physicalTable(dataset, table),
    lead: nameOf({ database, table: physicalTable(dataset, tablesOfKind[kind][0]) }),
    columns: [],
    byName: new Map(),
    order: (tablesOfKind[kind] as readonly TableName[]).indexOf(table),
    rows: 0,
    parts: [],
  };
}

const finish = ({ byName, order: _, ...batch }: Growing): TableBatch => ({
  ...batch,
  columns: [...byName.values()],
});
