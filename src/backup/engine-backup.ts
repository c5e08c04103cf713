import { randomUUID } from 'node:crypto';
import { selectRow, selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { AppError } from '../errors.ts';
import { sleep } from '../lib/backoff.ts';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { limits } from '../limits/limits.ts';

type Statements = Pick<Store, 'command' | 'select'>;

/** A BACKUP or RESTORE that ClickHouse runs in the background. */
export class EngineTask {
  readonly #store: Statements;
  readonly #id = randomUUID();
  readonly #signal: AbortSignal;

  private constructor(store: Statements, signal: AbortSignal) {
    this.#store = store;
    this.#signal = signal;
  }

  /** @param path below the directory that the engine was opened with */
  static backup(store: Statements, databases: readonly string[], path: string, signal: AbortSignal) {
    return EngineTask.#begin(store, `BACKUP ${listed(databases)} TO File(${quoteString(path)})`, signal);
  }

  /** @param path as above */
  static restore(store: Statements, databases: readonly string[], path: string, signal: AbortSignal) {
    return EngineTask.#begin(store, `RESTORE ${listed(databases)} FROM File(${quoteString(path)})`, signal);
  }

  static async #begin(store: Statements, statement: string, signal: AbortSignal): Promise<EngineTask> {
    const task = new EngineTask(store, signal);
    await store.command(`${statement} SETTINGS id = ${quoteString(task.#id)} ASYNC`);
    return task;
  }

  /**
   * Fulfils when a BACKUP has collected the parts of all tables. Later inserts are not part of it. ClickHouse
   * collects all parts before it writes the first file.
   * @throws AppError `backup_failed`
   */
  async collected(): Promise<void> {
    await this.#until(({ status, files }) => files > 0 || isDone(status));
  }

  /** @returns bytes @throws AppError `backup_failed` */
  async done(): Promise<number> {
    return (await this.#until(({ status }) => isDone(status))).bytes;
  }

  async #until(isReached: (state: TaskState) => boolean): Promise<TaskState> {
    for (;;) {
      const state = await this.#state();
      if (isReached(state)) return state;
      await sleep(limits.backupPollMs, this.#signal);
      if (this.#signal.aborted) throw new AppError('backup_failed', 'it was stopped');
    }
  }

  async #state(): Promise<TaskState> {
    const [row] = await selectRows<[string, number, number, string]>(
      this.#store,
      `SELECT toString(status), toFloat64(num_files), toFloat64(total_size), error FROM system.backups WHERE id = ${quoteString(this.#id)}`,
    );
    if (row === undefined) throw new AppError('backup_failed', 'the engine was started again');
    const [status, files, bytes, error] = row;
    if (status.endsWith('_FAILED') || status.endsWith('_CANCELLED'))
      throw new AppError('backup_failed', error);
    return { status, files, bytes };
  }
}

interface TaskState {
  readonly status: string;
  readonly files: number;
  readonly bytes: number;
}

const isDone = (status: string): boolean => status === 'BACKUP_CREATED' || status === 'RESTORED';

const listed = (databases: readonly string[]): string =>
  databases.map((name) => `DATABASE ${quoteIdentifier(name)}`).join(', ');

/** The databases of the service: its own, and one of each tenant. */
export async function databasesOf(store: Statements): Promise<readonly string[]> {
  const rows = await selectRows<[string]>(
    store,
    "SELECT name FROM system.databases WHERE name = 'millrace' OR startsWith(name, 't_') ORDER BY name",
  );
  return rows.map(([name]) => name);
}

/** The size of all tables on disk. */
export async function storedBytes(store: Statements): Promise<number> {
  const [bytes] = await selectRow<[number]>(
    store,
    "SELECT toFloat64(sum(bytes_on_disk)) FROM system.parts WHERE active AND database != 'system'",
  );
  return bytes;
}
