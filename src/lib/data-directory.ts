import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../errors.ts';
import { makeDirectory, readIfThere, replaceFile, syncDirectory } from './files.ts';
import { LockHeld, takeLock } from './process-lock.ts';
import { StartError } from './start-error.ts';

/**
 * The data directory, used by one process at a time, and the small files in it.
 *
 *     lock             who uses it: pid and start time of the process
 *     node             the name of this node, made once; part of the store's deduplication tokens
 *     admin-password   if the service generated it; mode 0600
 *     admin-password-unshown   as long as no start that could have shown it has succeeded
 *     backups/         backups, unless they go elsewhere
 *     restore-incomplete   while a backup is restored into it
 *     address          the URL of the service, while it runs
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
 * @throws StartError that says why it cannot be used
 */
export async function takeDataDirectory(path: string): Promise<DataDirectory> {
  if (existsSync(join(path, restoreMark)))
    throw new StartError(
      `a restore into ${path} did not end: empty that directory, and restore the backup again`,
    );
  try {
    await makeDirectory(path, 0o700);
    const release = await takeLock(join(path, 'lock'));
    const node = await readOrMake(join(path, 'node'), () => randomUUID());
    // Under another name, inserts that are repeated after a power failure would not be deduplicated. An
    // earlier start may have ended before this point.
    await syncDirectory(path);
    return { path, node: node.value, release };
  } catch (error) {
    if (error instanceof LockHeld) throw error;
    throw new StartError(
      `the data directory ${path} cannot be used: ${reasonOf(error)}; --data-dir or MILLRACE_DATA_DIR sets it`,
    );
  }
}

/** In a directory that is being restored, and not whole. */
export const restoreMark = 'restore-incomplete';

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return reasons[code] ?? errorText(error);
}

const user = process.getuid?.() ?? 'of this process';
const reasons: Readonly<Record<string, string>> = {
  ENOTDIR: 'it, or what it is in, is a file; name a directory',
  ENOENT: 'it cannot be made there; name a directory on a disk',
  EACCES: `the user ${user} may not write there; give it to that user, or name another one`,
  EPERM: `the user ${user} may not write there; give it to that user, or name another one`,
  EROFS: 'the file system is read-only; name a directory on another one',
  ENOSPC: 'the disk is full; make room',
};

/**
 * Where the generated password is not there yet, notes that nobody has seen it. To be called before it is
 * made. A start that fails after this leaves the note to the next one.
 */
export async function notePasswordUnshown(path: string): Promise<void> {
  if (!existsSync(join(path, 'admin-password'))) await writeFile(unshownFile(path), '', { mode: 0o600 });
}

/** Whether a start that could have shown the generated password has not succeeded yet. */
export const isPasswordUnshown = (path: string): boolean => existsSync(unshownFile(path));

/** The generated password was shown. */
export const notePasswordShown = (path: string): Promise<void> => rm(unshownFile(path), { force: true });

const unshownFile = (path: string): string => join(path, 'admin-password-unshown');

/** Notes the URL of the service, for commands on the same machine. @returns removes it */
export async function noteAddress(path: string, url: string): Promise<() => Promise<void>> {
  const file = join(path, 'address');
  await replaceFile(file, `${url}\n`, 0o600);
  return () => rm(file, { force: true });
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
