import { limits } from '../../limits/limits.ts';
import { fieldAt, follow, removeStructs, tablesOf, vectorAt } from './flatbuffer.ts';
import type { OutputFilter } from './output-filter.ts';

/** Fields of the tables of Arrow's Message.fbs and Schema.fbs. */
const message = { headerType: 1, header: 2, bodyLength: 3 } as const;
const headerTypes = { schema: 1, recordBatch: 3 } as const;
const schema = { fields: 1 } as const;
const field = { typeType: 2, children: 5 } as const;
const recordBatch = { nodes: 1, buffers: 2 } as const;
const [list, struct] = [12, 13];
/** `FieldNode` and `Buffer`, each of two integers of 64 bits. */
const structBytes = 16;

/** Buffers of a column of each type, without those of its children, by the number of the type. */
const buffersOf: ReadonlyMap<number, number> = new Map([
  [1, 0], // Null
  [2, 2], // Int
  [3, 2], // FloatingPoint
  [4, 3], // Binary
  [5, 3], // Utf8
  [6, 2], // Bool
  [7, 2], // Decimal
  [8, 2], // Date
  [9, 2], // Time
  [10, 2], // Timestamp
  [list, 2],
  [struct, 1],
  [15, 2], // FixedSizeBinary
  [17, 2], // Map
]);

/**
 * Makes nullable lists in an Arrow stream of the store. The store has no nullable lists; it writes such a
 * column as a nullable struct whose only member is the list. Without the list's own validity buffer, which is
 * empty, a list in a struct has the same bytes as a nullable list. So only the descriptions of the columns
 * are changed, in place, and no value is touched.
 *
 * A stream consists of messages: a mark, the length of the description, the description, and its body
 * (https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format).
 */
export class ArrowLists implements OutputFilter {
  /** The pieces of a description whose end has not arrived yet. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  /** Bytes of the body of the latest message that have not arrived yet. */
  #bodyBytes = 0;
  #removed: Removed | undefined;

  push(piece: Uint8Array): readonly Uint8Array[] {
    const parts: Uint8Array[] = [];
    let rest = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    while (rest.byteLength > 0) {
      if (this.#bodyBytes > 0) {
        const body = rest.subarray(0, this.#bodyBytes);
        this.#bodyBytes -= body.byteLength;
        parts.push(body);
        rest = rest.subarray(body.byteLength);
        continue;
      }
      this.#begun.push(rest);
      this.#begunBytes += rest.byteLength;
      if (this.#begunBytes < headBytes) break;
      const begun = Buffer.concat(this.#begun);
      const length = headBytes + begun.readUInt32LE(4);
      if (length > limits.maxResultMetadataBytes) throw new Error('BUG: an Arrow message with a huge head');
      this.#begun = [begun];
      if (begun.byteLength < length) break;
      const head = begun.subarray(0, length);
      if (length > headBytes) this.#change(head.subarray(headBytes));
      parts.push(head);
      rest = begun.subarray(length);
      this.#begun = [];
      this.#begunBytes = 0;
    }
    return parts;
  }

  end(): readonly Uint8Array[] {
    return this.#begun;
  }

  #change(bytes: Buffer): void {
    const root = follow(bytes, 0);
    const headerType = fieldAt(bytes, root, message.headerType);
    const header = fieldAt(bytes, root, message.header);
    const bodyLength = fieldAt(bytes, root, message.bodyLength);
    this.#bodyBytes = bodyLength === undefined ? 0 : Number(bytes.readBigInt64LE(bodyLength));
    if (headerType === undefined || header === undefined) return;
    const table = follow(bytes, header);
    if (bytes[headerType] === headerTypes.schema) {
      this.#removed = unwrap(bytes, tablesOf(bytes, vectorAt(bytes, table, schema.fields)));
    }
    if (bytes[headerType] === headerTypes.recordBatch && this.#removed !== undefined) {
      const nodes = vectorAt(bytes, table, recordBatch.nodes);
      const buffers = vectorAt(bytes, table, recordBatch.buffers);
      if (nodes !== undefined) removeStructs(bytes, nodes, structBytes, this.#removed.nodes);
      if (buffers !== undefined) removeStructs(bytes, buffers, structBytes, this.#removed.buffers);
    }
  }
}

/** The mark and the length of the description. */
const headBytes = 8;

/** The nodes and buffers in each batch that the changed schema no longer has, by position. */
interface Removed {
  readonly nodes: ReadonlySet<number>;
  readonly buffers: ReadonlySet<number>;
}

/** Turns the columns that are structs into lists. */
function unwrap(bytes: Buffer, columns: readonly number[]): Removed {
  const [nodes, buffers] = [new Set<number>(), new Set<number>()];
  let [node, buffer] = [0, 0];
  const count = (at: number): void => {
    const own = buffersOf.get(typeOf(bytes, at));
    if (own === undefined) throw new Error(`BUG: a column of Arrow's type ${typeOf(bytes, at)}`);
    node += 1;
    buffer += own;
    for (const child of tablesOf(bytes, vectorAt(bytes, at, field.children))) count(child);
  };
  for (const column of columns) {
    if (typeOf(bytes, column) === struct) {
      // The list and its validity buffer come directly after the struct and its validity buffer.
      nodes.add(node + 1);
      buffers.add(buffer + 1);
    }
    count(column);
  }
  for (const column of columns) if (typeOf(bytes, column) === struct) becomeList(bytes, column);
  return { nodes, buffers };
}

const typeOf = (bytes: Buffer, at: number): number => bytes[fieldAt(bytes, at, field.typeType) ?? -1] ?? 0;

/** Changes the type in place. The tables of the types List and Struct are both empty, so no sizes change. */
function becomeList(bytes: Buffer, column: number): void {
  const typeType = fieldAt(bytes, column, field.typeType);
  const children = fieldAt(bytes, column, field.children);
  const [inner] = tablesOf(bytes, vectorAt(bytes, column, field.children));
  const elements = inner === undefined ? undefined : vectorAt(bytes, inner, field.children);
  // References only point forwards: a FlatBuffer is written from its end, what is referred to first.
  if (typeType === undefined || children === undefined || elements === undefined || elements < children) {
    throw new Error('BUG: a struct of the store without a list');
  }
  bytes[typeType] = list;
  bytes.writeUInt32LE(elements - children, children);
}
