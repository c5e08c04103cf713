import { limits } from '../limits.ts';
import type { WalFiles } from './files.ts';
import { blockBytes, readBlocks, type SealedSegment, type SegmentRecord, segmentName } from './segment.ts';

/**
 * The sealed segments that the store does not have yet.
 *
 * - Blocks stay in memory up to `limits.walMaxRetainedBytes`; those of later segments are dropped and read back
 *   from the file when their turn comes. An outage of the store costs disk, not memory.
 * - The file with the highest number of all is never removed: the next life of the process counts on from it,
 *   and a number used twice would be a deduplication token used twice. It goes when a newer file exists.
 * - A segment is gone durably when `remove` returns. One that came back could be stored a second time: the store
 *   remembers tokens for a number of inserts only, and may forget in a power cut those that it has not synced.
 */
export class Backlog {
  readonly #files: WalFiles;
  readonly #maxRetainedBytes: number;
  readonly #segments = new Map<number, SealedSegment>();
  #bytes = 0;
  #retainedBytes = 0;
  #highestNumber = 0;
  /** Numbers of the files that are of no use any more. */
  readonly #useless = new Set<number>();

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

  get newest(): SealedSegment | undefined {
    return [...this.#segments.values()].at(-1);
  }

  /** Takes the next segment; numbers only grow. */
  add(segment: SealedSegment): void {
    this.#segments.set(segment.number, segment);
    this.#bytes += segment.byteLength;
    this.#highestNumber = Math.max(this.#highestNumber, segment.number);
    for (const record of segment.records)
      if (record.blocks !== undefined) this.#retainedBytes += blockBytes(record);
    if (this.#retainedBytes > this.#maxRetainedBytes) this.#forget(segment.records);
  }

  /** Brings the blocks of a segment back into memory, where they were dropped. They leave it with `remove`. */
  async load(segment: SealedSegment): Promise<void> {
    const missing = segment.records.filter((record) => record.blocks === undefined);
    if (missing.length === 0) return;
    const file = await this.#files.open(segment.name);
    try {
      for (const record of missing) {
        record.blocks = await readBlocks(file, record);
        this.#retainedBytes += blockBytes(record);
      }
    } finally {
      await file.close();
    }
  }

  /** The store has all of a segment. Safe to repeat after a failure. */
  async remove(segment: SealedSegment): Promise<void> {
    this.#useless.add(segment.number);
    await this.#removeUseless();
    this.#segments.delete(segment.number);
    this.#bytes -= segment.byteLength;
    this.#forget(segment.records);
  }

  /** A file with this number, higher than all before, exists durably. */
  async created(number: number): Promise<void> {
    this.#highestNumber = number;
    await this.#removeUseless();
  }

  /**
   * A file without records, which may not even exist, is not needed. Where its removal fails, it is tried again
   * with the next one.
   */
  async discard(number: number): Promise<void> {
    this.#useless.add(number);
    await this.#removeUseless();
  }

  /** Two calls at a time do no harm: a file may be removed twice. */
  async #removeUseless(): Promise<void> {
    const numbers = [...this.#useless].filter((number) => number !== this.#highestNumber);
    if (numbers.length === 0) return;
    for (const number of numbers) await this.#files.remove(segmentName(number));
    await this.#files.syncDirectory();
    for (const number of numbers) this.#useless.delete(number);
  }

  #forget(records: readonly SegmentRecord[]): void {
    for (const record of records) {
      if (record.blocks === undefined) continue;
      record.blocks = undefined;
      this.#retainedBytes -= blockBytes(record);
    }
  }
}
