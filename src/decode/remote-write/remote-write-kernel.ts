/**
 * The WebAssembly kernel of remote write (`kernel/kernel.ts`) as the decoders see it.
 *
 * The kernel takes samples of series that are known to be durable, and of new ones whose labels are plain,
 * and nothing else. For each field of a message that it does not take it stops, the decoder in TypeScript
 * reads that field from the kernel's memory, and the kernel goes on behind it. So each rule of the format has
 * one home, in TypeScript, and the kernel needs none but this: to take nothing whose outcome could be another
 * there, but for the order of rows.
 */
import { limits } from '../../limits/limits.ts';
import type { TableBlock } from '../../model/block.ts';
import { requestBounds } from '../decode-bounds.ts';
import { DistinctDays } from '../metrics/distinct-days.ts';
import { LabelHash } from '../metrics/label-hash.ts';
import { metadataDay } from '../metrics/metadata-columns.ts';
import { SeriesTable, seriesTableWords } from '../metrics/series-table.ts';
import { isDurable } from '../metrics/written-rows.ts';
import type { DecodeOutcomes } from '../outcomes.ts';
import type { DecodeTask } from '../task.ts';
import { declaredSnappyLength, decodeBody } from '../wire/decompression.ts';
import { type Global, KernelBlocks, type KernelColumnExports } from './kernel-blocks.ts';
import type { MessageHash } from './label-messages.ts';
import type { SymbolHash } from './symbol-table.ts';

/** What the kernel exports; where it has numbers of 64 bits, there are BigInts here. */
interface KernelExports extends KernelColumnExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  unsnappy(bodyLength: number, declaredLength: number): number;
  begin(
    messageLength: number,
    scopeSeed: bigint,
    sequence: number,
    today: number,
    maxValueBytes: number,
  ): void;
  readSymbols(): number;
  takeSymbols(count: number): void;
  walk(from: number, seriesMask: number, room: number, descriptionMask: number, newDayRoom: number): number;
  hashLabels(start: number, end: number): void;
  hashRefs(count: number): void;
  hashDescription(metricId: number, type: number, help: number, unit: number): void;
  readonly inserted: Global;
  readonly newDays: Global;
  readonly dayBits: Global;
  readonly dayBitsBytes: Global;
  readonly descriptions: Global;
  readonly symbolCount: Global;
  readonly unconfirmedSlot: Global;
  readonly unconfirmedDescription: Global;
  readonly hashLow: Global;
  readonly hashHigh: Global;
  readonly tableAddress: Global;
  readonly tableBytes: Global;
  readonly metadataTableAddress: Global;
  readonly metadataTableBytes: Global;
  readonly refsAddress: Global;
  readonly refCapacity: Global;
  readonly symbolPlaces: Global;
  readonly symbolCapacity: Global;
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

export class RemoteWriteKernel implements MessageHash, SymbolHash {
  /** The message that was loaded last; good until the next one. */
  message: Buffer = Buffer.alloc(0);
  /** Of the samples of that message; both decoders keep to its room. */
  days = new DistinctDays();
  readonly table: SeriesTable;
  /** The descriptions of metrics that are stored. */
  readonly metadata: SeriesTable;
  readonly #refs: Uint32Array;
  readonly #symbolPlaces: Uint32Array;
  readonly #exports: KernelExports;
  readonly #memory: Uint8Array;
  readonly #blocks: KernelBlocks;
  readonly #dayBits: Uint32Array;
  /** Of the message that was loaded last; most requests are for the same dataset as the one before. */
  #scope = { tenant: '', dataset: '', seed: 0n };

