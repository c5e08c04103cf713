import type { TableBlock } from '../../../src/model/block.ts';

/** 64-bit integers and times as decimal text, doubles as text that tells -0 from 0, maps as pairs. */
export type NativeValue = string | number | readonly NativeValue[];
export type NativeRow = Readonly<Record<string, NativeValue>>;

/**
 * Reads `Native` blocks without the engine, for tests that look at very many small ones. It shares no code
 * with the writer; that the engine reads the blocks in the same way is tested with the engine.
 */
export function nativeRows(block: TableBlock): NativeRow[] {
  const cursor = new Cursor(block.bytes);
  const columns = cursor.varint();
  const count = cursor.varint();
  const rows: Record<string, NativeValue>[] = Array.from({ length: count }, () => ({}));
  for (let column = 0; column < columns; column++) {
    const name = cursor.text();
    const type = cursor.text();
    if (type.includes('LowCardinality')) cursor.uint64();
    const values = readColumn(cursor, type, count);
    for (const [index, row] of rows.entries()) row[name] = values[index] ?? 'missing';
  }
  if (!cursor.atEnd) throw new Error('Bytes follow the block');
  return rows;
}

/** The text of a double: `String` would make -0 and 0 the same. */
export const doubleText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

class Cursor {
  readonly #view: DataView;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#view.getUint8(this.#at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  text(): string {
    const length = this.varint();
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  uint64(): number {
    return Number(this.bigUint64());
  }

  bigUint64(): bigint {
    this.#at += 8;
    return this.#view.getBigUint64(this.#at - 8, true);
  }

  /** A value of a fixed width; undefined if the type is none. */
  fixed(type: string): NativeValue | undefined {
    const at = this.#at;
    const take = (bytes: number, value: NativeValue): NativeValue => {
      this.#at = at + bytes;
      return value;
    };
    const view = this.#view;
    if (type === 'UInt8' || type === 'Bool') return take(1, view.getUint8(at));
    if (type === 'Int8') return take(1, view.getInt8(at));
    if (type === 'Date') return take(2, view.getUint16(at, true));
    if (type === 'UInt32') return take(4, view.getUint32(at, true));
    if (type === 'Int32') return take(4, view.getInt32(at, true));
    if (type === 'UInt64') return take(8, String(view.getBigUint64(at, true)));
    if (type === 'Float64') return take(8, doubleText(view.getFloat64(at, true)));
    if (type === 'Int64' || type.startsWith('DateTime64')) return take(8, String(view.getBigInt64(at, true)));
    return undefined;
  }
}

const times = <T>(count: number, read: () => T): T[] => Array.from({ length: count }, read);

function readColumn(cursor: Cursor, type: string, count: number): readonly NativeValue[] {
  if (type === 'String') return times(count, () => cursor.text());
  const inner = /^(Array|LowCardinality|Map|Nullable)\((.*)\)$/.exec(type);
  // The version of the dictionary's layout stands before all of the column.
  if (inner?.[1] === 'LowCardinality') return readDictionary(cursor, count);
  if (inner?.[1] === 'Nullable') {
    const isNull = times(count, () => cursor.fixed('Bool') === 1);
    const values = readColumn(cursor, inner[2] ?? '', count);
    return values.map((value, row) => (isNull[row] === true ? 'null' : value));
  }
  if (inner?.[1] === 'Array') {
    const ends = times(count, () => cursor.uint64());
    return split(ends, readColumn(cursor, inner[2] ?? '', ends.at(-1) ?? 0));
  }
  if (type === 'Map(LowCardinality(String), String)') {
    const ends = times(count, () => cursor.uint64());
    const keys = readDictionary(cursor, ends.at(-1) ?? 0);
    const pairs = keys.map((key) => [key, cursor.text()]);
    return split(ends, pairs);
  }
  return times(count, () => {
    const value = cursor.fixed(type);
    if (value === undefined) throw new Error(`No reader for the type ${type}`);
    return value;
  });
}

function readDictionary(cursor: Cursor, count: number): readonly string[] {
  if (count === 0) return [];
  const indexBytes = 2 ** Number(cursor.bigUint64() & 0xffn);
  const keys = times(cursor.uint64(), () => cursor.text());
  if (cursor.uint64() !== count) throw new Error('A dictionary does not fit its rows');
  const type = indexBytes === 1 ? 'UInt8' : indexBytes === 2 ? 'Date' : 'UInt32';
  return times(count, () => {
    const key = keys[Number(cursor.fixed(type))];
    if (key === undefined) throw new Error('An index beyond the dictionary');
    return key;
  });
}

const split = (ends: readonly number[], elements: readonly NativeValue[]): NativeValue[] =>
  ends.map((end, row) => elements.slice(row === 0 ? 0 : ends[row - 1], end));
