/**
 * Gets one batch into the store: all of its rows once, except those that the store refuses for good, which go to
 * the dead letters. One bad row never holds up what comes with it or after it.
 *
 * A refusal is final by ClickHouse's error code (`clickhouse/store-error.ts`); everything else is tried again until it
 * succeeds. What to do about a refusal is found out by experiment, on a trial table that takes what the table
 * would take and keeps nothing (`clickhouse/trial-table.ts`):
 *
 * 1. The trial refuses some of the rows. They are found by halving and go to the dead letters. The rest is
 *    inserted.
 * 2. The trial refuses an insert without rows, or takes all of them, or the table cannot be made or looked at:
 *    the rows are not to blame. Perhaps somebody dropped a table or a column by hand, so the catalog forgets what
 *    it knew of the table, makes it anew, and the batch is tried again. When the table has refused that
 *    `limits.maxUnexplainedRefusals` times, all of the batch goes to the dead letters, and so do those after it at
 *    their first refusal, until the table takes one again.
 *
 * Nothing is stored twice and nothing lost, because the batch has one token, whatever is left out of it. A
 * refused insert may have stored a part: ClickHouse cuts a large batch into blocks and writes each before it
 * reads on. So halves under tokens of their own would double that part. Instead:
 *
 * - Trials store nothing, so that they can be repeated, and a crash among them needs no memory.
 * - Rows that fail to be read, converted or checked do so before anything of their block is written. What the
 *   refused insert stored are whole blocks in front of them. The insert without the bad rows has the same token
 *   and begins with the same blocks: ClickHouse drops these and takes what follows.
 * - Dead letters are durable before the rest is inserted, and while the segment is in the log they say what was
 *   left out: a drain that begins again leaves out the same rows, so that it sends the same bytes under the token.
 *   If the crash came before all letters of the batch were written, the trial finds the others again.
 * - Rows that are given up together with all that is left of their batch keep its token, since a part of them may
 *   be stored. Single ones have a token of their own, `<batch>/<first row>-<end>`.
 *
 * Where it is not known what an earlier insert of the batch has done, the store's memory of the token is not enough
 * (`doubtful-insert.ts`). Batches for which the store has too little memory go the same way, in parts.
 *
 * This holds as long as a table judges the same row in the same way. Where somebody changes a table by hand after
 * an insert whose answer was lost, so that it now refuses rows which it has, these are a dead letter as well; and
 * if that insert had stored only the first blocks of a batch of more than a million rows, the blocks behind the
 * cut move up, and as many rows as were cut are taken for stored that are not.
 */

import type { Catalog } from '../catalog/catalog.ts';
import { Comparisons } from '../clickhouse/comparison-table.ts';
import type { Store } from '../clickhouse/store.ts';
import { StoreError } from '../clickhouse/store-error.ts';
import { TrialTable } from '../clickhouse/trial-table.ts';
import { AppError } from '../errors.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { limits } from '../limits/limits.ts';
import type { RowRange } from '../model/block.ts';
import {
  batchRows,
  inherited,
  inheritedTokenOf,
  nameOf,
  segmentsOf,
  type TableBatch,
  tokenOf,
} from './batch.ts';
import type { DeadLetters } from './dead-letters/letters.ts';
import { insertMissing } from './doubtful-insert.ts';
import { insertBlocks } from './insert-blocks.ts';
import { InsertParts } from './insert-parts.ts';
import { findRefusedRows, type Refusal } from './refused-rows.ts';
import { blocksOf, countRows, type Rows, takeRows, withoutRows } from './rows.ts';
import type { SampleSorter } from './sample-sorter.ts';

