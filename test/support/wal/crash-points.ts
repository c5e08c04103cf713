import type { Store } from '../../../src/clickhouse/store.ts';
import type { WalFile, WalFiles } from '../../../src/wal/wal-files.ts';

/**
 * Counts the operations of a process on the outside world, and stops it at one of them: from there on, no
 * operation returns. A point is the moment before an operation, and so the moment after the previous one.
 */
export class CrashPoints {
  #stopAt = Number.POSITIVE_INFINITY;
  readonly #reached: Promise<void>;
  #reach = () => {};
  #count = 0;

  constructor() {
    this.#reached = new Promise((done) => {
      this.#reach = done;
    });
  }

  /** Restarts the count and stops at this point. */
  stopAt(point: number): void {
    this.#count = 0;
    this.#stopAt = point;
  }

  /** Fulfils when the process was stopped. */
  get crashed(): Promise<void> {
    return this.#reached;
  }

  store(store: Store): Store {
    return {
      command: (statement) => this.#before(() => store.command(statement)),
      select: (query, format) => store.select(query, format),
      insert: (batch) => this.#before(() => store.insert(batch)),
      close: async () => {},
    };
  }

  files(files: WalFiles): WalFiles {
    return {
      list: () => files.list(),
      size: (name) => files.size(name),
      create: (name) => this.#before(async () => this.#file(await files.create(name))),
      open: async (name) => this.#file(await files.open(name)),
      remove: (name) => this.#before(() => files.remove(name)),
      syncDirectory: () => this.#before(() => files.syncDirectory()),
    };
  }

  #file(file: WalFile): WalFile {
    return {
      write: (buffers, position) => this.#before(() => file.write(buffers, position)),
      writeDurably: async (buffers, position) => {
        await this.#before(() => file.write(buffers, position));
        await this.#before(() => file.sync());
      },
      read: (position, length) => file.read(position, length),
      truncate: (length) => this.#before(() => file.truncate(length)),
      sync: () => this.#before(() => file.sync()),
      close: () => file.close(),
    };
  }

  async #before<T>(operation: () => Promise<T>): Promise<T> {
    this.#count += 1;
    if (this.#count < this.#stopAt) return operation();
    this.#reach();
    return new Promise(() => {});
  }
}
