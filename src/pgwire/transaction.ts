import { limits } from '../limits/limits.ts';
import type { TransactionStatus } from './protocol/server-messages.ts';
import { WireError } from './protocol/wire-error.ts';
import type { SessionSettings } from './session-settings.ts';

type Snapshot = ReturnType<SessionSettings['snapshot']>;

/**
 * The transaction block of a session. Nothing is written, so there is nothing to commit: what a block has are
 * its settings, its portals (which the session closes), and whether one of its statements has failed.
 *
 *     I ── begin ──▶ T ── fail ──▶ E ── rollbackTo ──▶ T
 *     ▲              │             │
 *     └── commit, rollback ────────┘      (commit of E is a rollback)
 */
export class Transaction {
  readonly #settings: SessionSettings;
  #status: TransactionStatus = 'I';
  #atBegin: Snapshot | undefined;
  /** In the order in which they were made. */
  #savepoints: ReadonlyArray<{ readonly name: string; readonly snapshot: Snapshot }> = [];

  constructor(settings: SessionSettings) {
    this.#settings = settings;
  }

  get status(): TransactionStatus {
    return this.#status;
  }

  get isInBlock(): boolean {
    return this.#status !== 'I';
  }

  begin(): void {
    this.#status = 'T';
    this.#atBegin = this.#settings.snapshot();
    this.#savepoints = [];
  }

  /** A statement has failed. */
  fail(): void {
    if (this.#status === 'T') this.#status = 'E';
  }

  /** @returns whether it was a commit, and not a rollback of what had failed */
  commit(): boolean {
    if (this.#status === 'E') {
      this.rollback();
      return false;
    }
    this.#settings.endLocal();
    this.#end();
    return true;
  }

  rollback(): void {
    if (this.#atBegin !== undefined) this.#settings.restore(this.#atBegin);
    this.#end();
  }

  /** @throws WireError */
  savepoint(name: string): void {
    this.#requireBlock('SAVEPOINT');
    if (this.#savepoints.length >= limits.pgMaxSavepoints)
      throw new WireError('54000', `at most ${limits.pgMaxSavepoints} savepoints are allowed`);
    this.#savepoints = [...this.#savepoints, { name, snapshot: this.#settings.snapshot() }];
  }

  /** @throws WireError */
  release(name: string): void {
    this.#requireBlock('RELEASE SAVEPOINT');
    this.#savepoints = this.#savepoints.slice(0, this.#find(name));
  }

  /** @throws WireError */
  rollbackTo(name: string): void {
    this.#requireBlock('ROLLBACK TO SAVEPOINT');
    const index = this.#find(name);
    const found = this.#savepoints[index];
    if (found !== undefined) this.#settings.restore(found.snapshot);
    this.#savepoints = this.#savepoints.slice(0, index + 1);
    this.#status = 'T';
  }

  #find(name: string): number {
    const index = this.#savepoints.findLastIndex((each) => each.name === name);
    if (index < 0) throw new WireError('3B001', `savepoint "${name}" does not exist`);
    return index;
  }

  #requireBlock(what: string): void {
    if (!this.isInBlock) throw new WireError('25P01', `${what} can only be used in transaction blocks`);
  }

  #end(): void {
    this.#status = 'I';
    this.#atBegin = undefined;
    this.#savepoints = [];
  }
}
