/**
 * The drain moves sealed segments of the log into the store: segments become batches, batches become inserts,
 * and a segment whose rows are all stored leaves the log. This is the specification of the state machine; the
 * objects are in `drain-state.ts`.
 *
 * ## Terms
 *
 * - A table batch is what one segment, or several, hold for one table (`table-batch.ts`). It is one insert,
 *   and has one deduplication token, `<node>-<segment>-<database>.<table>`. The store drops what came with a
 *   token that it remembers, so an insert may be repeated.
 * - An insert job has the batches of the tables that take rows from the same segments: from one segment, or,
 *   if it is batched, from several (`low-volume-tables.ts`).
 * - A table queue has the inserts of one table, one behind another.
 *
 * ## States
 *
 *     segment   pending ──── all of it is stored ────▶ retiring ──── its file is removed ────▶ gone
 *
 *     insert    queued ──▶ at the gate ──▶ provisioning ──▶ inserting ──▶ stored
 *                                               ▲               │
 *                                               └──── pause ◀───┘ it failed
 *
 * - A pending segment is in jobs, or parts of it wait: for more rows of low-volume tables, or for the other
 *   segments of a batched job that an earlier run has begun.
 * - It is stored when the store, or the dead letters, have all of it. Then it retires: what is to outlive it
 *   is made durable elsewhere (`beforeRemove`), and its file is removed. Segments retire one at a time, and
 *   in the order in which they are stored, which need not be their own.
 * - An insert is queued until the one before it in its table's queue is stored, until the dataset's first
 *   table has stored what was queued for it by then, and, in a batched job, until the job's manifest is
 *   durable (`wal/batch-manifests.ts`).
 * - The insert gate: the store remembers a bounded number of tokens for each table. A table must not go on to
 *   its next insert while a crash would have its last one repeated, which is so while the log has all
 *   segments of that job. So it waits until one of them is gone. Where the other tables of these segments
 *   cannot move, that may take long. Then it is written to the checkpoint of the job's last segment which
 *   tables the store has (`wal/checkpoints.ts`), and these go on. "Cannot move" means that each of them is
 *   failing, or its dataset's first table is, or it belongs to another batched job or waits. So a table that
 *   cannot move holds up no other; it costs a small file for each segment that it is in.
 * - Provisioning finds the table that the batch goes to and makes it ready (`provisioning.ts`). It runs again
 *   after each failure: the dataset may have been deleted, or its table changed, since.
 * - What was made for a batch is shown to readers when its rows are stored, so that nobody finds a new field
 *   or dataset without the rows that brought it.
 * - Inserting: the rows are brought back into memory if they are not there, and sent (`batch-inserter.ts`).
 *   At most `limits.maxParallelInserts` do so at a time. Rows that the store refuses for good go to the dead
 *   letters; this counts as stored. Any other failure is tried again with growing pauses. A pause ends early
 *   when the store answers after it did not. Meanwhile the log grows up to its bound and then refuses writes.
 * - A table queue is failing from a failure to its next success.
 * - An insert is in doubt if it may have been sent before and it is not known what became of it: after a
 *   failure, and if it is the first one of its table for a segment that an earlier run has left. The store
 *   itself may have been killed or have lost power since, so its memory of tokens is not trusted: the rows
 *   are looked for (`in-doubt-insert.ts`).
 *
 * ## What may overtake what
 *
 * - Inserts of one table never overtake each other. Rows of a low-volume table that wait are not overtaken by
 *   later ones.
 * - No table of a dataset overtakes its first one, the series of metrics: a reader never finds a sample
 *   without its labels.
 * - Other tables, and other datasets, overtake each other freely. So do segments.
 * - Batched jobs start one after another: the next waits while any insert of an earlier one can move, so that
 *   inserts do not pile up. A reader who waits for a dataset flushes it out of turn; those who ask for what
 *   was acknowledged do so together, at a bounded rate (`latest-reads.ts`). Manifests become durable
 *   in the order of the jobs.
 *
 * ## What a crash finds
 *
 * A crash is a kill of the process or a power cut. The next run finds the segments whose removal was not
 * durable. What it does with each depends on how far the earlier run had come:
 *
 * - Nothing of the segment was sent: it is drained as if it were new. Its low-volume tables wait again.
 * - A manifest is durable: its tables take the same rows in one insert each, whether that was sent or not.
 *   The job is queued with the last of its segments. Before the manifest was durable, nothing of the job was
 *   sent.
 * - Inserts were sent: because of the gate, each table has at most one insert that was sent and is in no
 *   checkpoint. It is the first one that is queued for the table, and is in doubt.
 * - A checkpoint is durable: the tables in it are skipped.
 * - Rows are in the dead letters: the repeated insert leaves them out, and holds the same rows otherwise.
 * - The segment was retiring: what no checkpoint has is inserted again, in doubt, and the segment retires
 *   again. `beforeRemove` is safe to repeat. No table went on to its next insert before the removal was
 *   durable.
 */
