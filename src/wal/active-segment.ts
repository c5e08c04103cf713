import type { WalFile, WalFiles } from './files.ts';
import { type EncodedRecord, encodeSegmentHeader, segmentHeaderBytes } from './record.ts';
import { type SealedSegment, type SegmentRecord, segmentName, segmentRecord } from './segment.ts';

/** The segment that takes records. Used by one writer at a time. */
export class ActiveSegment {
  readonly number: number;
  readonly records: SegmentRecord[] = [];
  readonly #file: WalFile;
  #length = segmentHeaderBytes;
  /** When the first record came, microseconds since 1970; before that, when the file was made. */
  #sinceMicros: number;

  private constructor(number: number, file: WalFile, createdMicros: number) {
    this.number = number;
    this.#file = file;
    this.#sinceMicros = createdMicros;
  }

  /** Makes the file. When this returns, it and its name survive a power cut. */
  static async create(files: WalFiles, number: number, nowMicros: number): Promise<ActiveSegment> {
    const name = segmentName(number);
    const file = await files.create(name);
    try {
      await file.write([encodeSegmentHeader(number, nowMicros)], 0);
      await file.sync();
      await files.syncDirectory();
    } catch (error) {
      await file.close();
      // Probes of a full disk must not fill it with names. What stays is an empty segment, of no meaning.
      await files.remove(name).catch(() => undefined);
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

  /** Puts the bytes behind the durable ones, without making them count. */
  async write(group: readonly EncodedRecord[]): Promise<void> {
    const buffers = group.flatMap((record) => record.buffers);
    await this.#file.write(buffers, this.#length);
  }

  async sync(): Promise<void> {
    await this.#file.sync();
  }

  /** What was written and synced counts from now on. */
  accept(group: readonly EncodedRecord[], nowMicros: number): void {
    if (this.records.length === 0) this.#sinceMicros = nowMicros;
    for (const record of group) {
      this.records.push(segmentRecord(record, this.#length));
      this.#length += record.byteLength;
    }
  }

  /** Takes away whatever a failed write left behind the durable bytes. */
  async cutBack(): Promise<void> {
    await this.#file.truncate(this.#length);
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
    };
  }
}
