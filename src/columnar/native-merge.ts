/**
 * Merges several blocks in the `Native` format with the same columns into one that has all
 * their rows, in order.
 *
 * Nothing is decoded: values are copied, end offsets of arrays are shifted, and dictionary indexes are mapped
 * to the merged dictionary. A block whose meaning could change is refused and stays a block of its own: one
 * with an index out of range, or with end offsets that do not ascend.
 */
import { ByteWriter } from '../lib/byte-writer.ts';
import type { ColumnSpec } from '../model/column.ts';
import { NativeReader, UnreadableBlock } from './native-reader.ts';
import { type NativeType, nativeType } from './native-types.ts';

export interface CountedBlock {
  readonly rows: number;
  readonly bytes: Uint8Array;
}

/** A block that is being read, column by column in step with the others. */
interface Source {
  readonly reader: NativeReader;
  /** The number of values of the part that is being read. */
  readonly count: number;
}

/**
 * @param columns the columns of each block, in order
 * @throws UnreadableBlock if a block does not consist of these columns or cannot be merged
 */
export function mergeNativeBlocks(blocks: readonly CountedBlock[], columns: readonly ColumnSpec[]): Buffer {
  const out = new ByteWriter(blocks.reduce((sum, { bytes }) => sum + bytes.length, 0));
  const sources = blocks.map(({ rows, bytes }): Source => ({ reader: new NativeReader(bytes), count: rows }));
  out.varint(columns.length);
  out.varint(sources.reduce((sum, { count }) => sum + count, 0));
  for (const { reader, count } of sources) {
    if (reader.varint() !== columns.length || reader.varint() !== count) {
      throw new UnreadableBlock('the block has not the size that it should have');
    }
  }
  for (const { name, type } of columns) mergeColumn(sources, out, name, type);
  for (const { reader } of sources) {
    if (reader.remaining > 0) throw new UnreadableBlock(`${reader.remaining} bytes follow the block`);
  }
  return out.view();
}

function mergeColumn(sources: readonly Source[], out: ByteWriter, name: string, type: string): void {
  const start = out.length;
  out.string(name);
  out.string(type);
  const head = out.buffer.subarray(start, out.length);
  for (const { reader } of sources) {
    if (Buffer.compare(reader.take(head.length), head) !== 0) {
      throw new UnreadableBlock(`the block has another column in the place of ${name}`);
    }
  }
  const layout = nativeType(type);
  mergePrefix(layout, sources, out);
  mergeData(layout, sources, out);
}

/** Writes the prefix of each dictionary in the column, once. */
function mergePrefix(type: NativeType, sources: readonly Source[], out: ByteWriter): void {
  if (type.kind === 'list') for (const part of type.parts) mergePrefix(part, sources, out);
  if (type.kind === 'nullable') mergePrefix(type.values, sources, out);
  if (type.kind !== 'dictionary') return;
  const versions = new Set(sources.map(({ reader }) => reader.uint64()));
  const [version] = versions;
  if (version === undefined || versions.size > 1)
    throw new UnreadableBlock('dictionaries of several versions');
  out.uint64(version);
}

function mergeData(type: NativeType, sources: readonly Source[], out: ByteWriter): void {
  switch (type.kind) {
    case 'fixed':
      for (const { reader, count } of sources) out.copy(reader.take(type.width * count));
      break;
    case 'string':
      for (const { reader, count } of sources) out.copy(reader.strings(count));
      break;
    case 'nullable':
      for (const { reader, count } of sources) out.copy(reader.take(count));
      mergeData(type.values, sources, out);
      break;
    case 'list':
      mergeLists(type.parts, sources, out);
      break;
    case 'dictionary':
      if (type.hasNull || type.keys.kind !== 'string') throw new UnreadableBlock('keys that are no strings');
      mergeDictionaries(sources, out);
  }
}

function mergeLists(parts: readonly NativeType[], sources: readonly Source[], out: ByteWriter): void {
  let before = 0;
  const elements = sources.map(({ reader, count }): Source => {
    const end = moveEnds(reader.take(8 * count), before, out);
    const found = { reader, count: end - before };
    before = end;
    return found;
  });
  for (const part of parts) mergeData(part, elements, out);
}

