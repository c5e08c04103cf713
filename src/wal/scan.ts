import { crc32 } from 'node:zlib';
import { type RecordPlace, readPayload, readRecordHeader, recordHeaderBytes, recordMagic } from './record.ts';
import type { SegmentRecord } from './segment.ts';
import type { WalFile } from './wal-files.ts';

/** What a segment file holds, by position in the file. */
export interface SegmentScan {
  readonly records: readonly SegmentRecord[];
  /** Ranges of bytes that are not a whole record, each followed by a whole record. */
  readonly damaged: ReadonlyArray<{ readonly start: number; readonly end: number }>;
  /** Behind the last whole record. */
  readonly end: number;
}

/** Finds the whole records of a segment from `start` to `size`. */
export async function scanSegment(
  file: WalFile,
  segment: number,
  start: number,
  size: number,
): Promise<SegmentScan> {
  const records: SegmentRecord[] = [];
  const damaged: Array<{ start: number; end: number }> = [];
  let position = start;
  while (position < size) {
    const found = await readRecord(file, { segment, position }, size);
    if (found?.record !== undefined) {
      records.push(found.record);
      position = found.end;
      continue;
    }
    // Bytes inside a record, even a damaged one, are a client's data, whatever they look like.
    const next = await findRecord(file, segment, found?.end ?? position + 1, size);
    if (next === undefined) break;
    damaged.push({ start: position, end: next });
    position = next;
  }
  return { records, damaged, end: position };
}

interface Found {
  /** Undefined if the payload is not as it was written. */
  readonly record: SegmentRecord | undefined;
  readonly end: number;
}

/** @returns undefined if there is no header of a record at that place */
async function readRecord(file: WalFile, place: RecordPlace, size: number): Promise<Found | undefined> {
  const payloadStart = place.position + recordHeaderBytes;
  const head = readRecordHeader(await file.read(place.position, recordHeaderBytes), place);
  if (head === undefined) return undefined;
  const end = payloadStart + head.payloadLength;
  if (end > size) return { record: undefined, end };
  const payload = await file.read(payloadStart, head.payloadLength);
  if (payload.length < head.payloadLength || crc32(payload) !== head.checksum) {
    return { record: undefined, end };
  }
  const { header, blocksOffset } = readPayload(payload);
  return { record: { header, blocksPosition: payloadStart + blocksOffset, blocks: undefined }, end };
}

const searchBytes = 1024 * 1024;

/** The position of the next whole record at or after `from`. */
async function findRecord(
  file: WalFile,
  segment: number,
  from: number,
  size: number,
): Promise<number | undefined> {
  let position = from;
  while (position < size) {
    const chunk = await file.read(position, searchBytes);
    // A header that the chunk cuts off is found again in the next one.
    const nextPosition = position + chunk.length - recordHeaderBytes + 1;
    for (let at = chunk.indexOf(recordMagic); at >= 0; at = chunk.indexOf(recordMagic, at + 1)) {
      const place = { segment, position: position + at };
      if (readRecordHeader(chunk.subarray(at, at + recordHeaderBytes), place) === undefined) continue;
      if ((await readRecord(file, place, size))?.record !== undefined) return place.position;
    }
    if (chunk.length < searchBytes) return undefined;
    position = nextPosition;
  }
  return undefined;
}
