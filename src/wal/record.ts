/**
 * The format of the write-ahead log on disk. All integers are little-endian.
 *
 * Segment file `<20 digits>.wal`:
 *
 *     bytes  0..7    "MILLRACE"
 *     bytes  8..11   format version, u32 (1)
 *     bytes 12..19   segment number, u64, the one in the file's name
 *     bytes 20..27   creation time, microseconds since 1970, u64
 *     bytes 28..31   CRC-32 of bytes 0..27
 *     then records, back to back
 *
 * Record (one request):
 *
 *     bytes  0..3    "MREC"
 *     bytes  4..7    length of the payload, u32
 *     bytes  8..11   CRC-32 of the payload
 *     bytes 12..15   CRC-32 of bytes 0..11, so that a length can be trusted before the payload is read
 *     payload:       u32 length of the header, the header as JSON (`RecordHeader`), then the Native blocks of
 *                    the tables in the order of the header
 *
 * A record is acknowledged only after it and all before it in its segment were written and fdatasynced, so at
 * most the end of the newest segment can hold half of one. A reader that meets bytes that are no whole record:
 * - nothing but a prefix of a record up to the end of the file, or a bad checksum with no good record behind
 *   it: a torn tail, from a crash in the middle of a write. It was never acknowledged; it is cut.
 * - a bad checksum with good records behind it: damage. See `recovery.ts`.
 */

import { crc32 } from 'node:zlib';
import { limits } from '../limits.ts';
import type { TableBlock } from '../model/block.ts';
import type { ColumnSpec } from '../model/column.ts';
import { type DatasetKind, type TableName, tablesOfKind } from '../model/dataset.ts';
import type { StoredRequest } from '../model/replay.ts';

export const segmentHeaderBytes = 32;
export const recordHeaderBytes = 16;
const formatVersion = 1;
const segmentMagic = Buffer.from('MILLRACE', 'latin1');
export const recordMagic = Buffer.from('MREC', 'latin1');

/** What a record says about its blocks. */
export interface RecordHeader {
  readonly tenant: string;
  readonly dataset: string;
  readonly kind: DatasetKind;
  /** How the request is known again; absent when it is not, and in logs of before this existed. */
  readonly request?: StoredRequest | undefined;
  readonly blocks: readonly BlockHeader[];
}

export interface BlockHeader {
  readonly table: TableName;
  readonly rows: number;
  readonly byteLength: number;
  readonly columns: readonly ColumnSpec[];
}

/** One request as it goes into the log. */
export interface WalRecord {
  readonly tenant: string;
  readonly dataset: string;
  readonly kind: DatasetKind;
  readonly request?: StoredRequest | undefined;
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

/** Why the bytes are not the header of that segment; undefined if they are. */
export function segmentHeaderProblem(bytes: Buffer, segment: number): string | undefined {
  if (bytes.length < segmentHeaderBytes) return 'the file is shorter than a segment header';
  if (!bytes.subarray(0, 8).equals(segmentMagic)) return 'the file does not begin as a segment';
  if (crc32(bytes.subarray(0, 28)) !== bytes.readUInt32LE(28)) return 'the segment header is damaged';
  const version = bytes.readUInt32LE(8);
  if (version !== formatVersion) {
    return `the segment has format ${version}; this version of Millrace reads ${formatVersion}`;
  }
  const number = bytes.readBigUInt64LE(12);
  return number === BigInt(segment) ? undefined : `the file holds segment ${number}`;
}

/** A record ready to be written: the buffers follow each other on disk. */
export interface EncodedRecord {
  readonly header: RecordHeader;
  readonly buffers: readonly Uint8Array[];
  readonly byteLength: number;
  /** From the start of the record to its first block. */
  readonly blocksOffset: number;
}

export function encodeRecord(record: WalRecord): EncodedRecord {
  const blocks = record.blocks.map(({ table, rows, columns, bytes }) => ({
    table,
    rows,
    byteLength: bytes.byteLength,
    columns,
  }));
  const header: RecordHeader = { ...record, blocks };
  const json = Buffer.from(JSON.stringify(header), 'utf8');
  const blockBytes = blocks.reduce((sum, block) => sum + block.byteLength, 0);
  const payloadLength = 4 + json.length + blockBytes;
  if (payloadLength > limits.walMaxRecordBytes) {
    throw new Error(`BUG: a record of ${payloadLength} bytes passed the bound on bodies`);
  }
  const blocksOffset = recordHeaderBytes + 4 + json.length;
  const start = Buffer.allocUnsafeSlow(blocksOffset);
  recordMagic.copy(start, 0);
  start.writeUInt32LE(payloadLength, 4);
  start.writeUInt32LE(json.length, recordHeaderBytes);
  json.copy(start, recordHeaderBytes + 4);
  let checksum = crc32(start.subarray(recordHeaderBytes));
  for (const { bytes } of record.blocks) checksum = crc32(bytes, checksum);
  start.writeUInt32LE(checksum, 8);
  start.writeUInt32LE(crc32(start.subarray(0, 12)), 12);
  const buffers = [start, ...record.blocks.map((block) => block.bytes)];
  return { header, buffers, byteLength: blocksOffset + blockBytes, blocksOffset };
}

/** The length of the payload behind a record header; undefined if these 16 bytes are none. */
export function readRecordHeader(bytes: Buffer): { payloadLength: number; checksum: number } | undefined {
  if (bytes.length < recordHeaderBytes || !bytes.subarray(0, 4).equals(recordMagic)) return undefined;
  if (crc32(bytes.subarray(0, 12)) !== bytes.readUInt32LE(12)) return undefined;
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