/**
 * Writes end offsets of arrays, increased by `before`.
 * @returns the last one
 */
function moveEnds(ends: Uint8Array, before: number, out: ByteWriter): number {
  const view = new DataView(ends.buffer, ends.byteOffset, ends.byteLength);
  const halves = new Uint32Array(ends.length / 4);
  let last = before;
  for (let at = 0; at < halves.length; at += 2) {
    const end = before + view.getUint32(4 * at, true);
    if (end < last || end > 0xffff_ffff || view.getUint32(4 * at + 4, true) !== 0) {
      throw new UnreadableBlock('the rows of an array or map do not follow each other');
    }
    halves[at] = end;
    last = end;
  }
  // All supported platforms are little-endian, like the format.
  out.copy(new Uint8Array(halves.buffer));
  return last;
}

/**
 * The block has its own keys, which replace earlier ones (`string-dictionary.ts`). The lowest
 * byte is the index width.
 */
const keysInBlock = 0x600;
/** By index width. */
const indexArrays = [Uint8Array, Uint16Array, Uint32Array] as const;

/** The indexes of a block into its own keys, and the position of each key in the merged dictionary. */
interface OwnIndexes {
  readonly bytes: Uint8Array;
  /** The width of an index, as a power of two. */
  readonly width: number;
  readonly common: Uint32Array;
}

function mergeDictionaries(sources: readonly Source[], out: ByteWriter): void {
  const total = sources.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return;
  const keys = new ByteWriter(1024);
  const indexOf = new Map<string, number>();
  const parts: OwnIndexes[] = [];
  for (const { reader, count } of sources) {
    if (count === 0) continue;
    const width = reader.uint64() - keysInBlock;
    if (width < 0 || width > 2)
      throw new UnreadableBlock('a dictionary that is not laid out as those made here');
    const common = commonKeys(reader, indexOf, keys);
    if (reader.uint64() !== count) throw new UnreadableBlock('a dictionary does not fit its rows');
    parts.push({ bytes: reader.take(count << width), width, common });
  }
  const width = indexOf.size <= 0x100 ? 0 : indexOf.size <= 0x1_0000 ? 1 : 2;
  out.uint64(keysInBlock + width);
  out.uint64(indexOf.size);
  out.copy(keys.view());
  out.uint64(total);
  const indexes = new indexArrays[width](total);
  let done = 0;
  for (const part of parts) done = translate(part, indexes, done);
  out.copy(new Uint8Array(indexes.buffer));
}

/**
 * Reads the keys of a dictionary.
 * @returns the position of each key in the merged dictionary
 */
function commonKeys(reader: NativeReader, indexOf: Map<string, number>, keys: ByteWriter): Uint32Array {
  const size = reader.uint64();
  if (size > reader.remaining) throw new UnreadableBlock('a dictionary has more keys than bytes');
  const common = new Uint32Array(size);
  for (let index = 0; index < size; index += 1) {
    const key = reader.take(reader.varint());
    // As Latin-1 each byte is one character, so different keys stay different.
    const text = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
    let found = indexOf.get(text);
    if (found === undefined) {
      found = indexOf.size;
      indexOf.set(text, found);
      keys.bytesWithLength(key);
    }
    common[index] = found;
  }
  // The engine uses the key at index 0 as the default value.
  if (size === 0 || common[0] !== 0) throw new UnreadableBlock('dictionaries with several default values');
  return common;
}

/**
 * Writes the indexes of a block as indexes into the merged dictionary, from `at` on.
 * @returns where they end
 */
function translate(
  { bytes, width, common }: OwnIndexes,
  into: Uint8Array | Uint16Array | Uint32Array,
  at: number,
): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length >> width;
  let valid = true;
  for (let index = 0; index < count; index += 1) {
    const own =
      width === 0
        ? (bytes[index] as number)
        : width === 1
          ? view.getUint16(2 * index, true)
          : view.getUint32(4 * index, true);
    valid &&= own < common.length;
    into[at + index] = common[own] as number;
  }
  if (!valid) throw new UnreadableBlock('a dictionary index points nowhere');
  return at + count;
}
