import type { RowRange } from '../../model/block.ts';
import type { ColumnSpec } from '../../model/column.ts';
import { type DatasetKind, tablesOfKind } from '../../model/dataset.ts';

/** What is known of rows that the store refused, as JSON beside the file that holds them. */
export interface DeadNote {
  readonly format: 1;
  readonly tenant: string;
  readonly dataset: string;
  readonly kind: DatasetKind;
  readonly database: string;
  readonly table: string;
  /** All columns that occur in any of the blocks. */
  readonly columns: readonly ColumnSpec[];
  readonly rows: number;
  /** Segment of the log that the rows came with. */
  readonly segment: number;
  /** Token of the batch that they were part of, and their places in it. */
  readonly batch: string;
  readonly ranges: readonly RowRange[];
  /** The token under which the rows are inserted when somebody retries them. */
  readonly token: string;
  /** ClickHouse's number and words. */
  readonly error: { readonly code: number | null; readonly message: string };
  /** When they were given up, RFC 3339. */
  readonly time: string;
}

export const noteText = (note: DeadNote): string => `${JSON.stringify(note, null, 2)}\n`;

/** Reads a note; undefined if the text is not a whole one. */
export function readNote(text: string): DeadNote | undefined {
  let note: Partial<DeadNote>;
  try {
    note = JSON.parse(text) as Partial<DeadNote>;
  } catch (error) {
    // It was cut off by a crash, so nothing has relied on it.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const complete =
    note.format === 1 &&
    typeof note.batch === 'string' &&
    typeof note.token === 'string' &&
    typeof note.kind === 'string' &&
    Object.hasOwn(tablesOfKind, note.kind) &&
    Array.isArray(note.ranges) &&
    Array.isArray(note.columns);
  return complete ? (note as DeadNote) : undefined;
}
