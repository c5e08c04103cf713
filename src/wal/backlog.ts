import { limits } from '../limits/limits.ts';
import { type BatchManifest, manifestName, writeManifest } from './batch-manifests.ts';
import { extendCheckpoint } from './checkpoints.ts';
import { blockBytes, readBlocks, type SealedSegment, type SegmentRecord, segmentName } from './segment.ts';
import type { WalFiles } from './wal-files.ts';

/**
 * The sealed segments that the store does not have yet.
 *
 * Blocks stay in memory up to `limits.walMaxRetainedBytes`. Those of later segments, and of segments of which
 * a table cannot move, are evicted, and read back from the file when they are inserted. So an outage of the
 * store, or of a table, costs disk, not memory. What may be removed, and when, is in `wal.ts`.
 */
export class Backlog {
  readonly #files: WalFiles;
  readonly #maxRetainedBytes: number;
  readonly #segments = new Map<number, SealedSegment>();
  #bytes = 0;
  #retainedBytes = 0;
  #highestNumber = 0;
  /** Of the newest manifest. */
  #manifestNumber = 0;
  /** Numbers of the segments whose files are to be removed, and their sidecar files. */
  readonly #removable = new Map<number, readonly string[]>();
  /** How many use the blocks of a segment. */
  readonly #holders = new Map<SealedSegment, number>();

  constructor(files: WalFiles, maxRetainedBytes: number = limits.walMaxRetainedBytes) {
    this.#files = files;
    this.#maxRetainedBytes = maxRetainedBytes;
  }

  /** Bytes of records in it. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of blocks held in memory. */
  get retainedBytes(): number {
    return this.#retainedBytes;
  }

  get size(): number {
    return this.#segments.size;
  }

  get oldest(): SealedSegment | undefined {
    return this.#segments.values().next().value;
  }

  /** Oldest first. */
  get all(): Iterable<SealedSegment> {
    return this.#segments.values();
  }

  get newest(): SealedSegment | undefined {
    return [...this.#segments.values()].at(-1);
  }

  /** Takes the next segment; numbers only grow. */
  add(segment: SealedSegment): void {
    this.#segments.set(segment.number, segment);
    for (const { number } of segment.manifests) this.#manifestNumber = Math.max(this.#manifestNumber, number);
    this.#bytes += segment.byteLength;
    this.#highestNumber = Math.max(this.#highestNumber, segment.number);
    for (const record of segment.records)
      if (record.blocks !== undefined) this.#retainedBytes += blockBytes(record);
    if (this.#retainedBytes > this.#maxRetainedBytes) this.#evictRecords(segment.records);
  }

  /**
   * Brings the blocks of some of a segment's records back into memory, where they were dropped. They stay
   * until `release`, which is to be called whether this succeeds or not.
   */
  async hold(segment: SealedSegment, records: Iterable<SegmentRecord>): Promise<void> {
    this.#holders.set(segment, this.#holdersOf(segment) + 1);
    const missing = [...records].filter((record) => record.blocks === undefined);
    if (missing.length === 0) return;
    const file = await this.#files.open(segment.name);
    try {
      for (const record of missing) {
        const blocks = await readBlocks(file, record);
        // Another holder may have loaded them already.
        if (record.blocks === undefined) this.#retainedBytes += blockBytes(record);
        record.blocks ??= blocks;
      }
    } finally {
      await file.close();
    }
  }

  release(segment: SealedSegment): void {
    const left = this.#holdersOf(segment) - 1;
    if (left > 0) this.#holders.set(segment, left);
    else this.#holders.delete(segment);
    if (this.#retainedBytes > this.#maxRetainedBytes) this.evict(segment);
  }

  /**
   * The store has these tables of a segment, `<database>.<table>`, and the others may take long. Durable when
   * it returns. Safe to repeat after a failure.
   */
  async checkpoint(segment: SealedSegment, tables: readonly string[]): Promise<void> {
    await extendCheckpoint(this.#files, segment.number, segment.checkpoint, tables);
  }

  /**
   * These tables take their rows of these segments in one insert, each from its given segment on. Durable
   * when it returns. Safe to repeat after a failure.
   */
  async writeManifest(
    segments: readonly SealedSegment[],
    tables: ReadonlyMap<string, number>,
  ): Promise<void> {
    this.#manifestNumber += 1;
    // Others may be written meanwhile.
    const number = this.#manifestNumber;
    const numbers = segments.map(({ number }) => number);
    try {
      const manifest = await writeManifest(this.#files, number, numbers, tables);
      for (const segment of segments) segment.manifests.push(manifest);
    } catch (error) {
      // What remains of it says the same as the file that succeeds later.
      segments.at(-1)?.checkpoint.files.push(manifestName(number, numbers));
      throw error;
    }
  }

  /** The store has all of a segment. Safe to repeat after a failure. */
  async remove(segment: SealedSegment): Promise<void> {
    const isLast = ({ segments }: BatchManifest) =>
      segments.every((number) => number === segment.number || !this.#segments.has(number));
    const manifests = segment.manifests.filter(isLast).map(({ file }) => file);
    this.#removable.set(segment.number, [...segment.checkpoint.files, ...manifests]);
    await this.#removeFiles();
    this.#segments.delete(segment.number);
    this.#bytes -= segment.byteLength;
    this.#evictRecords(segment.records);
  }

  /** A file with this number, higher than all before, exists durably. */
  async created(number: number): Promise<void> {
    this.#highestNumber = number;
    await this.#removeFiles();
  }

  /**
   * A file without records, which may not even exist, is not needed. Where its removal fails, it is tried
   * again with the next one.
   */
  async discard(number: number): Promise<void> {
    this.#removable.set(number, []);
    await this.#removeFiles();
  }

  /** Two calls at a time do no harm: a file may be removed twice. */
  async #removeFiles(): Promise<void> {
    const removable = [...this.#removable].filter(([number]) => number !== this.#highestNumber);
    if (removable.length === 0) return;
    for (const [number] of removable) await this.#files.remove(segmentName(number));
    await this.#files.syncDirectory();
    // A sidecar file that came back without its segment is removed at the next start.
    for (const [, sidecars] of removable) for (const file of sidecars) await this.#files.remove(file);
    for (const [number] of removable) this.#removable.delete(number);
  }

  #holdersOf(segment: SealedSegment): number {
    return this.#holders.get(segment) ?? 0;
  }

  /** Drops blocks that nobody holds from memory: they will not be needed soon. */
  evict(segment: SealedSegment): void {
    if (this.#holdersOf(segment) === 0) this.#evictRecords(segment.records);
  }

  #evictRecords(records: readonly SegmentRecord[]): void {
    for (const record of records) {
      if (record.blocks === undefined) continue;
      record.blocks = undefined;
      this.#retainedBytes -= blockBytes(record);
    }
  }
}