  /** @param module the compiled `kernel/kernel.ts` */
  constructor(module: WebAssembly.Module) {
    const kernel = new WebAssembly.Instance(module).exports as KernelExports;
    const { buffer } = kernel.memory;
    this.#exports = kernel;
    this.#memory = new Uint8Array(buffer);
    const { refsAddress, refCapacity } = kernel;
    if (buffer.byteLength < kernel.endAddress.value || refCapacity.value < 2 * limits.maxLabelsPerSeries) {
      throw new Error('BUG: the memory of the kernel does not hold what must be in it');
    }
    const { tableAddress, tableBytes, metadataTableAddress, metadataTableBytes } = kernel;
    this.table = tableIn(buffer, limits.seriesCacheEntries, tableAddress, tableBytes);
    this.metadata = tableIn(buffer, limits.metadataCacheEntries, metadataTableAddress, metadataTableBytes);
    this.#dayBits = new Uint32Array(buffer, kernel.dayBits.value, kernel.dayBitsBytes.value / 4);
    this.#refs = new Uint32Array(buffer, refsAddress.value, refCapacity.value);
    this.#symbolPlaces = new Uint32Array(buffer, kernel.symbolPlaces.value, 2 * kernel.symbolCapacity.value);
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
    const seed = this.#seedOf(task.tenant, task.dataset);
    const { maxInflatedBytes } = task.bounds ?? requestBounds;
    const maxValueBytes = Math.min(maxInflatedBytes, 0x7fff_ffff);
    begin(length, seed, task.sequence | 0, metadataDay(task.receivedMicros), maxValueBytes);
    this.days = new DistinctDays(this.#dayBits);
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

  /**
   * Reads the symbols of a message of version 2.0, which it is walked as from then on.
   * @returns the offset of the first field behind them; 0 if it cannot, and knows no symbol
   *   until it is given them
   */
  readSymbols(): number {
    return this.#exports.readSymbols();
  }

  /**
   * Takes what it can of the message from the offset `from` on. @returns the offset of the
   * first field it can't
   */
  walk(from: number): number {
    const { table, metadata, days } = this;
    const next = this.#exports.walk(from, table.slotMask, table.room, metadata.slotMask, days.room);
    table.filled(this.#exports.inserted.value);
    days.marked(this.#exports.newDays.value);
    return next;
  }

  /**
   * Where `walk` stopped only because a row (of a series, of metadata) was not yet known to be durable,
   * asks whether it is now.
   */
  confirms(outcomes: DecodeOutcomes): boolean {
    const { unconfirmedSlot, tableAddress, unconfirmedDescription, metadataTableAddress } = this.#exports;
    const isNow = (table: SeriesTable, slot: Global, start: Global): boolean =>
      slot.value !== 0 && isDurable(table, outcomes, (slot.value - start.value) / 4);
    return (
      isNow(this.table, unconfirmedSlot, tableAddress) ||
      isNow(this.metadata, unconfirmedDescription, metadataTableAddress)
    );
  }

  /** By this hash the kernel finds labels in the table. */
  hashInto(hash: LabelHash, start: number, end: number): void {
    this.#exports.hashLabels(start, end);
    this.#giveTo(hash);
  }

  /** Of a message of version 2.0. */
  get symbolCount(): number {
    return this.#exports.symbolCount.value;
  }

  takeSymbols(places: Uint32Array, count: number): void {
    const fits = 2 * count <= this.#symbolPlaces.length;
    if (fits) this.#symbolPlaces.set(places.subarray(0, 2 * count));
    this.#exports.takeSymbols(fits ? count : 0);
  }

  hashRefs(hash: LabelHash, refs: Uint32Array, count: number): void {
    this.#refs.set(refs.subarray(0, count));
    this.#exports.hashRefs(count);
    this.#giveTo(hash);
  }

  hashDescription(hash: LabelHash, metricId: number, type: number, help: number, unit: number): void {
    this.#exports.hashDescription(metricId, type, help, unit);
    this.#giveTo(hash);
  }

  #giveTo(hash: LabelHash): void {
    hash.low = this.#exports.hashLow.value;
    hash.high = this.#exports.hashHigh.value;
  }

  /** Descriptions of metrics, taken of this message. */
  get descriptions(): number {
    return this.#exports.descriptions.value;
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

function tableIn(buffer: ArrayBuffer, maxEntries: number, address: Global, bytes: Global): SeriesTable {
  const words = bytes.value / 4;
  if (words < seriesTableWords(maxEntries))
    throw new Error('BUG: the memory of the kernel is too small for a table');
  return new SeriesTable(maxEntries, new Int32Array(buffer, address.value, words));
}