export interface BatchInserterOptions {
  /** This node's name; part of the deduplication tokens. */
  readonly node: string;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly deadLetters: DeadLetters;
  /** Without it, the store puts samples in order. */
  readonly sorter?: Pick<SampleSorter, 'sort'>;
  readonly clock: Clock & Timers;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** A batch on its way. */
interface Job {
  readonly batch: TableBatch;
  /** The last one of the batch. */
  readonly segment: number;
  readonly token: string;
  readonly rows: Rows;
  /** What is not to be inserted: the dead letters have it. */
  dead: readonly RowRange[];
  /** An insert of it may have been sent before, and it is not known what became of it. */
  readonly doubtful: boolean;
  readonly signal: AbortSignal;
}

/** What is remembered of a table that refuses batches, until it takes a whole one. */
interface Trouble {
  /** Refusals one after another that the rows do not explain. */
  unexplained: number;
  /** How many trials the next batch gets. */
  trials: number;
}

export class BatchInserter {
  readonly #options: BatchInserterOptions;
  readonly #troubles = new Map<string, Trouble>();
  readonly #parts = new InsertParts();
  readonly #comparisons: Comparisons;
  /** Trials of one node share a table; so they, and comparisons, take turns. */
  readonly #turns = new Semaphore(1);

  constructor(options: BatchInserterOptions) {
    this.#options = options;
    this.#comparisons = new Comparisons(options.store, options.node);
  }

  /**
   * Stores a batch whose records are in memory. What was of a tenant or dataset that has ended is left out.
   * @param doubtful an insert of it may have been sent before, and it is not known what became of it
   * @param signal aborting it ends the wait for the store
   * @throws whatever is worth another try
   */
  async insert(batch: TableBatch, doubtful: boolean, signal: AbortSignal): Promise<void> {
    const { node, catalog, deadLetters } = this.#options;
    const { tenant, dataset, kind, presumed } = batch;
    const [, segment] = segmentsOf(batch);
    const id = catalog.destination(tenant, dataset, kind, presumed);
    if (id === undefined) return;
    const own = id === dataset ? batch : inherited(batch, id);
    const token = own === batch ? tokenOf(node, batch) : inheritedTokenOf(node, batch);
    const job: Job = {
      batch: own,
      segment,
      token,
      rows: await this.#inOrder(own),
      dead: await deadLetters.rangesOf(token),
      doubtful,
      signal,
    };
    while (!(await this.#tryInsert(job))) {
      // Each turn has found more rows that are dead.
    }
  }

  /**
   * The rows of a batch, samples in the order of their table. Either way it is a function of the batch alone, so that
   * rows have the same places in it each time.
   */
  async #inOrder(batch: TableBatch): Promise<Rows> {
    const rows = batchRows(batch);
    if (batch.kind !== 'metrics' || !batch.table.endsWith('.samples')) return rows;
    const bytes = await this.#options.sorter?.sort(rows.blocks);
    const { columns } = batch;
    return bytes === undefined ? rows : { ...rows, blocks: [{ rows: batch.rows, columns, bytes }] };
  }

  /**
   * @returns false if it was refused and there are more dead rows now
   * @throws whatever is worth another try
   */
  async #tryInsert(job: Job): Promise<boolean> {
    const { catalog, metrics } = this.#options;
    const { batch } = job;
    const { tenant, dataset, kind, columns } = batch;
    const left = withoutRows(job.rows, job.dead);
    if (left.length === 0 || catalog.hasEnded(tenant, dataset)) return true;
    try {
      const stop = metrics.insertDuration.startTimer();
      await catalog.ensure(tenant, dataset, kind, columns);
      await this.#send(job, left);
      stop();
    } catch (error) {
      this.#parts.noteFailure(nameOf(batch), error);
      // Its tables may have been dropped under the insert.
      if (catalog.hasEnded(tenant, dataset)) return true;
      if (!(error instanceof StoreError) || error.retryable) throw error;
      await this.#settle(job, left, error);
      return false;
    }
    this.#noteSuccess(job);
    metrics.insertRows.inc(countRows(left));
    return true;
  }

