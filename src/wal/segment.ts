import type { BatchManifest } from './batch-manifests.ts';
import type { Checkpoint } from './checkpoints.ts';
import type { EncodedRecord } from './record.ts';
import type { RecordHeader } from './record-header.ts';
import type { WalFile } from './wal-files.ts';

/** A durable record: where it lies in its segment file, and its blocks as long as they are held in memory. */
export interface SegmentRecord {
  readonly header: RecordHeader;
  /** File position of the first block; the others follow. */
  readonly blocksPosition: number;
  blocks: readonly Uint8Array[] | undefined;
}

/** A segment that takes no more records. It is the insert batch, always the same bytes in the same order. */
export interface SealedSegment {
  readonly number: number;
  readonly name: string;
  /** When its first record came, microseconds since 1970. */
  readonly sinceMicros: number;
  readonly byteLength: number;
  readonly records: readonly SegmentRecord[];
  /** The tables of it that the store has, as far as that is durable. */
  readonly checkpoint: Checkpoint;
  /** The parts of it that go into the store together with rows of other segments. Durable. */
  readonly manifests: BatchManifest[];
}

const suffix = '.wal';

export const segmentName = (number: number): string => `${String(number).padStart(20, '0')}${suffix}`;

/** The number in a segment file's name; undefined for other files. */
export function segmentNumber(name: string): number | undefined {
  return /^\d{20}\.wal$/.test(name) ? Number(name.slice(0, -suffix.length)) : undefined;
}

export function segmentRecord(encoded: EncodedRecord, position: number): SegmentRecord {
  return {
    header: encoded.header,
    blocksPosition: position + encoded.buffers[0].length,
    blocks: encoded.buffers.slice(1),
  };
}

export const blockBytes = (record: SegmentRecord): number =>
  record.header.blocks.reduce((sum, block) => sum + block.byteLength, 0);

/**
 * Reads the blocks of a record back from its segment file.
 * @throws Error if the file ends before they do
 */
export async function readBlocks(file: WalFile, record: SegmentRecord): Promise<Uint8Array[]> {
  const length = blockBytes(record);
  const bytes = await file.read(record.blocksPosition, length);
  if (bytes.length < length) {
    throw new Error(`a segment ends ${length - bytes.length} bytes before the blocks of its records`);
  }
  let offset = 0;
  return record.header.blocks.map(({ byteLength }) => {
    offset += byteLength;
    return bytes.subarray(offset - byteLength, offset);
  });
}
