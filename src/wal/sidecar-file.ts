import { crc32 } from 'node:zlib';
import type { WalFiles } from './wal-files.ts';

/**
 * A sidecar file of the log: a small file beside the segments that is written once and never changed. One
 * line:
 *
 *     <CRC-32 of what follows the space, 8 hexadecimal digits> <JSON>
 */

/** Makes a sidecar file durable. It must not exist; after a failure any part of it may. */
export async function writeSidecar(files: WalFiles, name: string, value: object): Promise<void> {
  const file = await files.create(name);
  try {
    await file.writeDurably([encode(value)], 0);
  } finally {
    await file.close();
  }
  await files.syncDirectory();
}

/**
 * Reads a sidecar file that an earlier run of the process left. A file that can be read is not necessarily on
 * the disk, so a good one is written and synced once more.
 * @returns undefined for one that is not as it was written: nobody has relied on it
 */
export async function recoverSidecar(files: WalFiles, name: string): Promise<unknown> {
  const size = await files.size(name);
  const file = await files.open(name);
  try {
    const bytes = await file.read(0, size);
    const value = decode(bytes);
    if (value !== undefined) {
      await file.writeDurably([bytes], 0);
    }
    return value;
  } finally {
    await file.close();
  }
}

function encode(value: object): Buffer {
  const text = Buffer.from(JSON.stringify(value));
  return Buffer.concat([Buffer.from(`${checksum(text)} `), text, Buffer.from('\n')]);
}

function decode(bytes: Buffer): unknown {
  const text = bytes.subarray(9, bytes.length - 1);
  return bytes.toString('latin1', 0, 9) === `${checksum(text)} ` ? JSON.parse(text.toString()) : undefined;
}

const checksum = (bytes: Buffer): string => crc32(bytes).toString(16).padStart(8, '0');
