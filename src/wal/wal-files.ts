import { close, constants, fdatasync, ftruncate, open, read, writev } from 'node:fs';
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
  /**
   * The same, and all that is in the file is on the disk when this returns; after a failure, what `sync`
   * fails with.
   */
  writeDurably(buffers: readonly Uint8Array[], position: number): Promise<void>;
  /** Reads exactly `length` bytes, or up to the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
  truncate(length: number): Promise<void>;
  /**
   * Contents and length are on the disk when this returns (fdatasync). Of new contents `writeDurably` is
   * cheaper.
   */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const fs = {
  open: promisify(open),
  close: promisify(close),
  read: promisify(read),
  ftruncate: promisify(ftruncate),
};

/**
 * Without `promisify`, which takes microseconds to turn the results of `writev` into an object. @returns
 * bytes written
 */
const writevAt = (descriptor: number, buffers: readonly Uint8Array[], position: number): Promise<number> =>
  new Promise((done, fail) => {
    writev(descriptor, buffers, position, (error, bytesWritten) => {
      if (error === null) done(bytesWritten);
      else fail(error);
    });
  });

const syncData = (descriptor: number): Promise<void> =>
  new Promise((done, fail) => {
    fdatasync(descriptor, (error) => {
      if (error === null) done();
      else fail(error);
    });
  });

/** Linux takes at most 1,024 buffers in one writev. */
const maxBuffersPerWrite = 1024;

/**
 * With this flag, Linux syncs each write as fdatasync does: one call instead of two, each of which goes to a
 * thread of libuv and back. Consecutive writes of 6 KB took 241 us of CPU instead of 288 (medians of eight
 * alternating runs of 2,000). Elsewhere the flag promises less than libuv's fdatasync, which on macOS also
 * flushes the drive.
 */
const syncsWrites = process.platform === 'linux';
const { O_RDWR, O_CREAT, O_EXCL, O_DSYNC } = constants;
const createFlags = O_RDWR | O_CREAT | O_EXCL | (syncsWrites ? O_DSYNC : 0);

export async function openWalDirectory(directory: string): Promise<WalFiles> {
  await mkdir(directory, { recursive: true });
  // Its own name, too, must be durable; an earlier start may have ended before this.
  await syncDirectory(dirname(directory));
  const path = (name: string) => join(directory, name);
  return {
    list: () => readdir(directory),
    size: async (name) => (await stat(path(name))).size,
    create: async (name) => nodeFile(await fs.open(path(name), createFlags, 0o600), syncsWrites),
    open: async (name) => nodeFile(await fs.open(path(name), 'r+'), false),
    remove: (name) => rm(path(name), { force: true }),
    syncDirectory: () => syncDirectory(directory),
  };
}

/** @param isSynced whether each write is on the disk when it returns */
function nodeFile(descriptor: number, isSynced: boolean): WalFile {
  const write = (buffers: readonly Uint8Array[], position: number) => writeAll(descriptor, buffers, position);
  return {
    write,
    writeDurably: isSynced
      ? write
      : async (buffers, position) => {
          await write(buffers, position);
          await syncData(descriptor);
        },
    read: (position, length) => readAll(descriptor, position, length),
    truncate: (length) => fs.ftruncate(descriptor, length),
    sync: () => syncData(descriptor),
    close: () => fs.close(descriptor),
  };
}

/** `writev` may write less than it was given; the rest is sent again. */
async function writeAll(descriptor: number, buffers: readonly Uint8Array[], start: number): Promise<void> {
  let position = start;
  // Copied rather than written in parts, each of which may be a sync of its own.
  let rest = buffers.length <= maxBuffersPerWrite ? buffers : [Buffer.concat(buffers)];
  while (rest.length > 0) {
    const bytesWritten = await writevAt(descriptor, rest, position);
    position += bytesWritten;
    rest = dropBytes(rest, bytesWritten);
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
