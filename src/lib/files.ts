import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** The text of a file; undefined if it does not exist. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** When this returns, the names in the directory survive a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/**
 * Replaces or creates a file atomically: after a crash it is either complete or unchanged. When this returns,
 * it survives a power failure. Call it once at a time for each file.
 */
export async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  const draft = `${file}.new`;
  // A left-over draft would keep its mode and its open descriptors.
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncDirectory(dirname(file));
}

/**
 * Creates a directory and its parents, if they do not exist. When this returns, they survive a power failure.
 */
export async function makeDirectory(path: string, mode?: number): Promise<void> {
  const missing: string[] = [];
  for (let each = resolve(path); !(await isDirectory(each)); each = dirname(each)) missing.unshift(each);
  // Not by `recursive`: below /proc, Node.js tries for ever.
  for (const each of missing) {
    try {
      await mkdir(each, mode);
    } catch (error) {
      // Another process was faster.
      if (!hasErrorCode(error, 'EEXIST')) throw error;
    }
  }
  for (const each of missing) await syncDirectory(dirname(each));
}

/** @throws Error `ENOTDIR` if it is something else, or below something else */
async function isDirectory(path: string): Promise<boolean> {
  let isOne: boolean;
  try {
    isOne = (await stat(path)).isDirectory();
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
  if (!isOne) throw Object.assign(new Error(`ENOTDIR: ${path} is not a directory`), { code: 'ENOTDIR' });
  return true;
}

/** Whether an error of Node has this code, such as `ENOENT`. */
export const hasErrorCode = (thrown: unknown, code: string): boolean =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && thrown.code === code;
