import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { recoverManifests } from './batch-manifests.ts';
import { emptyCheckpoint, recoverCheckpoints } from './checkpoints.ts';
import { readSegmentHeader, segmentHeaderBytes } from './record.ts';
import { scanSegment } from './scan.ts';
import { type SealedSegment, segmentName, segmentNumber } from './segment.ts';
import type { WalFile, WalFiles } from './wal-files.ts';

/** What the log holds after a stop of any kind, as far as it can be read: `wal.ts` says what is kept. */
export interface Recovery {
  readonly segments: readonly SealedSegment[];
  /** Numbers of the files without a record. They can go once a segment with a higher number exists. */
  readonly empty: readonly number[];
  /** Above every number in the directory. */
  readonly nextNumber: number;
}

/** Reads the log at the start. Blocks stay on disk until they are needed. @throws what the disk throws */
export async function recoverWal(files: WalFiles, log: Logger, metrics: Metrics): Promise<Recovery> {
  const numbers = (await files.list()).map(segmentNumber).filter((number) => number !== undefined);
  numbers.sort((a, b) => a - b);
  const newest = numbers.at(-1) ?? 0;
  const checkpoints = await recoverCheckpoints(files, new Set(numbers));
  const manifests = await recoverManifests(files, new Set(numbers));
  const segments: SealedSegment[] = [];
  for (const number of numbers) {
    const segment = await recoverSegment(files, number, number === newest, log, metrics);
    segments.push({
      ...segment,
      checkpoint: checkpoints.get(number) ?? emptyCheckpoint(),
      manifests: manifests.filter(({ segments }) => segments.includes(number)),
    });
  }
  if (newest > 0) await writeAgain(files, segmentName(newest));
  return {
    segments: segments.filter(({ records }) => records.length > 0),
    empty: segments.filter(({ records }) => records.length === 0).map(({ number }) => number),
    nextNumber: newest + 1,
  };
}

async function recoverSegment(
  files: WalFiles,
  number: number,
  isNewest: boolean,
  log: Logger,
  metrics: Metrics,
): Promise<Omit<SealedSegment, 'checkpoint' | 'manifests'>> {
  const name = segmentName(number);
  const size = await files.size(name);
  const file = await files.open(name);
  try {
    const header = readSegmentHeader(await file.read(0, segmentHeaderBytes), number);
    const start = header === undefined ? 0 : segmentHeaderBytes;
    const { records, damaged, end } = await scanSegment(file, number, start, size);
    const torn = header === undefined ? size <= segmentHeaderBytes : isNewest;
    const tail = end < size ? [{ start: end, end: size }] : [];
    for (const { start: position, end: behind } of torn ? damaged : [...damaged, ...tail]) {
      await setAside(files, file, `${name}.damaged-${position}`, position, behind);
      const bytes = behind - position;
      log.error(
        { segment: name, position, bytes },
        isNewest
          ? 'a part of the newest segment is damaged, or was being written when the power failed; it was set aside and the rest is kept'
          : 'a part of the log is damaged; it was set aside and the rest is kept',
      );
      metrics.walDamagedBytes.inc(bytes);
    }
    const bytes = torn ? (await zerosStart(file, end, size)) - end : 0;
    if (bytes > 0) {
      log.warn(
        { segment: name, position: end, bytes },
        'cut an incomplete record off the end of the log; it was never acknowledged',
      );
      metrics.walTornBytes.inc(bytes);
    }
    if (end < size) await file.truncate(end);
    const byteLength = Math.max(0, end - segmentHeaderBytes);
    return { number, name, sinceMicros: header?.createdMicros ?? 0, byteLength, records };
  } finally {
    await file.close();
  }
}

const copyBytes = 1024 * 1024;

/** Where the zeros at the end of a file begin; `from` if there is nothing but zeros after it. */
async function zerosStart(file: WalFile, from: number, size: number): Promise<number> {
  let start = from;
  for (let position = from; position < size; position += copyBytes) {
    const chunk = await file.read(position, Math.min(copyBytes, size - position));
    const last = chunk.findLastIndex((byte) => byte !== 0);
    if (last >= 0) start = position + last + 1;
  }
  return start;
}

/** Copies a range of a segment to a file of its own. An earlier start may have begun the same. */
async function setAside(
  files: WalFiles,
  from: WalFile,
  name: string,
  start: number,
  end: number,
): Promise<void> {
  await files.remove(name);
  const to = await files.create(name);
  try {
    for (let position = start; position < end; position += copyBytes) {
      const chunk = await from.read(position, Math.min(copyBytes, end - position));
      await to.write([chunk], position - start);
    }
    await to.sync();
  } finally {
    await to.close();
  }
  await files.syncDirectory();
}

/**
 * Writes a file's own contents again and syncs it. A sync alone is not enough: after a failed one in an
 * earlier run, the kernel still shows bytes that it has given up writing.
 */
async function writeAgain(files: WalFiles, name: string): Promise<void> {
  const size = await files.size(name);
  const file = await files.open(name);
  try {
    for (let position = 0; position < size; position += copyBytes) {
      await file.write([await file.read(position, copyBytes)], position);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
