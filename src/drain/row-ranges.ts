import { UnreadableBlock } from '../columnar/native-reader.ts';
import { sliceNativeBlock } from '../columnar/native-slice.ts';
import type { RowRange } from '../model/block.ts';
import type { ColumnSpec } from '../model/column.ts';

export interface BlockOfRows {
  readonly rows: number;
  readonly columns: readonly ColumnSpec[];
  readonly bytes: Uint8Array;
}

/** Some rows of a batch that follow each other, and their places in it. */
export interface Rows extends RowRange {
  readonly blocks: readonly BlockOfRows[];
}

/**
 * The part of `rows` in the range, which lies within.
 * @throws UnreadableBlock if a block cannot be cut where the range begins or ends
 */
export function takeRows(rows: Rows, { from, to }: RowRange): Rows {
  const blocks: BlockOfRows[] = [];
  let start = rows.from;
  for (const block of rows.blocks) {
    const first = Math.max(from, start) - start;
    const last = Math.min(to, start + block.rows) - start;
    if (first === 0 && last === block.rows) blocks.push(block);
    else if (first < last) {
      const bytes = sliceNativeBlock(block.bytes, block.rows, first, last);
      blocks.push({ ...block, rows: last - first, bytes });
    }
    start += block.rows;
  }
  return { from, to, blocks };
}

/**
 * Two halves: of the blocks if there are several, else of the rows. Undefined for what cannot be cut further.
 */
export function halveRows(rows: Rows): readonly [Rows, Rows] | undefined {
  const { from, to, blocks } = rows;
  let middle = from + Math.floor((to - from) / 2);
  if (blocks.length > 1) {
    const half = Math.floor(blocks.length / 2);
    middle = from + blocks.slice(0, half).reduce((sum, block) => sum + block.rows, 0);
  }
  if (middle === from || middle === to) return undefined;
  try {
    return [takeRows(rows, { from, to: middle }), takeRows(rows, { from: middle, to })];
  } catch (error) {
    if (error instanceof UnreadableBlock) return undefined;
    throw error;
  }
}

/** What is left of the rows without these ranges. */
export function withoutRows(rows: Rows, ranges: readonly RowRange[]): Rows[] {
  const left: Rows[] = [];
  let from = rows.from;
  for (const range of [...ranges.toSorted((a, b) => a.from - b.from), { from: rows.to, to: rows.to }]) {
    if (range.from > from) left.push(takeRows(rows, { from, to: range.from }));
    from = Math.max(from, range.to);
  }
  return left;
}

export const countRows = (rows: readonly Rows[]): number =>
  rows.reduce((sum, { from, to }) => sum + to - from, 0);

export const blocksOf = (rows: readonly Rows[]): Uint8Array[] =>
  rows.flatMap(({ blocks }) => blocks.map(({ bytes }) => bytes));