  async #send({ batch, token, doubtful, signal }: Job, left: readonly Rows[]): Promise<void> {
    const { store, clock } = this.#options;
    const { database, table, columns } = batch;
    const parts = this.#parts.of(nameOf(batch));
    if (doubtful || parts > 1) {
      const insert = { batch, token, rows: left, parts, signal };
      const around = { ...this.#options, comparisons: this.#comparisons };
      await this.#turns.run(() => insertMissing(around, insert));
      return;
    }
    const blocks = await insertBlocks(left, clock);
    await store.insert({ database, table, columns, token, blocks }, signal);
  }

  /** Decides about a refusal. @throws the refusal, if it is to be tried again */
  async #settle(job: Job, left: readonly Rows[], error: StoreError): Promise<void> {
    const { catalog } = this.#options;
    const { batch, token } = job;
    const trouble = this.#troubles.get(nameOf(batch)) ?? { unexplained: 0, trials: limits.maxRowTrials };
    this.#troubles.set(nameOf(batch), trouble);
    const refusals = await this.#turns.run(() => this.#explain(job, left, trouble));
    if (refusals.length === 0) {
      trouble.unexplained = Math.min(trouble.unexplained + 1, limits.maxUnexplainedRefusals);
      if (trouble.unexplained < limits.maxUnexplainedRefusals) {
        catalog.forget(batch.tenant, batch.dataset, batch.kind);
        throw error;
      }
      await this.#bury(job, left, token, error);
    }
    for (const refusal of refusals) {
      const rows = takeRows(job.rows, refusal);
      await this.#bury(job, [rows], `${token}/${refusal.from}-${refusal.to}`, refusal.error);
    }
  }

  /** Which rows are the reason; none if it is not they. */
  async #explain(job: Job, left: readonly Rows[], trouble: Trouble): Promise<readonly Refusal[]> {
    const { store, node } = this.#options;
    const { columns } = job.batch;
    try {
      const table = await TrialTable.make(store, node, job.batch);
      const trial = async (...rows: Rows[]) => {
        if (job.signal.aborted) throw new AppError('shutting_down', 'the service is shutting down');
        await table.insert({ columns, token: job.token, blocks: blocksOf(rows) }, job.signal);
      };
      try {
        // An experiment without rows: what is refused here is not refused because of them.
        await trial();
        const { refusals, usedUp } = await findRefusedRows(left, trial, trouble.trials);
        trouble.trials = usedUp
          ? Math.max(limits.minRowTrials, Math.floor(trouble.trials / 2))
          : limits.maxRowTrials;
        return refusals;
      } finally {
        await table.drop();
      }
    } catch (error) {
      if (error instanceof StoreError && !error.retryable) return [];
      throw error;
    }
  }

  async #bury(job: Job, rows: readonly Rows[], token: string, error: StoreError): Promise<void> {
    const { deadLetters, clock } = this.#options;
    const { tenant, dataset, kind, database, table, columns } = job.batch;
    const ranges = rows.map(({ from, to }) => ({ from, to }));
    const note = {
      format: 1,
      tenant,
      dataset,
      kind,
      database,
      table,
      columns,
      rows: countRows(rows),
      segment: job.segment,
      batch: job.token,
      ranges,
      token,
      error: {
        code: error.clickHouseCode ?? null,
        message: error.message.slice(0, limits.maxDeadReasonLength),
      },
      time: new Date(clock.nowMicros() / 1000).toISOString(),
    } as const;
    await deadLetters.add(note, blocksOf(rows));
    job.dead = [...job.dead, ...ranges];
  }

  /** A table that takes what is left of a batch is no broken table; one that takes all of it is in no trouble. */
  #noteSuccess({ batch, dead }: Job): void {
    this.#parts.noteSuccess(nameOf(batch));
    const trouble = this.#troubles.get(nameOf(batch));
    if (trouble === undefined) return;
    if (dead.length === 0) this.#troubles.delete(nameOf(batch));
    else trouble.unexplained = 0;
  }
}