import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { type Retrying, untilDone } from '../lib/backoff.ts';
import { finishWithin } from '../lib/finish-within.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { SharedLock } from '../lib/shared-lock.ts';
import type { Signal } from '../lib/signal.ts';
import { Watermark } from '../lib/watermark.ts';
import { limits } from '../limits/limits.ts';
import type { Backlog } from '../wal/backlog.ts';
import type { SealedSegment } from '../wal/segment.ts';
import { BatchInserter, type BatchInserterOptions } from './batch-inserter.ts';
import { type BatchPlan, InsertJob, PendingSegment, TableQueue } from './drain-state.ts';
import { type LowVolumeOptions, LowVolumeTables } from './low-volume-tables.ts';
import { type ProvisionedBatch, Provisioning } from './provisioning.ts';
import { RecoveredBatches } from './recovered-batches.ts';
import { batchesOf, nameOf, recordsBySegment, type TableBatch } from './table-batch.ts';

export interface DrainOptions extends BatchInserterOptions {
  readonly backlog: Backlog;
  readonly lowVolume: LowVolumeOptions;
  /** Notified when the store answers after it did not. */
  readonly storeReturned: Signal;
  /** Told when the store did not answer. */
  readonly onNoAnswer: () => void;
  /**
   * Inserts have it shared, and segments while they retire. Who has it alone finds the store and the log as a
   * kill would leave them, with no insert under way.
   */
  readonly storeWrites?: SharedLock;
  /** Makes what else is to outlive a segment durable elsewhere; then the segment is removed. */
  readonly beforeRemove?: (segment: SealedSegment) => Promise<void>;
}

export class Drain {
  readonly #options: DrainOptions;
  readonly #provisioning: Provisioning;
  readonly #inserter: BatchInserter;
  readonly #inserts = new Semaphore(limits.maxParallelInserts);
  readonly #stopping = new AbortController();

  /** Oldest first; what is gone stays until all before it is. */
  readonly #segments: PendingSegment[] = [];
  #newestNumber = 0;
  /** The drain has the segment of this number and all before it. */
  readonly #added = new Watermark();
  /** The store has the segment of this number and all before it, and the log does not. */
  readonly #gone = new Watermark();
  /** Fulfils when nothing is being removed. */
  #retiring: Promise<void> = Promise.resolve();

  /** By table; only of tables that a pending segment needs. */
  readonly #queues = new Map<string, TableQueue>();
  /** Jobs at whose gate a table waits. */
  readonly #gated = new Set<InsertJob>();

  readonly #lowVolume: LowVolumeTables;
  /** Batched jobs that are not stored. */
  readonly #batchedJobs = new Set<InsertJob>();
  /** Fulfils when the newest manifest is durable, or the drain has stopped. */
  #manifests: Promise<unknown> = Promise.resolve();
  #cancelFlush = () => {};
  /** Undefined until the drain is started. */
  #recovered: RecoveredBatches | undefined;

  constructor(options: DrainOptions) {
    this.#options = options;
    this.#provisioning = new Provisioning(options.catalog, options.node);
    this.#inserter = new BatchInserter(options);
    this.#lowVolume = new LowVolumeTables(options.lowVolume, options.clock);
  }

  // Segments come, and readers wait for them -------------------------------------------------------------

