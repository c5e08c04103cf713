/**
 * Backups of a running service with the embedded engine.
 *
 *     begin ── the log is sealed ──▶ inserts rest ── BACKUP has its parts, the log is linked ──▶ they go on
 *                                                                                                   │
 *     complete ◀── backup.json, renamed ── synced ◀── the engine has written its files ◀────────────┘
 *
 * ## What it holds
 *
 * The store and the log of one moment, at which no insert is under way and no segment is about to leave the
 * log. So a service that starts on the copy finds what it would find after a kill at that moment, and the
 * recovery of the drain does the rest: what the store has of a segment is found by its rows, since a BACKUP
 * does not hold the store's memory of tokens (`drain/in-doubt-insert.ts`). Every row that was acknowledged
 * before the backup began is in it once, in the store or in the log, and later ones up to that moment.
 *
 * Writes are acknowledged all the while. Inserts rest until ClickHouse holds the parts of all tables, some
 * milliseconds for each, not until it has copied them. The active segment is not copied, since all in it came
 * later. The number of segments goes on above the highest one of the source: a dead letter of the source must
 * not meet a new segment of its number.
 *
 * Metadata (users, roles, keys, datasets) is in the store. A change during the backup is in it or not.
 *
 * ## A crash or a failure
 *
 * leaves a directory `<name>.incomplete`, which the next backup of that name removes, and nothing else. One
 * backup runs at a time.
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
  /** Where backups go; the engine may write below it. */
  readonly backupDir: string;
  readonly version: string;
  readonly store: Pick<Store, 'command' | 'select'>;
  readonly wal: Pick<Wal, 'newestPending' | 'seal'>;
  readonly backlog: Pick<Backlog, 'all'>;
  readonly drain: Pick<Drain, 'taken'>;
  /** Inserts, and segments that leave the log, have it shared. */
  readonly storeWrites: SharedLock;
  readonly log: Logger;
}

/** How far a backup is. */
export interface BackupStatus {
  readonly name: string;
  /** Where it is, or will be. */
  readonly path: string;
  readonly state: 'running' | 'complete' | 'failed';
  /** What it is doing, while it runs. */
  readonly step?: string | undefined;
  readonly startedAt: string;
  /** Of the store; when it is complete. */
  readonly storeBytes?: number | undefined;
  /** Why it failed. */
  readonly error?: string | undefined;
}

export class Backups {
  readonly #options: BackupsOptions;
  readonly #stopping = new AbortController();
  /** The last one that was begun. */
  #last: BackupStatus | undefined;
  #running: Promise<void> | undefined;

  constructor(options: BackupsOptions) {
    this.#options = options;
  }

  /**
   * Begins a backup, and returns at once.
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
      throw new AppError('backup_running', `the backup ${this.#last?.name} is under way; one runs at a time`);
    const status: BackupStatus = {
      name,
      path: join(backupDir, name),
      state: 'running',
      step: 'begin',
      startedAt: new Date().toISOString(),
    };
    // Before anything is awaited: another request may come.
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

  /** Ends the one that runs. */
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

  /** All that was acknowledged so far is in sealed segments then, which the drain has. */
  async #seal(): Promise<void> {
    const { wal, drain } = this.#options;
    const newest = wal.newestPending;
    if (newest === undefined) return;
    wal.seal();
    await inTime(drain.taken(newest), limits.backupSealWaitMs, 'the log could not be sealed');
  }

  /** The store and the log of one moment. @returns the BACKUP, which may still copy */
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
        `inserts did not end within ${limits.backupInsertWaitMs} ms: does the store take what comes?`,
      );
    }
  }

  /** The sealed segments with what belongs to them, and what outlives the log. */
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
    // An empty file is a segment that was never written to.
    if (highest > 0 && !pending.has(highest))
      await writeFile(join(target, 'wal', segmentName(highest)), '', { mode: 0o600 });
    for (const folder of ['replay', 'dead'])
      for (const name of await namesIn(join(dataDir, folder)))
        await copyIfThere(join(dataDir, folder, name), join(target, folder, name));
  }

  /** @returns whether the secret is among them */
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
