import { type ByteWriter, varintLength } from '../lib/byte-writer.ts';
import { type BlockColumn, columnHead } from './native-block.ts';

/** The prefix of a column with a dictionary: each block has its own keys. */
const dictionaryVersion = 1;
/** The keys are in the block (`string-dictionary.ts`), and an index into them has 8 bits. */
const keysInBlock = 0x600;

/**
 * A `LowCardinality(String)` that has one value in all rows of a block: a dictionary of that value, and a
 * byte for each row. It costs the same for however many rows, but for these bytes.
 */
export class ConstantColumn implements BlockColumn {
  readonly name: string;
  readonly type = 'LowCardinality(String)';
  readonly head: Uint8Array;
  readonly #value: Buffer;

  /** @param head of `constantHead`, which is the same for all blocks */
  constructor(name: string, head: Uint8Array, value: string) {
    this.name = name;
    this.head = head;
    this.#value = Buffer.from(value);
  }

  byteLength(rows: number): number {
    const { length } = this.#value;
    const key = length === 0 ? 0 : varintLength(length) + length;
    return 4 * 8 + 1 + key + rows;
  }

  writeTo(out: ByteWriter, rows: number): void {
    const { length } = this.#value;
    const keys = length === 0 ? 1 : 2;
    out.uint64(dictionaryVersion);
    out.uint64(keysInBlock);
    out.uint64(keys);
    // The store keeps the default value at index 0.
    out.varint(0);
    if (keys > 1) out.bytesWithLength(this.#value, 0, length);
    out.uint64(rows);
    out.fill(keys - 1, rows);
  }
}

/** What precedes the values of such a column in a block. */
export const constantHead = (name: string): Uint8Array =>
  columnHead({ name, type: 'LowCardinality(String)' });
