import type { ColumnSpec } from './column.ts';
import type { TableName } from './dataset.ts';

/** A contiguous range of rows: [from, to), counted from 0. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Rows for one table, encoded once as a ClickHouse `Native` block and never parsed again: the decoder writes
 * it, the log keeps it, the store reads it.
 */
export interface TableBlock {
  readonly table: TableName;
  readonly rows: number;
  /** The columns in the block, in order. The table may have more; those take their defaults. */
  readonly columns: readonly ColumnSpec[];
  readonly bytes: Uint8Array;
}
