/**
 * Blocks in ClickHouse's `Native` format, as `FROM file(path, 'Native')` and
 * `INSERT … FORMAT Native` read them:
 *
 *     varint columns, varint rows, then for each column: string name, string type, the column's data
 *
 * Strings are a varint length and bytes; all integers are little-endian. The format is the column-oriented
 * form that the server itself sends, without the block info of the TCP protocol. Source:
 * https://clickhouse.com/docs/interfaces/formats/Native and `NativeReader.cpp` of ClickHouse.
 */
import { ByteWriter, varintLength } from '../lib/byte-writer.ts';
import type { TableBlock } from '../model/block.ts';
import type { ColumnSpec } from '../model/column.ts';
import type { TableName } from '../model/dataset.ts';

/** A column that is filled row by row and can be written as the data part of a block. */
export interface BlockColumn extends ColumnSpec {
  /** The result of `columnHead`, for columns that are written to very many blocks. */
  readonly head?: Uint8Array | undefined;
  /** The exact number of bytes that `writeTo` appends; `rows` is the number of rows in the block. */
  byteLength(rows: number): number;
  writeTo(out: ByteWriter, rows: number): void;
}

/**
 * Encodes a block into a buffer that owns its memory and has the exact size, so that it can be
 * transferred to a thread.
 */
export function encodeNativeBlock(columns: readonly BlockColumn[], rows: number): Buffer {
  let byteLength = varintLength(columns.length) + varintLength(rows);
  for (const column of columns) {
    byteLength += headLength(column) + column.byteLength(rows);
  }
  const out = new ByteWriter(byteLength);
  out.varint(columns.length);
  out.varint(rows);
  for (const column of columns) {
    if (column.head === undefined) writeHead(out, column);
    else out.copy(column.head);
    column.writeTo(out, rows);
  }
  if (out.length !== byteLength) {
    throw new Error(`BUG: a block of ${out.length} bytes was computed to take ${byteLength}`);
  }
  return out.view();
}

/** Names and types of columns, without their values. */
export const specsOf = (columns: readonly ColumnSpec[]): readonly ColumnSpec[] =>
  columns.map(({ name, type }) => ({ name, type }));

/**
 * A block with what the log and the store need to know about it.
 * @param specs of the columns
 */
export function encodeTableBlock(
  table: TableName,
  columns: readonly BlockColumn[],
  rows: number,
  specs: readonly ColumnSpec[] = specsOf(columns),
): TableBlock {
  return { table, rows, columns: specs, bytes: encodeNativeBlock(columns, rows) };
}

/** What precedes the values of a column in a block: its name and type. */
export function columnHead(column: ColumnSpec): Buffer {
  const out = new ByteWriter();
  writeHead(out, column);
  return out.view();
}

function writeHead(out: ByteWriter, { name, type }: ColumnSpec): void {
  out.string(name);
  out.string(type);
}

const headLength = ({ head, name, type }: BlockColumn): number =>
  head === undefined ? stringLength(name) + stringLength(type) : head.length;

function stringLength(text: string): number {
  const bytes = Buffer.byteLength(text);
  return varintLength(bytes) + bytes;
}
