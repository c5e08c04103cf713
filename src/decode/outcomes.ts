import { limits } from '../limits/limits.ts';

/**
 * Which decode tasks became durable: a ring in shared memory, written by the thread that owns the log and
 * read by every worker.
 *
 * A worker leaves out the series rows that are stored already. It may do so only when the record that carried
 * the row was committed; otherwise a failed write would leave later samples without their series. So the
 * worker remembers the number of the task in which it wrote a series, and asks here before it relies on it.
 * An entry that was overwritten by a later task reads as "not committed": the row is written again, which
 * costs some bytes and is never wrong.
 */
export class DecodeOutcomes {
  readonly shared: SharedArrayBuffer;
  readonly #committed: Uint32Array;

  constructor(shared = new SharedArrayBuffer(limits.decodeOutcomeWindow * 4)) {
    this.shared = shared;
    this.#committed = new Uint32Array(shared);
  }

  /** The record made from task `sequence` is on disk. */
  commit(sequence: number): void {
    Atomics.store(this.#committed, sequence & (limits.decodeOutcomeWindow - 1), sequence >>> 0);
  }

  isCommitted(sequence: number): boolean {
    return Atomics.load(this.#committed, sequence & (limits.decodeOutcomeWindow - 1)) === sequence >>> 0;
  }
}
