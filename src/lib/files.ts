import { mkdir, open, readFile } from 'node:fs/promises';
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
