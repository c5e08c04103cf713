import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Catalog } from '../../catalog/catalog.ts';
import { Tenants } from '../../catalog/tenants.ts';
import type { Store } from '../../clickhouse/store.ts';
import { AppError, errorText } from '../../errors.ts';
import { type DataDirectory, takeDataDirectory } from '../../lib/data-directory.ts';
import { hasErrorCode } from '../../lib/files.ts';
import type { Logger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { MetadataLog } from '../../metadata/metadata-log.ts';
import { defaultTenant } from '../../model/dataset.ts';
import { segmentName } from '../../wal/segment.ts';
import { openWalDirectory } from '../../wal/wal-files.ts';
import { DeadLetters } from './letters.ts';
import type { DeadNote } from './note.ts';

export interface DeadCommandOptions {
  readonly dataDir: string;
  readonly openStore: () => Promise<Store>;
  readonly log: Logger;
  /** Gets each line of the output. */
  readonly print: (line: string) => void;
}

/** Prints a table of the dead letters. Reads only, so the service may run. */
export async function listDeadLetters(options: DeadCommandOptions): Promise<void> {
  const letters = await openLetters(options);
  const rows = [['NAME', 'DATASET', 'ROWS', 'TIME', 'CODE', 'REASON']];
  for (const name of letters.names()) {
    const note = await letters.note(name);
    rows.push(note === undefined ? [name, '', '', '', '', 'the note is not whole'] : rowOf(name, note));
  }
  if (rows.length === 1) {
    options.print('there are no dead letters');
    return;
  }
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    options.print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

function rowOf(name: string, note: DeadNote): string[] {
  const { tenant, dataset, rows, time, error } = note;
  const where = tenant === defaultTenant ? dataset : `${tenant}/${dataset}`;
  // ClickHouse quotes what clients sent, which may contain control sequences for a terminal.
  const reason = error.message.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, maxReasonWidth);
  return [name, where, String(rows), time, error.code === null ? '' : String(error.code), reason];
}

/** Characters of a reason in a table; the note has all of it. */
const maxReasonWidth = 160;

/**
 * Inserts the rows of dead letters again, each under the token that it has had since it was written, and
 * removes those that the store took. A letter that is tried twice is stored once.
 * @returns false if the store refused some again; they stay
 * @throws AppError `not_found`, LockHeld
 */
export async function retryDeadLetters(
  options: DeadCommandOptions,
  wanted: readonly string[] | 'all',
): Promise<boolean> {
  return withTakenLetters(options, wanted, async (letters, names, directory) => {
    const store = await options.openStore();
    try {
      const log = new MetadataLog(store, directory.node);
      const catalog = new Catalog(store, log, new Tenants(log));
      await catalog.load();
      let complete = true;
      for (const name of names) {
        try {
          await insertLetter(name, letters, store, catalog);
          await letters.remove(name);
          options.print(`${name}: stored`);
        } catch (error) {
          complete = false;
          options.print(`${name}: stays, because ${errorText(error).replace(/[\s\p{Cc}]+/gu, ' ')}`);
        }
      }
      return complete;
    } finally {
      await store.close();
    }
  });
}

/**
 * Deletes dead letters.
 * @returns true
 * @throws AppError `not_found`, LockHeld
 */
export async function dropDeadLetters(
  options: DeadCommandOptions,
  wanted: readonly string[] | 'all',
): Promise<boolean> {
  return withTakenLetters(options, wanted, async (letters, names) => {
    for (const name of names) {
      await letters.remove(name);
      options.print(`${name}: dropped`);
    }
    return true;
  });
}

async function insertLetter(
  name: string,
  letters: DeadLetters,
  store: Store,
  catalog: Catalog,
): Promise<void> {
  const note = await letters.note(name);
  if (note === undefined) throw new AppError('not_found', 'its note is incomplete');
  const { tenant, dataset, kind, database, table, columns, token } = note;
  if (catalog.hasEnded(tenant)) throw new AppError('tenant_not_found', 'its tenant has been deleted');
  if (catalog.hasEnded(tenant, dataset))
    throw new AppError('dataset_not_found', 'its dataset has been deleted');
  catalog.checkKind(tenant, dataset, kind);
  catalog.recover(tenant, dataset, kind);
  await catalog.ensure(tenant, dataset, kind, columns);
  await store.insert({ database, table, columns, token, blocks: [await letters.rows(name)] });
}

/**
 * Runs with the data directory locked and the named letters found; the log needs none of them any more.
 */
async function withTakenLetters(
  options: DeadCommandOptions,
  wanted: readonly string[] | 'all',
  work: (letters: DeadLetters, names: readonly string[], directory: DataDirectory) => Promise<boolean>,
): Promise<boolean> {
  await checkDataDirectory(options.dataDir);
  const directory = await takeDataDirectory(options.dataDir);
  try {
    const letters = await openLetters(options);
    const known = letters.names();
    const missing = wanted === 'all' ? undefined : wanted.find((name) => !known.includes(name));
    if (missing !== undefined) {
      throw new AppError('not_found', `there is no dead letter ${missing}; millrace dead list shows them`);
    }
    const names = wanted === 'all' ? known : wanted;
    for (const name of names) await checkSegmentIsGone(options.dataDir, name, await letters.note(name));
    return await work(letters, names, directory);
  } finally {
    await directory.release();
  }
}

async function openLetters({ dataDir, log }: DeadCommandOptions): Promise<DeadLetters> {
  await checkDataDirectory(dataDir);
  const files = await openWalDirectory(join(dataDir, 'dead'));
  return DeadLetters.open({ files, metrics: createMetrics(), log });
}

/** A wrong path must not become a data directory. */
async function checkDataDirectory(dataDir: string): Promise<void> {
  if (await exists(join(dataDir, 'node'))) return;
  throw new AppError('not_found', `${dataDir} is not a data directory of Millrace; --data-dir names it`);
}

/** While its segment is in the log, a letter says what was left out of it (`letters.ts`). */
async function checkSegmentIsGone(dataDir: string, name: string, note: DeadNote | undefined): Promise<void> {
  if (note === undefined || !(await exists(join(dataDir, 'wal', segmentName(note.segment))))) return;
  throw new AppError(
    'dead_letter_in_use',
    `${name} belongs to a segment that is still in the log: start the service, let it finish that, and stop it`,
  );
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
}
