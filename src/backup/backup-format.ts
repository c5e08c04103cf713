import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, errorText } from '../errors.ts';

/**
 * A backup is a directory:
 *
 *     backup.json    describes the backup; written last, so that a directory without it is not a backup
 *     store/         a BACKUP of ClickHouse with all databases of the service
 *     data/          files of the data directory under the same names: the log (wal/) with the rows that the
 *                    store did not have, replay/ and dead/, and the small files
 *
 * Until the backup is complete, the directory is called `<name>.incomplete`.
 */
export interface BackupContent {
  readonly format: 1;
  /** The version of Millrace that made the backup. */
  readonly version: string;
  /** ISO 8601. The backup contains every row that was acknowledged before this time. */
  readonly startedAt: string;
  readonly databases: readonly string[];
  /** The size of the tables in the store. */
  readonly storeBytes: number;
  /** Whether the backup contains the secret that encrypts API keys. If not, it came from MILLRACE_SECRET. */
  readonly hasSecret: boolean;
}

export const contentFile = 'backup.json';
export const storeFolder = 'store';
export const dataFolder = 'data';
export const incompleteSuffix = '.incomplete';

/** Small files of the data directory. One is missing if the configuration gave its value. */
export const smallFiles = ['node', 'secret', 'admin-password', 'datasets'] as const;

/** Whether a name is a single directory name, so that it cannot lead outside of the backup directory. */
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
