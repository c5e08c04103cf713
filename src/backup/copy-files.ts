import { copyFile, link, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrorCode, syncDirectory } from '../lib/files.ts';

/** Copies a file that will not change. On the same file system it is a hard link, which takes no space. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    // The target is on another file system, or there are no hard links.
    if (!['EXDEV', 'EPERM', 'ENOTSUP', 'EMLINK'].some((code) => hasErrorCode(error, code))) throw error;
    await copyFile(from, to);
  }
}

/** Copies a file. @returns whether it was there */
export async function copyIfThere(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Names in a directory; none if it does not exist. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** When this returns, the directory and everything below it survive a power failure. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) {
      const file = await open(path, 'r');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    }
  }
  await syncDirectory(folder);
}
