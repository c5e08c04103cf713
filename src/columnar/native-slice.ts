/**
 * Cuts a range of rows out of a block in the `Native` format without interpreting the values.
 *
 * A block that ClickHouse rejects is cut into smaller ones until each rejected row is alone. Values are
 * therefore never checked: a dictionary index out of range is copied as it is, and stays with its row. A
 * block whose layout is damaged cannot be cut; it is rejected as a whole.
 */
import { ByteWriter } from '../lib/byte-writer.ts';
import { NativeReader, UnreadableBlock } from './native-reader.ts';
import { type NativeType, nativeType } from './native-types.ts';

/**
 * Copies the rows [from, to), at least one, of a block with `rows` rows.
 * @throws UnreadableBlock
 */
export function sliceNativeBlock(bytes: Uint8Array, rows: number, from: number, to: number): Uint8Array {
  if (from < 0 || from >= to || to > rows) throw new Error(`BUG: rows ${from} to ${to} of ${rows}`);
  const reader = new NativeReader(bytes);
  const out = new ByteWriter(Math.ceil((bytes.length * (to - from)) / rows) + 256);
  const columns = reader.varint();
  const rowsInBlock = reader.varint();
  if (rowsInBlock !== rows) throw new UnreadableBlock(`the block has ${rowsInBlock} rows, not ${rows}`);
  out.varint(columns);
  out.varint(to - from);
  for (let index = 0; index < columns; index += 1) {
    const name = reader.string();
    const type = reader.string();
    out.string(name);
    out.string(type);
    const layout = layoutOf(nativeType(type));
    layout.prefix(reader, out);
    layout.data(reader, out, rows, from, to);
  }
  if (reader.remaining > 0) throw new UnreadableBlock(`${reader.remaining} bytes follow the block`);
  return out.view();
}

interface Layout {
  prefix(reader: NativeReader, out: ByteWriter): void;
  /** Reads `count` values and writes those of [from, to). */
  data(reader: NativeReader, out: ByteWriter, count: number, from: number, to: number): void;
}

function layoutOf(type: NativeType): Layout {
  switch (type.kind) {
    case 'fixed':
      return fixedLayout(type.width);
    case 'string':
      return stringLayout;
    case 'nullable':
      return nullableLayout(layoutOf(type.values));
    case 'list':
      return arrayLayout(type.parts.map(layoutOf));
    case 'dictionary':
      return dictionaryLayout(layoutOf(type.keys));
  }
}

const noPrefix = (): void => {};

const fixedLayout = (width: number): Layout => ({
  prefix: noPrefix,
  data(reader, out, count, from, to) {
    out.copy(reader.take(width * count), width * from, width * to);
  },
});

const stringLayout: Layout = {
  prefix: noPrefix,
  data(reader, out, count, from, to) {
    reader.strings(from);
    out.copy(reader.strings(to - from));
    reader.strings(count - to);
  },
};

const nullableLayout = (values: Layout): Layout => ({
  prefix: values.prefix,
  data(reader, out, count, from, to) {
    out.copy(reader.take(count), from, to);
    values.data(reader, out, count, from, to);
  },
});

/** @param parts of each element: one for an array, key and value for a map */
const arrayLayout = (parts: readonly Layout[]): Layout => ({
  prefix(reader, out) {
    for (const part of parts) part.prefix(reader, out);
  },
  data(reader, out, count, from, to) {
    /** Where the elements of each row begin, and finally where all of them end. */
    const starts = [0];
    for (let end = 0; starts.length <= count; starts.push(end)) {
      const next = reader.uint64();
      if (next < end) throw new UnreadableBlock('the rows of an array or map do not follow each other');
      end = next;
    }
    const first = starts[from] ?? 0;
    for (let row = from; row < to; row += 1) out.uint64((starts[row + 1] ?? first) - first);
    for (const part of parts) part.data(reader, out, starts[count] ?? 0, first, starts[to] ?? first);
  },
});

const dictionaryLayout = (keys: Layout): Layout => ({
  prefix(reader, out) {
    out.uint64(reader.uint64());
  },
  data(reader, out, count, from, to) {
    if (count === 0) return;
    // If no value is wanted, the dictionary is dropped too.
    const sink = from === to ? new ByteWriter() : out;
    const flags = reader.uint64();
    sink.uint64(flags);
    const size = reader.uint64();
    sink.uint64(size);
    keys.data(reader, sink, size, 0, size);
    const width = 2 ** (flags & 0xff);
    const values = reader.uint64();
    if (width > 8 || values !== count) throw new UnreadableBlock('a dictionary does not fit its rows');
    sink.uint64(to - from);
    sink.copy(reader.take(width * count), width * from, width * to);
  },
});
