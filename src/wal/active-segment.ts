import { limits } from '../limits/limits.ts';
import { emptyCheckpoint } from './checkpoints.ts';
import { type EncodedRecord, encodeSegmentHeader, placeRecord, segmentHeaderBytes } from './record.ts';
import { type SealedSegment, type SegmentRecord, segmentName, segmentRecord } from './segment.ts';
import type { WalFile, WalFiles } from './wal-files.ts';

/** Preallocation for fewer groups costs as much as it saves. */
const minPreallocatedGroups = 4;

/** What is preallocated. */
const zeros = Buffer.alloc(limits.walMaxPreallocatedBytes);

/**
 * The segment that takes records. Used by one writer at a time.
 *
 * A write into the existing length of a file costs half as much as one that extends it, for which the file
 * system allocates blocks and writes its journal. So a write that extends the file also preallocates space
 * for the next ones, filled with zeros, which no reader takes for a record. A sealed segment has no
 * preallocated space.
 */
export class ActiveSegment {
  readonly number: number;
  readonly records: SegmentRecord[] = [];
  readonly #file: WalFile;
  /** Behind the durable records. */
  #length = segmentHeaderBytes;
  /** Behind the preallocated space. */
  #fileLength = segmentHeaderBytes;
  /** When the first record came, microseconds since 1970; before that, when the file was made. */
  #sinceMicros: number;
  #torn = false;

  private constructor(number: number, file: WalFile, createdMicros: number) {
    this.number = number;
    this.#file = file;
    this.#sinceMicros = createdMicros;
  }

  /**
   * Makes the file. When this returns, it and its name survive a power cut; if it fails, a file may be left.
   */
  static async create(files: WalFiles, number: number, nowMicros: number): Promise<ActiveSegment> {
    const file = await files.create(segmentName(number));
    try {
      await file.writeDurably([encodeSegmentHeader(number, nowMicros)], 0);
      await files.syncDirectory();
    } catch (error) {
      await file.close();
      throw error;
    }
    return new ActiveSegment(number, file, nowMicros);
  }

  /** Bytes of records. All of them are durable. */
  get recordBytes(): number {
    return this.#length - segmentHeaderBytes;
  }

  get sinceMicros(): number {
    return this.#sinceMicros;
  }

  /**
   * True from a write until its bytes count. It stays true after a failure, when the file may hold any part
   * of them.
   */
  get torn(): boolean {
    return this.#torn;
  }

  /** Appends the bytes durably, but does not count them yet. */
  write(group: readonly EncodedRecord[]): Promise<void> {
    this.#torn = true;
    const buffers: Uint8Array[] = [];
    let position = this.#length;
    for (const record of group) {
      placeRecord(record, { segment: this.number, position });
      position += record.byteLength;
      for (const buffer of record.buffers) buffers.push(buffer);
    }
    if (position > this.#fileLength) {
      const preallocatedBytes = preallocationBehind(position, position - this.#length);
      if (preallocatedBytes > 0) buffers.push(zeros.subarray(0, preallocatedBytes));
      this.#fileLength = position + preallocatedBytes;
    }
    return this.#file.writeDurably(buffers, this.#length);
  }

  /** What was written counts from now on. */
  accept(group: readonly EncodedRecord[], nowMicros: number): void {
    if (this.records.length === 0) this.#sinceMicros = nowMicros;
    for (const record of group) {
      this.records.push(segmentRecord(record, this.#length));
      this.#length += record.byteLength;
    }
    this.#torn = false;
  }

  /** Takes away, durably, whatever a failed write left behind the records. Safe to repeat after a failure. */
  async cutBack(): Promise<void> {
    await this.#file.truncate(this.#length);
    await this.#file.sync();
  }

  /** Cuts the preallocated space off, durably. After a failure the segment is torn. */
  async cutPreallocation(): Promise<void> {
    if (this.#fileLength === this.#length) return;
    this.#torn = true;
    await this.cutBack();
    this.#fileLength = this.#length;
    this.#torn = false;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  seal(): SealedSegment {
    const { number, records } = this;
    return {
      number,
      name: segmentName(number),
      sinceMicros: this.#sinceMicros,
      byteLength: this.recordBytes,
      records,
      checkpoint: emptyCheckpoint(),
      manifests: [],
    };
  }
}

/**
 * As much as the file holds already, up to a bound; none if that is too little for several groups like the
 * last one.
 */
function preallocationBehind(position: number, groupBytes: number): number {
  const bytes = Math.min(position, limits.walMaxPreallocatedBytes);
  return bytes < minPreallocatedGroups * groupBytes ? 0 : bytes;
}
