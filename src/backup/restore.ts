import { existsSync } from 'node:fs';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Store } from '../clickhouse/store.ts';
import { AppError } from '../errors.ts';
import { restoreMark } from '../lib/data-directory.ts';
import { makeDirectory, replaceFile, syncDirectory } from '../lib/files.ts';
import { takeLock } from '../lib/process-lock.ts';
import { limits } from '../limits/limits.ts';
import { dataFolder, readContent, smallFiles, storeFolder } from './backup-format.ts';
import { copyIfThere, namesIn, syncTree } from './copy-files.ts';
import { EngineTask } from './engine-backup.ts';

export interface RestoreOptions {
  /** The directory of the backup. */
  readonly backup: string;
  /** The new data directory. It is created if it is missing, and must be empty. */
  readonly dataDir: string;
  /** Opens an engine in the new data directory. The engine may read below the directory of the backup. */
  readonly openStore: (readable: string) => Promise<Pick<Store, 'command' | 'select' | 'close'>>;
}

export interface Restored {
  readonly startedAt: string;
  /** Whether the secret that encrypts API keys was in the backup. */
  readonly hasSecret: boolean;
}

/**
 * Creates a data directory from a backup. Until it is complete, a marker file keeps a service from starting
 * on it.
 * @throws AppError `backup_not_found`, `restore_refused`, `backup_failed`
 * @throws StoreError
 */
export async function restore({ backup: given, dataDir, openStore }: RestoreOptions): Promise<Restored> {
  const backup = resolve(given);
  const { databases, startedAt, hasSecret } = await readContent(backup);
  await makeDirectory(dataDir, 0o700);
  // The root of a file system, such as a mounted volume, has a directory lost+found; it counts as empty.
  const others = (await namesIn(dataDir)).filter((name) => name !== 'lost+found');
  if (others.length > 0)
    throw new AppError(
      'restore_refused',
      `${dataDir} is not empty: restore into an empty or a new directory (--data-dir)`,
    );
  const release = await takeLock(join(dataDir, 'lock'));
  try {
    await replaceFile(join(dataDir, restoreMark), `${backup}\n`, 0o600);
    const store = await openStore(backup);
    try {
      const signal = AbortSignal.timeout(limits.backupMaxMs);
      await (await EngineTask.restore(store, databases, join(backup, storeFolder), signal)).done();
    } finally {
      await store.close();
    }
    const from = join(backup, dataFolder);
    for (const folder of ['wal', 'replay', 'dead']) {
      await mkdir(join(dataDir, folder), { mode: 0o700 });
      for (const name of await namesIn(join(from, folder)))
        await copyFile(join(from, folder, name), join(dataDir, folder, name));
    }
    for (const name of smallFiles) await copyIfThere(join(from, name), join(dataDir, name));
    await syncTree(dataDir);
    await rm(join(dataDir, restoreMark));
    await syncDirectory(dataDir);
    return { startedAt, hasSecret: hasSecret || existsSync(join(dataDir, 'secret')) };
  } finally {
    await release();
  }
}
