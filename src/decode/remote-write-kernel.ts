/**
 * The WebAssembly kernel of remote write (`kernel/kernel.ts`) as the decoders see it.
 *
 * The kernel takes samples of series that are known to be durable, and of new ones whose labels are plain, and nothing
 * else. For each field of a message that it does not take it stops, the decoder in TypeScript reads that field from
 * the kernel's memory, and the kernel goes on behind it. So each rule of the format has one home, in TypeScript, and
 * the kernel needs none but this: to take nothing whose outcome could be another there, but for the order of rows.
 */
import { limits } from '../limits.ts';
import type { TableBlock } from '../model/block.ts';
import { declaredSnappyLength, decodeBody } from './body.ts';
import { type Global, KernelBlocks, type KernelColumnExports } from './kernel-blocks.ts';
import { LabelHash } from './label-hash.ts';
import type { MessageHash } from './label-messages.ts';
import { SeriesTable, seriesTableWords } from './series-table.ts';
import type { DecodeTask } from './task.ts';

/** What the kernel exports; where it has numbers of 64 bits, there are BigInts here. */
interface KernelExports extends KernelColumnExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  unsnappy(bodyLength: number, declaredLength: number): number;
  begin(messageLength: number, scopeSeed: bigint, sequence: number): void;
  walk(from: number, slotMask: number, room: number): number;
  hashLabels(start: number, end: number): void;
  readonly inserted: Global;
  readonly unconfirmedSlot: Global;
  readonly hashLow: Global;
  readonly hashHigh: Global;
  readonly tableAddress: Global;
  readonly tableBytes: Global;
  readonly bodyAddress: Global;
  readonly bodyCapacity: Global;
  readonly messageAddress: Global;
  readonly messageCapacity: Global;
  readonly endAddress: Global;
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
  readonly #blocks: KernelBlocks;
  /** Of the message that was loaded last; most requests are for the same dataset as the one before. */
  #scope = { tenant: '', dataset: '', seed: 0n };

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
    this.#blocks = new KernelBlocks(kernel, this.#memory);
  }

  /**
   * Decompresses a body into the memory of the kernel, and makes it the `message`.
   * @returns false if the body is too large for that
   * @throws AppError `body_too_large`, `bad_encoding`
   */
  load(task: Omit<DecodeTask, 'format'>): boolean {
    const { memory, messageAddress, begin } = this.#exports;
    const length = this.#decompress(task);
    if (length === undefined) return false;
    begin(length, this.#seedOf(task.tenant, task.dataset), task.sequence | 0);
    this.message = Buffer.from(memory.buffer, messageAddress.value, length);
    return true;
  }

  #seedOf(tenant: string, dataset: string): bigint {
    if (this.#scope.dataset !== dataset || this.#scope.tenant !== tenant) {
      const { seed } = new LabelHash(JSON.stringify([tenant, dataset]));
      this.#scope = { tenant, dataset, seed };
    }
    return this.#scope.seed;
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
    const { table } = this;
    const next = this.#exports.walk(from, table.slotMask, table.room);
    table.filled(this.#exports.inserted.value);
    return next;
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

  /** What was taken of this message. */
  finish(): TableBlock[] {
    return this.#blocks.finish();
  }
}
