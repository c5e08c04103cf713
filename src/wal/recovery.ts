import { crc32 } from 'node:zlib';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { WalFile, WalFiles } from './files.ts';
import {
  readPayload,
  readRecordHeader,
  recordHeaderBytes,
  recordMagic,
  segmentHeaderBytes,
  segmentHeaderProblem,
} from './record.ts';
import { type SealedSegment, type SegmentRecord, segmentNumber } from './segment.ts';

/**
 * Reads the log after a stop of any kind.
 *
 * Each segment that is left and holds a record becomes a sealed one again, with the records that are whole, in their order, so
 * that it makes the same inserts under the same tokens as before. Blocks stay on disk until they are needed.
 *
 * - A torn tail (no whole record behind the bad bytes) was never acknowledged. It is cut off and counted.
 * - Damage with whole records behind it is something that happened to the disk. The damaged bytes are copied
 *   to `<segment>.damaged-<position>`, counted and reported as an error; every other record is kept.
 * - A segment of an unknown format version stops the start: another version of Millrace wrote it.
 */
export interface Recovery {
  readonly segments: readonly SealedSegment[];
  /** Files without a record. They can go once a segment with a higher number exists. */
  readonly empty: readonly string[];
  /** Above every number in the directory. */
  readonly nextNumber: number;
}

export async function recoverWal(files: WalFiles, log: Logger, metrics: Metrics): Promise<Recovery> {
  const names = (await files.list()).filter((name) => segmentNumber(name) !== undefined).sort();
  const segments: SealedSegment[] = [];
  let highest = 0;
  for (const name of names) {
    const number = segmentNumber(name) ?? 0;
    highest = Math.max(highest, number);
    segments.push(await recoverSegment(files, name, number, log, metrics));
  }
  return {
    segments: segments.filter(({ records }) => records.length > 0),
    empty: segments.filter(({ records }) => records.length === 0).map(({ name }) => name),
    nextNumber: highest + 1,
  };
}

async function recoverSegment(
  files: WalFiles,
  name: string,
  number: number,
  log: Logger,
  metrics: Metrics,
): Promise<SealedSegment> {
  const size = await files.size(name);
  const file = await files.open(name);
  try {
    const header = await file.read(0, segmentHeaderBytes);
    const problem = size < segmentHeaderBytes ? undefined : segmentHeaderProblem(header, number);
    if (problem !== undefined) throw new Error(`${name}: ${problem}`);
    const records: SegmentRecord[] = [];
    let position = Math.min(segmentHeaderBytes, size);
    while (position < size) {
      const found = await readRecord(file, position, size);
      if (found !== undefined) {
        records.push(found.record);
        position = found.end;
        continue;
      }
      const next = await findRecord(file, position + 1, size);
      if (next === undefined) {
        log.warn(
          { segment: name, position, bytes: size - position },
          'cut an incomplete record off the end of the log; it was never acknowledged',
        );
        metrics.walTornBytes.inc(size - position);
        await file.truncate(position);
        await file.sync();
        break;
      }
      await setAside(files, file, `${name}.damaged-${position}`, position, next);
      log.error(
        { segment: name, position, bytes: next - position },
        'a part of the log is damaged; it was set aside and the rest is kept',
      );
      metrics.walDamagedBytes.inc(next - position);
      position = next;
    }
    const sinceMicros = header.length === segmentHeaderBytes ? Number(header.readBigUInt64LE(20)) : 0;
    return { number, name, sinceMicros, byteLength: Math.max(0, position - segmentHeaderBytes), records };
  } finally {
    await file.close();
  }
}

async function readRecord(
  file: WalFile,
  position: number,
  size: number,
): Promise<{ record: SegmentRecord; end: number } | undefined> {
  const head = readRecordHeader(await file.read(position, recordHeaderBytes));
  const end = position + recordHeaderBytes + (head?.payloadLength ?? 0);
  if (head === undefined || end > size) return undefined;
  const payload = await file.read(position + recordHeaderBytes, head.payloadLength);
  if (payload.length < head.payloadLength || crc32(payload) !== head.checksum) return undefined;
  const { header, blocksOffset } = readPayload(payload);
  const blocksPosition = position + recordHeaderBytes + blocksOffset;
  return { record: { header, blocksPosition, blocks: undefined }, end };
}

const searchBytes = 1024 * 1024;

/** The position of the next whole record at or after `from`. */
async function findRecord(file: WalFile, from: number, size: number): Promise<number | undefined> {
  let position = from;
  while (position < size) {
    const chunk = await file.read(position, searchBytes);
    let at = chunk.indexOf(recordMagic);
    while (at >= 0) {
      if ((await readRecord(file, position + at, size)) !== undefined) return position + at;
      at = chunk.indexOf(recordMagic, at + 1);
    }
    // A magic may lie across two chunks.
    if (chunk.length < searchBytes) return undefined;
    position += chunk.length - recordMagic.length + 1;
  }
  return undefined;
}

async function setAside(
  files: WalFiles,
  from: WalFile,
  name: string,
  start: number,
  end: number,
): Promise<void> {
  // An earlier start may have set the same bytes aside.
  if ((await files.list()).includes(name)) return;
  const to = await files.create(name);
  try {
    for (let position = start; position < end; position += searchBytes) {
      const chunk = await from.read(position, Math.min(searchBytes, end - position));
      await to.write([chunk], position - start);
    }
    await to.sync();
  } finally {
    await to.close();
  }
  await files.syncDirectory();
}
