import { limits } from '../limits/limits.ts';
import type { WalFile, WalFiles } from './files.ts';
import { type EncodedRecord, encodeSegmentHeader, placeRecord, segmentHeaderBytes } from './record.ts';
import { type SealedSegment, type SegmentRecord, segmentName, segmentRecord } from './segment.ts';
import { noStoredTables } from './stored-notes.ts';

/** Room for fewer groups costs as much as it saves. */
const minGroupsInRoom = 4;

/** What room is made of. */
const zeros = Buffer.alloc(limits.walMaxRoomBytes);

/**
 * The segment that takes records. Used by one writer at a time.
 *
 * A write over what is in the file already costs half as much as one that makes it longer, for which the file system
 * finds blocks and writes its journal. So one that makes it longer writes room for the next ones, too: zeros, which no
 * reader takes for a record. There is no room in a segment that is sealed.
 */
export class ActiveSegment {
  readonly number: number;
  readonly records: SegmentRecord[] = [];
  readonly #file: WalFile;
  /** Behind the durable records. */
  #length = segmentHeaderBytes;
  /** Behind the room. */
  #fileLength = segmentHeaderBytes;
  /** When the first record came, microseconds since 1970; before that, when the file was made. */
  #sinceMicros: number;
  #torn = false;

  private constructor(number: number, file: WalFile, createdMicros: number) {
    this.number = number;
    this.#file = file;
    this.#sinceMicros = createdMicros;
  }

  /** Makes the file. When this returns, it and its name survive a power cut; if it fails, a file may be left. */
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

  /** True from a write until its bytes count; so after a failure, when the file may hold any part of them. */
  get torn(): boolean {
    return this.#torn;
  }

  /** Puts the bytes behind the durable ones, durably, without making them count. */
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
      const roomBytes = roomBehind(position, position - this.#length);
      if (roomBytes > 0) buffers.push(zeros.subarray(0, roomBytes));
      this.#fileLength = position + roomBytes;
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

  /** Takes the room away, durably. After a failure the segment is torn. */
  async endHere(): Promise<void> {
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
      stored: noStoredTables(),
      bundles: [],
    };
  }
}

/** As much as there is in the file, up to a bound; none where it would not be enough for several groups like the last. */
function roomBehind(position: number, groupBytes: number): number {
  const roomBytes = Math.min(position, limits.walMaxRoomBytes);
  return roomBytes < minGroupsInRoom * groupBytes ? 0 : roomBytes;
}
