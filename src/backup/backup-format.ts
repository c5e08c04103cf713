import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, errorText } from '../errors.ts';

/**
 * A backup is a directory:
 *
 *     backup.json    what is in it; written last, so that a backup without it is none
 *     store/         a BACKUP of ClickHouse, of all databases of the service
 *     data/          files of the data directory, under the same names: what the store did not have (wal/),
 *                    what outlives the log (replay/, dead/), and the small files
 *
 * While it is made it has the name `<name>.incomplete`.
 */
export interface BackupContent {
  readonly format: 1;
  /** Of Millrace. */
  readonly version: string;
  /** ISO 8601. Every row that was acknowledged before is in the backup. */
  readonly startedAt: string;
  readonly databases: readonly string[];
  /** Bytes of the store, before compression of equal files. */
  readonly storeBytes: number;
  /** Whether the secret that encrypts API keys is in it; otherwise MILLRACE_SECRET had it. */
  readonly hasSecret: boolean;
}

export const contentFile = 'backup.json';
export const storeFolder = 'store';
export const dataFolder = 'data';
export const incompleteSuffix = '.incomplete';

/** Small files of the data directory; one that is not there was configured. */
export const smallFiles = ['node', 'secret', 'admin-password', 'datasets'] as const;

/** One name of a directory, so that it leads nowhere else. */
export const isBackupName = (name: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name) && !name.endsWith(incompleteSuffix);

/** @throws AppError `backup_not_found` */
export async function readContent(folder: string): Promise<BackupContent> {
  let content: BackupContent;
  try {
    content = JSON.parse(await readFile(join(folder, contentFile), 'utf8')) as BackupContent;
  } catch (error) {
    throw new AppError('backup_not_found', `${folder} is not a whole backup: ${errorText(error)}`);
  }
  if (content.format !== 1)
    throw new AppError(
      'backup_not_found',
      `${folder} has the format ${String(content.format)}, of another version of Millrace`,
    );
  return content;
}
