/**
 * The objects whose states `drain.ts` describes and changes: pending segments, table queues and insert jobs.
 */
import { Signal } from '../lib/signal.ts';
import type { SealedSegment } from '../wal/segment.ts';
import type { TableBatch } from './table-batch.ts';

/** A sealed segment until it is gone from the log. */
export class PendingSegment {
  readonly segment: SealedSegment;
  /** An earlier run of the process left it, and may have sent inserts of it. */
  readonly isRecovered: boolean;
  /**
   * The parts of it that are in no job yet: low-volume datasets that wait for more rows, by the names of
   * their first tables, and recovered batches that are not complete yet, by the files of their manifests.
   */
  readonly waiting = new Set<string>();
  /** The jobs that take rows of it. */
  readonly jobs = new Set<InsertJob>();
  state: 'pending' | 'retiring' | 'gone' = 'pending';

  constructor(segment: SealedSegment, isRecovered: boolean) {
    this.segment = segment;
    this.isRecovered = isRecovered;
  }

  /** Whether the store, or the dead letters, have all of it. */
  get isStored(): boolean {
    return this.waiting.size === 0 && [...this.jobs].every((job) => job.isStored);
  }
}

/** The inserts of one table, one behind another. */
export class TableQueue {
  /** `<database>.<table>`, unquoted. */
  readonly name: string;
  /** The name of the dataset's first table, which this one follows in each job; its own, if it is that. */
  readonly firstTable: string;
  /** Fulfils when all that is in the queue is stored, or the drain has stopped. */
  tail: Promise<unknown> = Promise.resolve();
  /** The last job that was queued. */
  newest: InsertJob | undefined;
  /** An insert failed, and none has succeeded since. */
  isFailing = false;

  constructor(name: string, firstTable: string) {
    this.name = name;
    this.firstTable = firstTable;
  }
}

/** The rows that tables take from one segment, or from several, each table in one insert. */
export class InsertJob {
  /** In their order. */
  readonly segments: readonly PendingSegment[];
  /** It is of low-volume tables, which have waited for more rows. */
  readonly isBatched: boolean;
  /** The tables that the store does not have yet. */
  readonly missing = new Set<TableQueue>();
  /** Tables to which an insert may have been sent before, and it is not known what became of it. */
  readonly inDoubt = new Set<TableQueue>();
  /** Notified when one of its segments is gone, when its checkpoint has grown, and when the drain stops. */
  readonly gate = new Signal();
  /** Pending while its checkpoint is written. */
  checkpointing: Promise<void> | undefined;
  readonly #stored: string[] = [];
  readonly #last: SealedSegment;

  constructor(segments: readonly PendingSegment[], isBatched: boolean) {
    const last = segments.at(-1);
    if (last === undefined) throw new Error('BUG: an insert job without segments');
    this.segments = segments;
    this.isBatched = isBatched;
    this.#last = last.segment;
    for (const segment of segments) segment.jobs.add(this);
  }

  /** The segment that has its checkpoint. */
  get last(): SealedSegment {
    return this.#last;
  }

  get isStored(): boolean {
    return this.missing.size === 0;
  }

  /** Whether one of its segments is gone, so that no crash has it repeated. */
  get hasLeftLog(): boolean {
    return this.segments.some(({ state }) => state === 'gone');
  }

  markStored(queue: TableQueue): void {
    this.missing.delete(queue);
    this.#stored.push(queue.name);
  }

  /** The tables that the store has and the checkpoint lacks. */
  uncheckpointed(): readonly string[] {
    return this.#stored.filter((name) => !this.#last.checkpoint.tables.has(name));
  }

  /** Whether a table that is done with it may go on to its next insert: the insert gate. */
  isPassable(queue: TableQueue): boolean {
    return this.hasLeftLog || this.#last.checkpoint.tables.has(queue.name);
  }
}

/** What a batched insert job is made of. */
export interface BatchPlan {
  /** In their order. */
  readonly segments: readonly PendingSegment[];
  /** One for each table. Within a dataset, the batch of its first table comes first. */
  readonly batches: readonly TableBatch[];
}
