import type { ColumnSpec } from '../model/column.ts';
import { type DatasetKind, databaseOf, physicalTable, type TableName } from '../model/dataset.ts';
import type { SealedSegment, SegmentRecord } from '../wal/segment.ts';

/** What one segment holds for one table. It becomes one insert. */
export interface TableBatch {
  readonly tenant: string;
  readonly dataset: string;
  readonly kind: DatasetKind;
  readonly database: string;
  readonly table: string;
  /** The union of the blocks' columns, in order of first appearance. */
  readonly columns: readonly ColumnSpec[];
  readonly rows: number;
  /** Where the blocks are: record and index of the block in it, in log order. */
  readonly parts: ReadonlyArray<{ readonly record: SegmentRecord; readonly index: number }>;
}

interface Growing extends TableBatch {
  readonly byName: Map<string, ColumnSpec>;
  readonly parts: Array<{ record: SegmentRecord; index: number }>;
  rows: number;
}

/**
 * Sorts a segment's blocks by table. A pure function of the segment, so that a repeat after a crash makes the
 * same batches.
 */
export function batchesOf(segment: SealedSegment): TableBatch[] {
  const batches = new Map<string, Growing>();
  for (const record of segment.records) {
    const { tenant, dataset, kind, blocks } = record.header;
    for (const [index, block] of blocks.entries()) {
      const key = `${tenant}/${dataset}/${block.table}`;
      let batch = batches.get(key);
      if (batch === undefined) {
        batch = start(tenant, dataset, kind, block.table);
        batches.set(key, batch);
      }
      batch.rows += block.rows;
      batch.parts.push({ record, index });
      for (const column of block.columns) {
        if (!batch.byName.has(column.name)) batch.byName.set(column.name, column);
      }
    }
  }
  return [...batches.values()].map(({ byName, ...batch }) => ({ ...batch, columns: [...byName.values()] }));
}

const start = (tenant: string, dataset: string, kind: DatasetKind, table: TableName): Growing => ({
  tenant,
  dataset,
  kind,
  database: databaseOf(tenant),
  table: physicalTable(dataset, table),
  columns: [],
  byName: new Map(),
  rows: 0,
  parts: [],
});