  /** Begins; what was added before waits until now. */
  start(): void {
    if (this.#recovered !== undefined) return;
    const segments = [...this.#segments];
    this.#recovered = new RecoveredBatches(segments);
    for (const pending of segments) this.#enqueue(pending, this.#recovered);
  }

  /** Takes a segment that an earlier run of the process left; they come before all others. */
  recover(segment: SealedSegment): void {
    this.#add(new PendingSegment(segment, true));
  }

  /** Takes the next segment; numbers only grow. */
  add(segment: SealedSegment): void {
    this.#add(new PendingSegment(segment, false));
  }

  /** The number of the newest segment that it has; 0 if there was none yet. */
  get newestNumber(): number {
    return this.#newestNumber;
  }

  /** Fulfils when the drain has the segment of that number, which may not even be sealed yet. */
  taken(number: number): Promise<void> {
    return this.#added.reached(number);
  }

  /**
   * Fulfils when the store has the segment of that number, which may not even be sealed yet, and all before.
   */
  drained(number: number): Promise<void> {
    return this.#gone.reached(number);
  }

  /**
   * Fulfils when the store has what the segment of that number, which may not even be sealed yet, and all
   * before hold of some datasets. It flushes them if they wait for more rows.
   * @param firstTables names of their first tables
   */
  async stored(number: number, firstTables: ReadonlySet<string>): Promise<void> {
    await this.added(number);
    this.flush(firstTables);
    await this.inserted(firstTables);
    // Then the log has nothing of them any more, unless other datasets wait.
    if (this.#lowVolume.dueInMs === undefined && this.#batchedJobs.size === 0) await this.drained(number);
  }

  /** Fulfils when the segment of that number, which may not even be sealed yet, and all before are queued. */
  added(number: number): Promise<void> {
    return this.#added.reached(number);
  }

  /** Those of these datasets, by their first tables, that wait for more rows. */
  waiting(firstTables: Iterable<string>): string[] {
    return [...firstTables].filter((firstTable) => this.#lowVolume.waits(firstTable));
  }

  /** Flushes those of these datasets, by their first tables, that wait for more rows. */
  flush(firstTables: Iterable<string>): void {
    this.#flush(firstTables);
  }

  /** Fulfils when the store has all that is queued of some datasets, by their first tables. */
  async inserted(firstTables: ReadonlySet<string>): Promise<void> {
    const queues = [...this.#queues.values()].filter(({ firstTable }) => firstTables.has(firstTable));
    await Promise.all(queues.map(({ tail }) => tail));
  }

  /**
   * How long the most overdue low-volume table should have been flushed already. It is overdue if the store
   * is too slow for what arrives.
   */
  get overdueMs(): number {
    return Math.max(0, -(this.#lowVolume.dueInMs ?? 0));
  }

  /** Gives what is queued `graceMs` to get into the store; what is left stays in the log. */
  async stop(graceMs: number): Promise<void> {
    this.#cancelFlush();
    this.#flush();
    await finishWithin(this.drained(this.#newestNumber), graceMs, this.#options.clock);
    this.#stopping.abort();
    this.#cancelFlush();
    for (const { gate } of this.#gated) gate.notify();
    await Promise.all([...this.#queues.values()].map(({ tail }) => tail));
    await this.#retiring;
    const segments = this.#segments.length;
    if (segments > 0) {
      this.#options.log.info(
        { segments },
        'the store did not take all of the log; the rest follows at the next start',
      );
    }
  }

  #add(pending: PendingSegment): void {
    this.#segments.push(pending);
    this.#newestNumber = pending.segment.number;
    if (this.#recovered !== undefined) this.#enqueue(pending, this.#recovered);
    this.#added.advance(pending.segment.number);
  }

  /** Makes jobs of a segment, except for what waits for more. */
  #enqueue(pending: PendingSegment, recovered: RecoveredBatches): void {
    if (this.#stopping.signal.aborted) return;
    const { checkpoint } = pending.segment;
    const batches = batchesOf(pending.segment);
    const ofRecovered = recovered.take(pending, batches);
    const isMissing = (batch: TableBatch) => !checkpoint.tables.has(nameOf(batch)) && !ofRecovered.has(batch);
    const job = new InsertJob([pending], false);
    for (const batch of this.#lowVolume.take(pending, batches, isMissing)) this.#queueInsert(job, batch);
    for (const plan of recovered.completedBy(pending)) this.#startBatchedJob(plan);
    this.#retireIfStored([pending]);
    this.#flushDue();
  }

  // Low-volume tables are flushed ------------------------------------------------------------------------

  /**
   * Flushes the tables whose wait is over, unless an earlier batched job can still move. Call it when either
   * may have changed.
   */
  #flushDue(): void {
    this.#cancelFlush();
    if (this.#stopping.signal.aborted) return;
    while ((this.#lowVolume.dueInMs ?? 1) <= 0) {
      if ([...this.#batchedJobs].some((job) => this.#canMove(job))) return;
      this.#flush(this.#lowVolume.due());
    }
    const { dueInMs } = this.#lowVolume;
    if (dueInMs !== undefined) {
      this.#cancelFlush = this.#options.clock.after(dueInMs, () => this.#flushDue());
    }
  }

  /** Makes a batched job of all that waits, or of some datasets, by their first tables. */
  #flush(firstTables?: Iterable<string>): void {
    const plan = this.#lowVolume.flush(firstTables);
    if (plan === undefined) return;
    const segments = plan.segments.map(({ segment }) => segment);
    const tables = new Map(plan.batches.map((batch) => [nameOf(batch), batch.parts[0]?.segment.number ?? 0]));
    const [oldest] = segments;
    if (oldest === undefined) throw new Error('BUG: a batched job without segments');
    const write = () => this.#options.backlog.writeManifest(segments, tables);
    // Manifests become durable one after another: a later run sends a job with a manifest before everything
    // that waits, even before rows that came earlier.
    this.#manifests = this.#manifests.then(() => untilDone(write, this.#retrying(oldest, 'write manifest')));
    this.#startBatchedJob(plan, this.#manifests);
  }

  /** @param manifest fulfils when it is durable; undefined if it is */
  #startBatchedJob({ segments, batches }: BatchPlan, manifest?: Promise<unknown>): void {
    const job = new InsertJob(segments, true);
    for (const batch of batches) this.#queueInsert(job, batch, manifest);
    if (job.isStored) this.#retireIfStored(segments);
    else this.#batchedJobs.add(job);
  }

  // Inserts ----------------------------------------------------------------------------------------------

  /** @param ready what else it waits for, beside those before it */
  #queueInsert(job: InsertJob, batch: TableBatch, ready?: Promise<unknown>): void {
    const name = nameOf(batch);
    const queue = this.#queues.get(name) ?? new TableQueue(name, batch.firstTable);
    this.#queues.set(name, queue);
    const previous = queue.newest;
    // An earlier run can have sent at most the first insert of each table that it left.
    const isRecovered = job.segments.some((pending) => pending.isRecovered);
    if (isRecovered && previous === undefined) job.inDoubt.add(queue);
    job.missing.add(queue);
    queue.newest = job;
    const before = [ready, queue.tail, this.#queues.get(batch.firstTable)?.tail];
    queue.tail = Promise.all(before).then(() => this.#runInsert(job, queue, batch, previous));
  }

  /** @param previous the job before it in the queue */
  async #runInsert(
    job: InsertJob,
    queue: TableQueue,
    batch: TableBatch,
    previous: InsertJob | undefined,
  ): Promise<void> {
    if (previous !== undefined && !(await this.#passGate(previous, queue))) return;
    let provisioned: ProvisionedBatch | undefined;
    const attempt = async () => {
      provisioned = await this.#provisioning.provision(batch, this.#stopping.signal);
      const made = provisioned;
      if (made !== undefined) await this.#inserts.run(() => this.#insert(job, queue, made));
    };
    const retrying = this.#retrying(job.last, queue.name, () => this.#onFailure(queue));
    if (!(await untilDone(() => this.#writing(attempt), retrying))) return;
    queue.isFailing = false;
    job.markStored(queue);
    // A later table of a dataset has rows that those of the first one belong to.
    const isLast = ![...job.missing].some(({ firstTable }) => firstTable === batch.firstTable);
    if (isLast && provisioned !== undefined) {
      const { tenant, dataset, kind, columns } = provisioned.batch;
      this.#options.catalog.stored(tenant, dataset, kind, columns);
    }
    if (job.isStored) {
      this.#batchedJobs.delete(job);
      this.#retireIfStored(job.segments);
    }
    this.#checkpointStuckJobs();
    if (job.isBatched) this.#flushDue();
  }

  async #insert(job: InsertJob, queue: TableQueue, provisioned: ProvisionedBatch): Promise<void> {
    const { backlog } = this.#options;
    const { signal } = this.#stopping;
    // It may have waited for its turn until now.
    if (signal.aborted) throw new AppError('shutting_down', 'the service is shutting down');
    const held: SealedSegment[] = [];
    try {
      for (const [segment, records] of recordsBySegment(provisioned.batch)) {
        held.push(segment);
        await backlog.hold(segment, records);
      }
      await this.#inserter.insert(provisioned, job.inDoubt.has(queue), signal);
    } catch (error) {
      job.inDoubt.add(queue);
      throw error;
    } finally {
      for (const segment of held) backlog.release(segment);
    }
  }

  #onFailure(queue: TableQueue): void {
    if (queue.isFailing) return;
    queue.isFailing = true;
    this.#checkpointStuckJobs();
    this.#flushDue();
  }

  /**
   * Whether some insert of a job is missing and can move: neither its table nor its dataset's first one is
   * failing.
   */
  #canMove({ missing }: InsertJob): boolean {
    return [...missing].some(
      (queue) => !queue.isFailing && this.#queues.get(queue.firstTable)?.isFailing !== true,
    );
  }

  // The insert gate --------------------------------------------------------------------------------------

  /** Waits until a table that is done with a job may go on. @returns false if the drain was stopped before */
  async #passGate(job: InsertJob, queue: TableQueue): Promise<boolean> {
    while (!job.isPassable(queue)) {
      if (this.#stopping.signal.aborted) return false;
      this.#gated.add(job);
      this.#checkpointIfStuck(job);
      await job.gate.next();
    }
    return true;
  }

  /** To be called when a table was stored, or began to fail. */
  #checkpointStuckJobs(): void {
    for (const job of this.#gated) this.#checkpointIfStuck(job);
  }

  /**
   * Opens the gate for the tables that are done with a job by a checkpoint, if nothing else of its segments
   * can move.
   */
  #checkpointIfStuck(job: InsertJob): void {
    if (!this.#gated.has(job) || job.checkpointing !== undefined || job.uncheckpointed().length === 0) return;
    const willBeGone = () => job.segments.some(({ isStored }) => isStored);
    // Tables that another batched job holds back wait as long as that job's tables do, so nobody waits for
    // them.
    const delays = (other: InsertJob) => (other === job || !other.isBatched) && this.#canMove(other);
    if (willBeGone() || job.segments.some(({ jobs }) => [...jobs].some(delays))) return;
    const { backlog } = this.#options;
    const checkpoint = async () => {
      if (willBeGone()) return;
      await backlog.checkpoint(job.last, job.uncheckpointed());
      for (const pending of job.segments) if (!this.#isNeeded(pending)) backlog.evict(pending.segment);
    };
    job.checkpointing = untilDone(checkpoint, this.#retrying(job.last, 'write checkpoint')).then(() => {
      job.checkpointing = undefined;
      job.gate.notify();
    });
  }

  /** Whether some of it will be inserted soon, so that it should stay in memory. */
  #isNeeded({ waiting, jobs }: PendingSegment): boolean {
    return waiting.size > 0 || [...jobs].some((job) => this.#canMove(job));
  }

  // Segment retirement -----------------------------------------------------------------------------------

  #retireIfStored(segments: readonly PendingSegment[]): void {
    for (const pending of segments) {
      if (pending.state !== 'pending' || !pending.isStored) continue;
      pending.state = 'retiring';
      this.#retiring = this.#retiring.then(() => this.#writing(() => this.#retire(pending)));
    }
  }

  async #retire(pending: PendingSegment): Promise<void> {
    const { backlog, beforeRemove } = this.#options;
    const { segment, jobs } = pending;
    // A checkpoint that came after its segment had gone would be left behind.
    for (const { checkpointing } of jobs) await checkpointing;
    if (beforeRemove !== undefined) {
      if (!(await untilDone(() => beforeRemove(segment), this.#retrying(segment, 'before removal')))) return;
    }
    if (!(await untilDone(() => backlog.remove(segment), this.#retrying(segment, 'remove')))) return;
    pending.state = 'gone';
    this.#onGone(pending);
    for (let oldest = this.#segments[0]; oldest?.state === 'gone'; oldest = this.#segments[0]) {
      this.#segments.shift();
      this.#gone.advance(oldest.segment.number);
    }
  }

  /** Opens the gates of its jobs, and forgets the queues that have nothing left to wait for. */
  #onGone({ jobs }: PendingSegment): void {
    for (const [name, queue] of this.#queues) {
      if (queue.newest?.isStored === true && queue.newest.hasLeftLog) this.#queues.delete(name);
    }
    for (const job of jobs) {
      this.#gated.delete(job);
      job.gate.notify();
    }
  }

  /** A step that changes the store, or what the log has that the store lacks. */
  async #writing(step: () => Promise<void>): Promise<void> {
    const { storeWrites } = this.#options;
    await (storeWrites === undefined ? step() : storeWrites.shared(step));
  }

  // Failures ---------------------------------------------------------------------------------------------

  /** @param step what is tried: the table of an insert, or what else is done with a segment */
  #retrying(segment: SealedSegment, step: string, onFailure = () => {}): Retrying {
    const { clock, metrics, log, storeReturned, onNoAnswer } = this.#options;
    return {
      signal: this.#stopping.signal,
      minMs: limits.insertBackoffMinMs,
      maxMs: limits.insertBackoffMaxMs,
      timers: clock,
      retryNow: storeReturned,
      onFailure: (error, waitMs) => {
        if (error instanceof AppError && error.code === 'shutting_down') return;
        metrics.insertFailures.inc();
        const code = error instanceof StoreError ? error.clickHouseCode : undefined;
        log.error(
          { err: error, code, segment: segment.number, step, waitMs },
          'a segment could not be stored; it will be tried again',
        );
        if (error instanceof StoreError && code === undefined) onNoAnswer();
        onFailure();
      },
    };
  }
}
