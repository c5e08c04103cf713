import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** The text of a file; undefined if there is no such file. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The names in a directory survive a power cut when this returns. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/**
 * Puts a text in the place of a file, or makes the file. It is there as a whole or not at all, whenever the process or
 * the machine stops, and survives a power cut when this returns. One at a time for each file.
 */
export async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  const draft = `${file}.new`;
  // One that a crash left, or that was put there, keeps its mode and whoever has it open.
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

/** Makes a directory, and those above it, unless they are there. What it makes survives a power cut. */
export async function makeDirectory(path: string, mode?: number): Promise<void> {
  const first = await mkdir(path, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  if (first === undefined) return;
  const top = dirname(resolve(first));
  let parent = resolve(path);
  do {
    parent = dirname(parent);
    await syncDirectory(parent);
  } while (parent !== top);
}

/** Whether something thrown by Node carries this code, such as `ENOENT`. */
export const hasErrorCode = (thrown: unknown, code: string): boolean =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && thrown.code === code;
