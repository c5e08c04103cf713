/**
 * The WebAssembly kernel of remote write (`kernel/kernel.ts`) as the decoders see it.
 *
 * The kernel takes samples of series that are known to be durable, and nothing else. For each field of a message
 * that it does not take it stops, the decoder in TypeScript reads that field from the kernel's memory, and the
 * kernel goes on behind it. So each rule of the format has one home, in TypeScript, and the kernel needs
 * none but this: to take nothing whose outcome could be another there.
 */
import { type BlockColumn, encodeTableBlock } from '../columnar/native-block.ts';
import type { ByteWriter } from '../lib/bytes.ts';
import { limits } from '../limits.ts';
import type { TableBlock } from '../model/block.ts';
import { declaredSnappyLength, decodeBody } from './body.ts';
import { LabelHash } from './label-hash.ts';
import type { MessageHash } from './label-messages.ts';
import { SeriesTable, seriesTableWords } from './series-table.ts';
import type { DecodeTask } from './task.ts';

/** What the kernel exports; where it has numbers of 64 bits, there are BigInts here. */
interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  unsnappy(bodyLength: number, declaredLength: number): number;
  begin(messageLength: number, scopeSeed: bigint): void;
  walk(from: number, slotMask: number): number;
  hashLabels(start: number, end: number): void;
  readonly rows: Global;
  readonly unconfirmedSlot: Global;
  readonly hashLow: Global;
  readonly hashHigh: Global;
  readonly tableAddress: Global;
  readonly tableBytes: Global;
  readonly bodyAddress: Global;
  readonly bodyCapacity: Global;
  readonly messageAddress: Global;
  readonly messageCapacity: Global;
  readonly metricIds: Global;
  readonly seriesIds: Global;
  readonly timestamps: Global;
  readonly values: Global;
  readonly endAddress: Global;
}

interface Global {
  readonly value: number;
}

declare global {
  /** The part that is used here; the typings of Node 20 have none of it. */
  namespace WebAssembly {
    class Module {
      constructor(bytes: Uint8Array);
    }
    class Instance {
      constructor(module: Module);
      readonly exports: unknown;
    }
  }
}

export class RemoteWriteKernel implements MessageHash {
  /** The message that was loaded last; good until the next one. */
  message: Buffer = Buffer.alloc(0);
  readonly table: SeriesTable;
  readonly #exports: KernelExports;
  readonly #memory: Uint8Array;
  readonly #columns: readonly BlockColumn[];

  /** @param module the compiled `kernel/kernel.ts` */
  constructor(module: WebAssembly.Module) {
    const kernel = new WebAssembly.Instance(module).exports as KernelExports;
    const { buffer } = kernel.memory;
    this.#exports = kernel;
    this.#memory = new Uint8Array(buffer);
    const tableWords = kernel.tableBytes.value / 4;
    if (
      buffer.byteLength < kernel.endAddress.value ||
      tableWords < seriesTableWords(limits.seriesCacheEntries)
    ) {
      throw new Error('BUG: the memory of the kernel does not hold what must be in it');
    }
    this.table = new SeriesTable(
      limits.seriesCacheEntries,
      new Int32Array(buffer, kernel.tableAddress.value, tableWords),
    );
    const column = (name: string, type: string, address: Global, width: number) =>
      new KernelColumn(name, type, this.#memory, address.value, width);
    this.#columns = [
      column('metric_id', 'UInt32', kernel.metricIds, 4),
      column('series_id', 'UInt64', kernel.seriesIds, 8),
      column('timestamp', "DateTime64(3, 'UTC')", kernel.timestamps, 8),
      column('value', 'Float64', kernel.values, 8),
    ];
  }

  /**
   * Decompresses a body into the memory of the kernel, and makes it the `message`.
   * @returns false if the body is too large for that
   * @throws AppError `body_too_large`, `bad_encoding`
   */
  load(task: Pick<DecodeTask, 'tenant' | 'dataset' | 'body' | 'encoding' | 'maxDecodedBytes'>): boolean {
    const { memory, messageAddress, begin } = this.#exports;
    const length = this.#decompress(task);
    if (length === undefined) return false;
    const scope = new LabelHash(JSON.stringify([task.tenant, task.dataset]));
    begin(length, scope.seed);
    this.message = Buffer.from(memory.buffer, messageAddress.value, length);
    return true;
  }

  #decompress({
    body,
    encoding,
    maxDecodedBytes,
  }: Pick<DecodeTask, 'body' | 'encoding' | 'maxDecodedBytes'>): number | undefined {
    const { bodyAddress, bodyCapacity, messageAddress, messageCapacity, unsnappy } = this.#exports;
    if (encoding === 'snappy') {
      const declared = declaredSnappyLength(body, maxDecodedBytes);
      if (declared > messageCapacity.value || body.length > bodyCapacity.value) return undefined;
      this.#memory.set(body, bodyAddress.value);
      if (unsnappy(body.length, declared) === 1) return declared;
    }
    // Also a bad snappy block, for its error.
    const message = decodeBody(body, encoding, maxDecodedBytes);
    if (message.length > messageCapacity.value) return undefined;
    this.#memory.set(message, messageAddress.value);
    return message.length;
  }

  /** Takes what it can of the message from the offset `from` on. @returns the offset of the first field it can't */
  walk(from: number): number {
    return this.#exports.walk(from, this.table.slotMask);
  }

  /**
   * Where `walk` stopped only because the row of the series was not yet known to be durable: the offset of its slot
   * in the table, or -1.
   */
  get unconfirmedSlot(): number {
    const address = this.#exports.unconfirmedSlot.value;
    return address === 0 ? -1 : (address - this.#exports.tableAddress.value) / 4;
  }

  /** By this hash the kernel finds labels in the table. */
  hashInto(hash: LabelHash, start: number, end: number): void {
    this.#exports.hashLabels(start, end);
    hash.low = this.#exports.hashLow.value;
    hash.high = this.#exports.hashHigh.value;
  }

  /** Samples taken of this message. */
  get samples(): number {
    return this.#exports.rows.value;
  }

  /** The `samples` block of what was taken of this message. */
  sampleBlock(): TableBlock {
    return encodeTableBlock('samples', this.#columns, this.samples);
  }
}

/** A column in the memory of the kernel. */
class KernelColumn implements BlockColumn {
  readonly name: string;
  readonly type: string;
  readonly #memory: Uint8Array;
  readonly #address: number;
  readonly #width: number;

  constructor(name: string, type: string, memory: Uint8Array, address: number, width: number) {
    this.name = name;
    this.type = type;
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
