import { limits } from '../../limits/limits.ts';
import type { OutputFilter } from './output-filter.ts';
import {
  type ThriftList,
  ThriftReader,
  type ThriftStruct,
  type ThriftValue,
  varint,
  writeStruct,
} from './thrift.ts';

/** Field numbers from Parquet's parquet.thrift. */
const file = { schema: 2, rowGroups: 4 } as const;
const element = { repetition: 3, name: 4, children: 5, convertedType: 6, logicalType: 10 } as const;
const rowGroup = { columns: 1 } as const;
const columnChunk = { metadata: 3 } as const;
const columnMetadata = { path: 3 } as const;
const [i32, optional] = [5, varint(2)];

const magic = Buffer.from('PAR1');
/** The length of the footer and the magic bytes. */
const tailBytes = 4 + magic.byteLength;

/**
 * Makes nullable lists in a Parquet file of the store. The store has no nullable lists; it writes such a
 * column as a nullable struct whose only member is the list. The levels that distinguish NULL, an empty list
 * and a NULL element are the same for both, so the pages stay as they are. A second footer is appended, which
 * has lists in place of the structs; readers use only the last footer.
 */
export class ParquetLists implements OutputFilter {
  /** The latest bytes, which include the footer once all pieces have arrived. */
  readonly #latest: Buffer[] = [];
  #latestBytes = 0;

  push(piece: Uint8Array): readonly Uint8Array[] {
    this.#latest.push(Buffer.from(piece));
    this.#latestBytes += piece.byteLength;
    for (let [first] = this.#latest; first !== undefined; [first] = this.#latest) {
      if (this.#latestBytes - first.byteLength < limits.maxResultMetadataBytes) break;
      this.#latest.shift();
      this.#latestBytes -= first.byteLength;
    }
    return [piece];
  }

  end(): readonly Uint8Array[] {
    const latest = Buffer.concat(this.#latest);
    const end = latest.byteLength - tailBytes;
    const length = end < 0 ? -1 : latest.readUInt32LE(end);
    if (length < 0 || length > end || !latest.subarray(-magic.byteLength).equals(magic)) {
      throw new Error('BUG: a Parquet file without a footer, or with a huge one');
    }
    const changed = withLists(latest.subarray(end - length, end));
    const tail = Buffer.alloc(4);
    tail.writeUInt32LE(changed.byteLength);
    return [changed, tail, magic];
  }
}

function withLists(footer: Buffer): Buffer {
  const metadata = new ThriftReader(footer).struct();
  const elements = listAt(metadata, file.schema);
  const changed = new Set<string>();
  const kept: ThriftValue[] = [];
  for (let index = 0; index < elements.items.length; index += 1) {
    const [outer, inner] = [elements.items[index], elements.items[index + 1]];
    if (index > 0 && isPlainGroup(outer) && inner instanceof Map) {
      const name = outer.get(element.name);
      if (name !== undefined) {
        changed.add(String(name.value));
        inner.set(element.name, name);
      }
      inner.set(element.repetition, { type: i32, value: optional });
      continue;
    }
    if (outer !== undefined) kept.push(outer);
  }
  elements.items = kept;
  for (const group of structsAt(metadata, file.rowGroups)) {
    for (const column of structsAt(group, rowGroup.columns)) {
      const described = column.get(columnChunk.metadata)?.value;
      if (!(described instanceof Map)) continue;
      const path = listAt(described, columnMetadata.path);
      // The second name is that of the list within the struct.
      if (changed.has(String(path.items[0]))) path.items.splice(1, 1);
    }
  }
  return writeStruct(metadata);
}

/** Whether a schema element is a struct, and not a list, a map or a repeated group in one. */
const isPlainGroup = (value: ThriftValue | undefined): value is ThriftStruct =>
  value instanceof Map &&
  value.has(element.children) &&
  !value.has(element.convertedType) &&
  !value.has(element.logicalType) &&
  optional.equals(bytesOf(value.get(element.repetition)?.value));

const bytesOf = (value: ThriftValue | undefined): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.alloc(0);

function listAt(struct: ThriftStruct, id: number): ThriftList {
  const value = struct.get(id)?.value;
  if (typeof value === 'object' && 'items' in value) return value;
  throw new Error(`BUG: a footer without its field ${id}`);
}

const structsAt = (struct: ThriftStruct, id: number): readonly ThriftStruct[] =>
  listAt(struct, id).items.filter((item) => item instanceof Map);
