import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { makeDirectory, readIfThere, replaceFile, syncDirectory } from './files.ts';
import { takeLock } from './process-lock.ts';

/**
 * The data directory: taken by one process at a time, and the small files in it.
 *
 *     lock             who has it: pid and start time of the process
 *     node             this node's name, made once; part of the store's deduplication tokens
 *     admin-password   if the service made it; mode 0600
 *     secret           what API keys are encrypted with, if no secret was configured; mode 0600
 *     datasets         how datasets were made, for a start while the store is away
 *     wal/             the write-ahead log
 *     dead/            rows that the store refused for good
 *     replay/          which requests were stored lately, after they have left the log
 *     store/           the embedded engine; engine.lock in it names its process
 */
export interface DataDirectory {
  readonly path: string;
  /** Never changes for this directory. */
  readonly node: string;
  release(): Promise<void>;
}

/**
 * Takes the directory, making it if it is missing.
 * @throws LockHeld naming the process that has it
 */
export async function takeDataDirectory(path: string): Promise<DataDirectory> {
  await makeDirectory(path, 0o700);
  const release = await takeLock(join(path, 'lock'));
  const node = await readOrMake(join(path, 'node'), () => randomUUID());
  // With another name, a repeat after a power cut would not be known as one. An earlier start may have ended
  // before this.
  await syncDirectory(path);
  return { path, node: node.value, release };
}

/** The administrator's password that this directory keeps; made if there is none. */
export async function loadOrCreatePassword(
  path: string,
): Promise<{ password: string; made: boolean; file: string }> {
  const file = join(path, 'admin-password');
  const { value, made } = await readOrMake(file, () => randomBytes(18).toString('base64url'));
  return { password: value, made, file };
}

/** The secret that this directory keeps; made if there is none. */
export async function loadOrCreateSecret(path: string): Promise<string> {
  const { value } = await readOrMake(join(path, 'secret'), () => randomBytes(32).toString('base64url'));
  return value;
}

/** What was made is there after a power cut, before anybody relies on it. */
async function readOrMake(file: string, make: () => string): Promise<{ value: string; made: boolean }> {
  const known = await readIfThere(file);
  if (known !== undefined && known.trim() !== '') return { value: known.trim(), made: false };
  const value = make();
  await replaceFile(file, `${value}\n`, 0o600);
  return { value, made: true };
}
