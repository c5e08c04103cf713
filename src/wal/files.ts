import { close, fdatasync, ftruncate, open, read, writev } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { syncDirectory } from '../lib/files.ts';

/**
 * The file system as the log sees it: small, so that a test can put one in its place that fails, tears writes
 * or forgets what was not synced.
 */
export interface WalFiles {
  /** Names in the log's directory, unordered. */
  list(): Promise<string[]>;
  size(name: string): Promise<number>;
  /** A new file; fails if it exists. It is durable only after its own `sync` and `syncDirectory`. */
  create(name: string): Promise<WalFile>;
  open(name: string): Promise<WalFile>;
  /** No error if there is no such file. Durable only after `syncDirectory`. */
  remove(name: string): Promise<void>;
  syncDirectory(): Promise<void>;
}

export interface WalFile {
  /** Writes all of the buffers at `position`. On failure any part of them may be in the file. */
  write(buffers: readonly Uint8Array[], position: number): Promise<void>;
  /** Reads exactly `length` bytes, or up to the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
  truncate(length: number): Promise<void>;
  /** Contents and length are on the disk when this returns (fdatasync). */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const fs = {
  open: promisify(open),
  close: promisify(close),
  read: promisify(read),
  writev: promisify(writev),
  fdatasync: promisify(fdatasync),
  ftruncate: promisify(ftruncate),
};

/** Linux takes at most 1,024 buffers in one writev. */
const maxBuffersPerWrite = 1024;

export async function openWalDirectory(directory: string): Promise<WalFiles> {
  await mkdir(directory, { recursive: true });
  // Its own name, too, must be durable; an earlier start may have ended before this.
  await syncDirectory(dirname(directory));
  const path = (name: string) => join(directory, name);
  return {
    list: () => readdir(directory),
    size: async (name) => (await stat(path(name))).size,
    create: async (name) => nodeFile(await fs.open(path(name), 'wx+', 0o600)),
    open: async (name) => nodeFile(await fs.open(path(name), 'r+')),
    remove: (name) => rm(path(name), { force: true }),
    syncDirectory: () => syncDirectory(directory),
  };
}

function nodeFile(descriptor: number): WalFile {
  return {
    write: (buffers, position) => writeAll(descriptor, buffers, position),
    read: (position, length) => readAll(descriptor, position, length),
    truncate: (length) => fs.ftruncate(descriptor, length),
    sync: () => fs.fdatasync(descriptor),
    close: () => fs.close(descriptor),
  };
}

/** `writev` may write less than it was given; the rest is sent again. */
async function writeAll(descriptor: number, buffers: readonly Uint8Array[], start: number): Promise<void> {
  let position = start;
  const end = buffers.reduce((sum, { byteLength }) => sum + byteLength, start);
  let rest = buffers.filter((buffer) => buffer.byteLength > 0);
  while (rest.length > 0) {
    const batch = rest.length <= maxBuffersPerWrite ? rest : rest.slice(0, maxBuffersPerWrite);
    const { bytesWritten } = await fs.writev(descriptor, batch, position);
    position += bytesWritten;
    if (batch === rest && position === end) return;
    rest = [...dropBytes(batch, bytesWritten), ...rest.slice(batch.length)];
  }
}

function dropBytes(buffers: readonly Uint8Array[], count: number): Uint8Array[] {
  let left = count;
  const rest: Uint8Array[] = [];
  for (const buffer of buffers) {
    if (left >= buffer.byteLength) {
      left -= buffer.byteLength;
    } else {
      rest.push(left === 0 ? buffer : buffer.subarray(left));
      left = 0;
    }
  }
  return rest;
}

async function readAll(descriptor: number, start: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await fs.read(descriptor, buffer, filled, length - filled, start + filled);
    if (bytesRead === 0) return buffer.subarray(0, filled);
    filled += bytesRead;
  }
  return buffer;
}
