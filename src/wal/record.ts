/** Records and headers of segments as bytes. Their format is in `wal.ts`. */
import { crc32 } from 'node:zlib';
import { limits } from '../limits/limits.ts';
import type { TableBlock } from '../model/block.ts';
import { tablesOfKind } from '../model/dataset.ts';
import { type RecordHeader, recordHeaderJson } from './record-header.ts';

export const segmentHeaderBytes = 32;
export const recordHeaderBytes = 16;
const formatVersion = 1;
const segmentMagic = Buffer.from('MILLRACE', 'latin1');
export const recordMagic = Buffer.from('MREC', 'latin1');

/** One request as it goes into the log. */
export interface WalRecord extends Omit<RecordHeader, 'blocks'> {
  readonly blocks: readonly TableBlock[];
}

export function encodeSegmentHeader(segment: number, createdMicros: number): Buffer {
  const header = Buffer.alloc(segmentHeaderBytes);
  segmentMagic.copy(header, 0);
  header.writeUInt32LE(formatVersion, 8);
  header.writeBigUInt64LE(BigInt(segment), 12);
  header.writeBigUInt64LE(BigInt(createdMicros), 20);
  header.writeUInt32LE(crc32(header.subarray(0, 28)), 28);
  return header;
}

export interface SegmentHeader {
  /** Microseconds since 1970. */
  readonly createdMicros: number;
}

/**
 * @returns undefined if the bytes are not the header of that segment
 * @throws Error if it has a format that this version does not read
 */
export function readSegmentHeader(bytes: Buffer, segment: number): SegmentHeader | undefined {
  if (bytes.length < segmentHeaderBytes || !bytes.subarray(0, 8).equals(segmentMagic)) return undefined;
  if (crc32(bytes.subarray(0, 28)) !== bytes.readUInt32LE(28)) return undefined;
  if (bytes.readBigUInt64LE(12) !== BigInt(segment)) return undefined;
  const version = bytes.readUInt32LE(8);
  if (version !== formatVersion) {
    throw new Error(
      `segment ${segment} of the log has format ${version}; this version of Millrace reads ${formatVersion}`,
    );
  }
  return { createdMicros: Number(bytes.readBigUInt64LE(20)) };
}

/** A record that only lacks its place (`placeRecord`). The buffers follow each other on disk. */
export interface EncodedRecord {
  readonly header: RecordHeader;
  /** The first ends where the first block begins. */
  readonly buffers: readonly [Buffer, ...Uint8Array[]];
  readonly byteLength: number;
}

export function encodeRecord(record: WalRecord): EncodedRecord {
  const { tenant, dataset, kind, presumed, request, received } = record;
  const blocks = record.blocks.map(({ table, rows, columns, bytes }) => ({
    table,
    rows,
    byteLength: bytes.byteLength,
    columns,
  }));
  const header: RecordHeader = { tenant, dataset, kind, presumed, request, received, blocks };
  const json = recordHeaderJson(header);
  const jsonLength = Buffer.byteLength(json);
  const blockBytes = blocks.reduce((sum, block) => sum + block.byteLength, 0);
  const payloadLength = 4 + jsonLength + blockBytes;
  if (payloadLength > limits.walMaxRecordBytes) {
    throw new Error(`BUG: a record of ${payloadLength} bytes passed the bound on bodies`);
  }
  const blocksOffset = recordHeaderBytes + 4 + jsonLength;
  // From Node's pool, where it is small: it is only kept until it is written.
  const start = Buffer.allocUnsafe(blocksOffset);
  recordMagic.copy(start, 0);
  start.writeUInt32LE(payloadLength, 4);
  start.writeUInt32LE(jsonLength, recordHeaderBytes);
  start.write(json, recordHeaderBytes + 4);
  let checksum = crc32(start.subarray(recordHeaderBytes));
  for (const { bytes } of record.blocks) checksum = crc32(bytes, checksum);
  start.writeUInt32LE(checksum, 8);
  return {
    header,
    buffers: [start, ...record.blocks.map((block) => block.bytes)],
    byteLength: blocksOffset + blockBytes,
  };
}

/** Where a record lies: the number of its segment and its position in the file. */
export interface RecordPlace {
  readonly segment: number;
  readonly position: number;
}

/** Makes a record valid in one place, and in no other. */
export function placeRecord(record: EncodedRecord, place: RecordPlace): void {
  const [start] = record.buffers;
  start.writeUInt32LE(headerChecksum(start, place), 12);
}

/** The length of the payload behind a record header; undefined if there is none for that place. */
export function readRecordHeader(
  bytes: Buffer,
  place: RecordPlace,
): { payloadLength: number; checksum: number } | undefined {
  if (bytes.length < recordHeaderBytes || !bytes.subarray(0, 4).equals(recordMagic)) return undefined;
  if (headerChecksum(bytes, place) !== bytes.readUInt32LE(12)) return undefined;
  const payloadLength = bytes.readUInt32LE(4);
  if (payloadLength < 4 || payloadLength > limits.walMaxRecordBytes) return undefined;
  return { payloadLength, checksum: bytes.readUInt32LE(8) };
}

/**
 * Reads a payload whose checksum was found good; what it says is therefore what was written.
 * @returns the header, and where the first block begins in the payload
 */
export function readPayload(payload: Buffer): { header: RecordHeader; blocksOffset: number } {
  const jsonLength = payload.readUInt32LE(0);
  const header = JSON.parse(payload.toString('utf8', 4, 4 + jsonLength)) as RecordHeader;
  const blocksOffset = 4 + jsonLength;
  const blockBytes = header.blocks.reduce((sum, block) => sum + block.byteLength, 0);
  if (!Object.hasOwn(tablesOfKind, header.kind) || blocksOffset + blockBytes !== payload.length) {
    throw new Error('a log record with a good checksum does not hold what its header says');
  }
  return { header, blocksOffset };
}

function headerChecksum(header: Buffer, { segment, position }: RecordPlace): number {
  writeUint64(checkedPlace, segment, 0);
  writeUint64(checkedPlace, position, 8);
  header.copy(checkedPlace, 16, 0, 12);
  return crc32(checkedPlace);
}

/** What the checksum of a record's place is made of; used over and over. */
const checkedPlace = Buffer.alloc(28);

/** `value` is an integer from 0 to 2^53. */
function writeUint64(bytes: Buffer, value: number, offset: number): void {
  bytes.writeUInt32LE(value % 2 ** 32, offset);
  bytes.writeUInt32LE(Math.floor(value / 2 ** 32), offset + 4);
}
