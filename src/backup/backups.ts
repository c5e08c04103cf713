/**
 * Backups of a running service with the embedded engine.
 *
 *     begin ── seal the log ──▶ pause inserts ── BACKUP collects its parts, link the log ──▶ resume inserts
 *                                                                                                   │
 *     complete ◀── write backup.json, rename ── sync ◀── the engine has written its files ◀─────────┘
 *
 * ## What a backup contains
 *
 * The store and the log as they are at one moment. At that moment no insert is running and no segment is
 * leaving the log. So a service that starts on the copy finds the state after a kill at that moment, and the
 * drain recovers from it as usual. A BACKUP does not contain the deduplication tokens of the store, so the
 * drain looks for the rows of a segment in the store (`drain/in-doubt-insert.ts`). The backup contains every
 * row that was acknowledged before it began exactly once, in the store or in the log, and also rows that were
 * sealed up to that moment.
 *
 * Writes are acknowledged all the time. Inserts pause until ClickHouse holds the parts of all tables, which
 * takes some milliseconds per table; they do not wait for the copy. The active segment is not copied, because
 * all its rows came later. After a restore, segment numbers continue above the highest one of the source.
 * Otherwise a new segment could have the same number as a dead letter of the source.
 *
 * Metadata (users, roles, keys, datasets) is in the store. A change during the backup may or may not be in
 * it.
 *
 * ## After a crash or a failure
 *
 * Only a directory `<name>.incomplete` remains. The next backup of that name removes it. One backup runs at a
 * time.
 */
import { mkdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../clickhouse/store.ts';
import type { Drain } from '../drain/drain.ts';
import { AppError, errorText } from '../errors.ts';
import { sleep } from '../lib/backoff.ts';
import { makeDirectory, replaceFile, syncDirectory } from '../lib/files.ts';
import type { Logger } from '../lib/log.ts';
import { LockTimeout, type SharedLock } from '../lib/shared-lock.ts';
import { limits } from '../limits/limits.ts';
import type { Backlog } from '../wal/backlog.ts';
import { segmentName, segmentNumber } from '../wal/segment.ts';
import type { Wal } from '../wal/wal.ts';
import {
  type BackupContent,
  contentFile,
  dataFolder,
  incompleteSuffix,
  isBackupName,
  readContent,
  smallFiles,
  storeFolder,
} from './backup-format.ts';
import { copyIfThere, linkOrCopy, namesIn, syncTree } from './copy-files.ts';
import { databasesOf, EngineTask, storedBytes } from './engine-backup.ts';

export interface BackupsOptions {
  readonly dataDir: string;
  /** The directory of all backups; the engine may write below it. */
  readonly backupDir: string;
  readonly version: string;
  readonly store: Pick<Store, 'command' | 'select'>;
  readonly wal: Pick<Wal, 'newestPending' | 'seal'>;
  readonly backlog: Pick<Backlog, 'all'>;
  readonly drain: Pick<Drain, 'taken'>;
  /** Inserts, and the removal of segments, hold this lock shared; a backup takes it exclusively. */
  readonly storeWrites: SharedLock;
  readonly log: Logger;
}

/** The state of a backup. */
export interface BackupStatus {
  readonly name: string;
  /** Its directory, once it is complete. */
  readonly path: string;
  readonly state: 'running' | 'complete' | 'failed';
  /** The current step of a running backup. */
  readonly step?: string | undefined;
  readonly startedAt: string;
  /** The size of the tables in the store, once the backup is complete. */
  readonly storeBytes?: number | undefined;
  /** Why it failed. */
  readonly error?: string | undefined;
}

export class Backups {
  readonly #options: BackupsOptions;
  readonly #stopping = new AbortController();
  /** The backup that was begun last. */
  #last: BackupStatus | undefined;
  #running: Promise<void> | undefined;

  constructor(options: BackupsOptions) {
    this.#options = options;
  }

  /**
   * Begins a backup and does not wait for its end.
   * @throws AppError `bad_backup_name`, `backup_exists`, `backup_running`
   */
  async begin(name: string): Promise<BackupStatus> {
    const { backupDir, log } = this.#options;
    if (!isBackupName(name))
      throw new AppError(
        'bad_backup_name',
        `${JSON.stringify(name)} is not the name of a backup: 1 to 100 letters, digits, dots, hyphens and underscores; it becomes a directory in ${backupDir}`,
      );
    if (this.#running !== undefined)
      throw new AppError(
        'backup_running',
        `the backup ${this.#last?.name} is under way; only one can run at a time`,
      );
    const status: BackupStatus = {
      name,
      path: join(backupDir, name),
      state: 'running',
      step: 'begin',
      startedAt: new Date().toISOString(),
    };
    // Set before the first await, because another request may arrive during it.
    let started = () => {};
    const go = new Promise<void>((resolve) => {
      started = resolve;
    });
    this.#running = go.finally(() => {
      this.#running = undefined;
    });
    try {
      if ((await this.#names()).includes(name))
        throw new AppError('backup_exists', `there is a backup ${name} in ${backupDir}`);
    } catch (error) {
      started();
      throw error;
    }
    this.#last = status;
    void this.#run(status)
      .then(
        (storeBytes) => {
          this.#last = { ...status, state: 'complete', step: undefined, storeBytes };
          log.info({ backup: name, storeBytes }, 'a backup is complete');
        },
        (error: unknown) => {
          this.#last = { ...status, state: 'failed', step: undefined, error: errorText(error) };
          log.error({ err: error, backup: name }, 'a backup failed');
        },
      )
      .finally(started);
    return status;
  }

  /** @throws AppError `backup_not_found` */
  async status(name: string): Promise<BackupStatus> {
    if (this.#last?.name === name) return this.#last;
    const { backupDir } = this.#options;
    if (!isBackupName(name) || !(await this.#names()).includes(name))
      throw new AppError('backup_not_found', `there is no backup ${JSON.stringify(name)} in ${backupDir}`);
    const path = join(backupDir, name);
    const { startedAt, storeBytes } = await readContent(path);
    return { name, path, state: 'complete', startedAt, storeBytes };
  }

  /** Cancels the running backup. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(status: BackupStatus): Promise<number> {
    const { backupDir, version, store } = this.#options;
    const folder = `${status.path}${incompleteSuffix}`;
    const at = (step: string) => {
      this.#last = { ...status, step };
    };
    await makeDirectory(backupDir, 0o700);
    await rm(folder, { recursive: true, force: true });
    try {
      await this.#checkRoom();
      await mkdir(join(folder, dataFolder), { recursive: true, mode: 0o700 });
      const databases = await databasesOf(store);
      at('seal the log');
      await this.#seal();
      at('wait for inserts');
      const engine = await this.#snapshot(folder, databases, () => at('collect'));
      at('copy the store');
      const storeBytes = await engine.done();
      const hasSecret = await this.#copySmallFiles(folder);
      at('sync');
      await syncTree(folder);
      const { startedAt } = status;
      const content: BackupContent = { format: 1, version, startedAt, databases, storeBytes, hasSecret };
      await replaceFile(join(folder, contentFile), `${JSON.stringify(content, undefined, 2)}\n`, 0o600);
      await rename(folder, status.path);
      await syncDirectory(backupDir);
      return storeBytes;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async #names(): Promise<readonly string[]> {
    const { backupDir } = this.#options;
    try {
      return await namesIn(backupDir);
    } catch (error) {
      throw new AppError('backup_failed', `${backupDir} cannot be used for backups: ${errorText(error)}`);
    }
  }

  async #checkRoom(): Promise<void> {
    const { backupDir, store } = this.#options;
    const needed = await storedBytes(store);
    const { bavail, bsize } = await statfs(backupDir);
    if (bavail * bsize < needed)
      throw new AppError(
        'backup_failed',
        `the store has ${needed} bytes, and the disk of ${backupDir} has room for ${bavail * bsize}`,
      );
  }

  /** Seals the log: then all rows acknowledged so far are in segments that the drain knows. */
  async #seal(): Promise<void> {
    const { wal, drain } = this.#options;
    const newest = wal.newestPending;
    if (newest === undefined) return;
    wal.seal();
    await inTime(drain.taken(newest), limits.backupSealWaitMs, 'the log could not be sealed');
  }

  /** Takes the store and the log at one moment. @returns the BACKUP, which may still be copying */
  async #snapshot(folder: string, databases: readonly string[], onBegin: () => void): Promise<EngineTask> {
    const { store, storeWrites } = this.#options;
    try {
      return await storeWrites.alone(limits.backupInsertWaitMs, async () => {
        onBegin();
        const engine = await EngineTask.backup(
          store,
          databases,
          join(folder, storeFolder),
          AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(limits.backupMaxMs)]),
        );
        await inTime(engine.collected(), limits.backupMaxPauseMs, 'the store did not collect its parts');
        await this.#copyLog(join(folder, dataFolder));
        return engine;
      });
    } catch (error) {
      if (!(error instanceof LockTimeout)) throw error;
      throw new AppError(
        'backup_failed',
        `inserts did not end within ${limits.backupInsertWaitMs} ms: does the store keep up?`,
      );
    }
  }

  /** Copies the sealed segments with their files, the replay journal and the dead letters. */
  async #copyLog(target: string): Promise<void> {
    const { dataDir, backlog } = this.#options;
    for (const name of ['wal', 'replay', 'dead']) await mkdir(join(target, name), { mode: 0o700 });
    const wal = join(dataDir, 'wal');
    const names = await namesIn(wal);
    const pending = new Set([...backlog.all].map(({ number }) => number));
    for (const name of names) {
      const isPending = pending.has(Number.parseInt(name, 10)) && !name.includes('.damaged-');
      if (isPending) await linkOrCopy(join(wal, name), join(target, 'wal', name));
    }
    const highest = Math.max(0, ...names.map((name) => segmentNumber(name) ?? 0));
    // An empty segment keeps the highest number in use.
    if (highest > 0 && !pending.has(highest))
      await writeFile(join(target, 'wal', segmentName(highest)), '', { mode: 0o600 });
    for (const folder of ['replay', 'dead'])
      for (const name of await namesIn(join(dataDir, folder)))
        await copyIfThere(join(dataDir, folder, name), join(target, folder, name));
  }

  /** @returns whether there was a secret to copy */
  async #copySmallFiles(folder: string): Promise<boolean> {
    const { dataDir } = this.#options;
    let hasSecret = false;
    for (const name of smallFiles) {
      const isThere = await copyIfThere(join(dataDir, name), join(folder, dataFolder, name));
      if (name === 'secret') hasSecret = isThere;
    }
    return hasSecret;
  }
}

async function inTime<T>(work: Promise<T>, withinMs: number, otherwise: string): Promise<T> {
  const timer = new AbortController();
  const late = sleep(withinMs, timer.signal).then(() => {
    if (!timer.signal.aborted) throw new AppError('backup_failed', `${otherwise} within ${withinMs} ms`);
  });
  try {
    return (await Promise.race([work, late.then(() => work)])) as T;
  } finally {
    timer.abort();
  }
}
