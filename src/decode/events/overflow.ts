/** Moves columns of a block of events into one column, where a dataset has no room for them. */

import { MapColumn } from '../../columnar/dictionary-columns.ts';
import { type BlockColumn, encodeTableBlock } from '../../columnar/native-block.ts';
import { NativeReader } from '../../columnar/native-reader.ts';
import type { ByteWriter } from '../../lib/byte-writer.ts';
import type { TableBlock } from '../../model/block.ts';
import { fieldColumnType, overflowColumn } from '../../model/column.ts';

/**
 * The block with the columns of these names in its map: of each row the values that are not null, as text
 * (numbers as JSON has them), by the names of their columns.
 * @param block of `EventColumns`; without a map of its own
 */
export function overflowColumns(block: TableBlock, excess: ReadonlySet<string>): TableBlock {
  if (excess.size === 0) return block;
  const { rows } = block;
  const reader = new NativeReader(block.bytes);
  const columns = reader.varint();
  reader.varint();
  const kept: BlockColumn[] = [];
  const moved: Moved[] = [];
  for (let index = 0; index < columns; index += 1) {
    const name = reader.string();
    const type = reader.string();
    if (!excess.has(name)) kept.push(new CopiedColumn(name, type, copyData(reader, type, rows)));
    else moved.push({ key: Buffer.from(name), values: readValues(reader, type, rows) });
  }
  return encodeTableBlock('events', [...kept, mapOf(moved, rows)], rows);
}

interface Moved {
  readonly key: Buffer;
  readonly values: Values;
}

/** The values of a nullable column, row by row. */
interface Values {
  readonly nulls: Uint8Array;
  /** Takes the text of the next row, also of one that is null. */
  next(row: number): Buffer;
}

function mapOf(moved: readonly Moved[], rows: number): MapColumn {
  const map = new MapColumn(overflowColumn.name, rows);
  const keys = moved.map(({ key }) => map.keys.key(key, 0, key.length));
  for (let row = 0; row < rows; row += 1) {
    for (const [index, { values }] of moved.entries()) {
      const text = values.next(row);
      if (values.nulls[row] === 0) map.appendValue(keys[index] as number, text, 0, text.length);
    }
    map.endRow();
  }
  return map;
}

/** A column whose data is there already. */
class CopiedColumn implements BlockColumn {
  readonly name: string;
  readonly type: string;
  readonly #data: Uint8Array;

  constructor(name: string, type: string, data: Uint8Array) {
    this.name = name;
    this.type = type;
    this.#data = data;
  }

  byteLength(): number {
    return this.#data.length;
  }

  writeTo(out: ByteWriter): void {
    out.copy(this.#data);
  }
}

const lowCardinality = 'LowCardinality(String)';

/** Bytes of a row in columns whose values have all the same length. */
const fixedWidths: Readonly<Record<string, number>> = {
  [fieldColumnType.num]: 9,
  [fieldColumnType.bool]: 2,
};

function copyData(reader: NativeReader, type: string, rows: number): Uint8Array {
  if (type.startsWith('DateTime64')) return reader.take(8 * rows);
  if (type === lowCardinality) return copyDictionary(reader, rows);
  if (type !== fieldColumnType.str) return reader.take((fixedWidths[type] ?? unknownType(type)) * rows);
  const nulls = reader.take(rows);
  const strings = reader.strings(rows);
  // They follow each other.
  return new Uint8Array(nulls.buffer, nulls.byteOffset, nulls.length + strings.length);
}

/** Of a column about the request (`constant-column.ts`): its prefix, its keys and a byte for each row. */
function copyDictionary(reader: NativeReader, rows: number): Uint8Array {
  const prefix = reader.take(2 * 8);
  reader.strings(reader.uint64());
  reader.uint64();
  const indexes = reader.take(rows);
  const { buffer, byteOffset } = prefix;
  return new Uint8Array(buffer, byteOffset, indexes.byteOffset + rows - byteOffset);
}

function readValues(reader: NativeReader, type: string, rows: number): Values {
  const nulls = reader.take(rows);
  if (type === fieldColumnType.bool) {
    const values = reader.take(rows);
    return { nulls, next: (row) => (values[row] === 1 ? trueText : falseText) };
  }
  if (type === fieldColumnType.num) {
    const values = reader.take(8 * rows);
    const view = new DataView(values.buffer, values.byteOffset, values.length);
    return { nulls, next: (row) => (nulls[row] === 0 ? numberText(view.getFloat64(8 * row, true)) : noText) };
  }
  if (type !== fieldColumnType.str) return unknownType(type);
  const strings = reader.strings(rows);
  const values = new NativeReader(strings);
  return { nulls, next: () => bufferOf(values.take(values.varint())) };
}

const noText = Buffer.alloc(0);
const trueText = Buffer.from('true');
const falseText = Buffer.from('false');

const numberText = (value: number): Buffer => Buffer.from(Object.is(value, -0) ? '-0' : String(value));

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);

function unknownType(type: string): never {
  throw new Error(`BUG: a block of events has a column of type ${type}`);
}
