import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { makeDirectory, readIfThere, replaceFile, syncDirectory } from './files.ts';
import { takeLock } from './process-lock.ts';

/**
 * The data directory, used by one process at a time, and the small files in it.
 *
 *     lock             who uses it: pid and start time of the process
 *     node             the name of this node, made once; part of the store's deduplication tokens
 *     admin-password   if the service generated it; mode 0600
 *     secret           encrypts API keys, if no secret was configured; mode 0600
 *     datasets         the options of datasets, for a start while the store is away
 *     wal/             the write-ahead log
 *     dead/            dead letters: rows that the store rejected permanently
 *     replay/          requests that were stored recently and have left the log
 *     store/           the embedded engine; engine.lock in it names its process
 */
export interface DataDirectory {
  readonly path: string;
  /** Never changes for this directory. */
  readonly node: string;
  release(): Promise<void>;
}

/**
 * Takes the directory, and creates it if it is missing.
 * @throws LockHeld naming the process that uses it
 */
export async function takeDataDirectory(path: string): Promise<DataDirectory> {
  await makeDirectory(path, 0o700);
  const release = await takeLock(join(path, 'lock'));
  const node = await readOrMake(join(path, 'node'), () => randomUUID());
  // Under another name, inserts that are repeated after a power failure would not be deduplicated. An earlier
  // start may have ended before this point.
  await syncDirectory(path);
  return { path, node: node.value, release };
}

/** The generated password of the administrator in this directory; generated now if there is none. */
export async function loadOrCreatePassword(
  path: string,
): Promise<{ password: string; made: boolean; file: string }> {
  const file = join(path, 'admin-password');
  const { value, made } = await readOrMake(file, () => randomBytes(18).toString('base64url'));
  return { password: value, made, file };
}

/** The generated secret in this directory; generated now if there is none. */
export async function loadOrCreateSecret(path: string): Promise<string> {
  const { value } = await readOrMake(join(path, 'secret'), () => randomBytes(32).toString('base64url'));
  return value;
}

/** The file survives a power failure before the value is used. */
async function readOrMake(file: string, make: () => string): Promise<{ value: string; made: boolean }> {
  const known = await readIfThere(file);
  if (known !== undefined && known.trim() !== '') return { value: known.trim(), made: false };
  const value = make();
  await replaceFile(file, `${value}\n`, 0o600);
  return { value, made: true };
}
