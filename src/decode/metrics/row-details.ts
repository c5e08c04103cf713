import type { BlockColumn } from '../../columnar/native-block.ts';

/** Columns that the rows of a table have beside those that every decoder fills. */
export interface RowDetails {
  readonly columns: readonly BlockColumn[];
  /** Appends the row under way. */
  append(): void;
  /** Bytes of all rows, those of fixed width left out. */
  byteLength(): number;
}
