/** Columns that the kernel of remote write filled, in its memory. */
import { type BlockColumn, columnHead } from '../../columnar/native-block.ts';
import type { ByteWriter } from '../../lib/byte-writer.ts';

/** `[start, start + byteLength)` of the memory. */
interface Region {
  readonly start: number;
  readonly byteLength: number;
}

/** Values of a fixed width. */
export class KernelColumn implements BlockColumn {
  readonly name: string;
  readonly type: string;
  readonly head: Uint8Array;
  readonly #memory: Uint8Array;
  readonly #address: number;
  readonly #width: number;

  constructor(name: string, type: string, memory: Uint8Array, address: number, width: number) {
    this.name = name;
    this.type = type;
    this.head = columnHead({ name, type });
    this.#memory = memory;
    this.#address = address;
    this.#width = width;
  }

  byteLength(rows: number): number {
    return this.#width * rows;
  }

  writeTo(out: ByteWriter, rows: number): void {
    out.copy(this.#memory, this.#address, this.#address + this.#width * rows);
  }
}

/**
 * The prefix of a column that holds a dictionary, and what the dictionary begins with:
 * `columnar/dictionary.ts`.
 */
const dictionaryVersion = 1;
const prefixBytes = 8;
const keysInBlock = 0x600;
const headBytes = 24;

/** A dictionary and its indexes, two bytes each: `kernel/dictionary.ts`. */
class KernelDictionary {
  readonly #memory: Uint8Array;
  readonly #head: Uint32Array;
  readonly #keys: number;
  readonly #indexes: number;

  /** @param keysOffset of its keys behind `address` */
  constructor(memory: Uint8Array, address: number, keysOffset: number, indexes: number) {
    this.#memory = memory;
    this.#head = new Uint32Array(memory.buffer, address, 2);
    this.#keys = address + keysOffset;
    this.#indexes = indexes;
  }

  get #size(): number {
    return this.#head[0] as number;
  }

  get #keyBytes(): number {
    return this.#head[1] as number;
  }

  get #indexBytes(): 1 | 2 {
    return this.#size <= 0x100 ? 1 : 2;
  }

  byteLength(values: number): number {
    return values === 0 ? 0 : headBytes + this.#keyBytes + values * this.#indexBytes;
  }

  writeTo(out: ByteWriter, values: number): void {
    if (values === 0) return;
    const isNarrow = this.#indexBytes === 1;
    out.uint64(keysInBlock + (isNarrow ? 0 : 1));
    out.uint64(this.#size);
    out.copy(this.#memory, this.#keys, this.#keys + this.#keyBytes);
    out.uint64(values);
    if (isNarrow) out.copy(new Uint8Array(new Uint16Array(this.#memory.buffer, this.#indexes, values)));
    else out.copy(this.#memory, this.#indexes, this.#indexes + 2 * values);
  }
}

/** `LowCardinality(String)`. */
export class KernelTextColumn implements BlockColumn {
  readonly name: string;
  readonly type = 'LowCardinality(String)';
  readonly #values: KernelDictionary;

  constructor(name: string, ...dictionary: ConstructorParameters<typeof KernelDictionary>) {
    this.name = name;
    this.#values = new KernelDictionary(...dictionary);
  }

  byteLength(rows: number): number {
    return prefixBytes + this.#values.byteLength(rows);
  }

  writeTo(out: ByteWriter, rows: number): void {
    out.uint64(dictionaryVersion);
    this.#values.writeTo(out, rows);
  }
}

/** `Map(LowCardinality(String), String)`. */
export class KernelMapColumn implements BlockColumn {
  readonly name: string;
  readonly type = 'Map(LowCardinality(String), String)';
  readonly #memory: Uint8Array;
  readonly #ends: number;
  readonly #pairs: () => number;
  readonly #keys: KernelDictionary;
  readonly #values: () => Region;

  /**
   * @param ends of each row's pairs, eight bytes each: their address
   * @param pairs how many there are
   * @param values the strings, with their lengths
   */
  constructor(
    name: string,
    ends: number,
    pairs: () => number,
    values: () => Region,
    ...dictionary: ConstructorParameters<typeof KernelDictionary>
  ) {
    this.name = name;
    this.#memory = dictionary[0];
    this.#ends = ends;
    this.#pairs = pairs;
    this.#keys = new KernelDictionary(...dictionary);
    this.#values = values;
  }

  byteLength(rows: number): number {
    return prefixBytes + 8 * rows + this.#keys.byteLength(this.#pairs()) + this.#values().byteLength;
  }

  writeTo(out: ByteWriter, rows: number): void {
    out.uint64(dictionaryVersion);
    out.copy(this.#memory, this.#ends, this.#ends + 8 * rows);
    this.#keys.writeTo(out, this.#pairs());
    const { start, byteLength } = this.#values();
    out.copy(this.#memory, start, start + byteLength);
  }
}
