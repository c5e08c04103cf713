/**
 * Stores one batch: all of its rows once, except those that the store refuses permanently, which go to the
 * dead letters. A bad row never holds up the rows that come with it or after it.
 *
 * A refusal is final by ClickHouse's error code (`clickhouse/store-error.ts`); everything else is tried again
 * until it succeeds. What to do about a refusal is found out by experiment, on a trial table that takes what
 * the table would take and keeps nothing (`clickhouse/trial-table.ts`):
 *
 * 1. The trial refuses some of the rows. They are found by bisection and go to the dead letters. The rest is
 *    inserted.
 * 2. The trial refuses an insert without rows, or takes all of them, or the table cannot be made or looked
 *    at: the rows are not the cause. Perhaps somebody dropped a table or a column by hand, so the catalog
 *    forgets what it knew of the table, provisioning makes it anew, and the batch is tried again. When the
 *    table has refused that `limits.maxUnexplainedRefusals` times, all of the batch goes to the dead letters,
 *    and so do those after it at their first refusal, until the table takes one again.
 *
 * Nothing is stored twice and nothing lost, because the batch has one token, whatever is left out of it. A
 * refused insert may have stored a part: ClickHouse cuts a large batch into blocks and writes each before it
 * reads on. So halves under tokens of their own would double that part. Instead:
 *
 * - Trials store nothing, so that they can be repeated, and a crash between them leaves nothing to clean up.
 * - Rows that fail to be read, converted or checked do so before anything of their block is written. What the
 *   refused insert stored are whole blocks in front of them. The insert without the bad rows has the same
 *   token and begins with the same blocks: ClickHouse drops these and takes what follows.
 * - Dead letters are durable before the rest is inserted, and while the segment is in the log they say what
 *   was left out: a drain that begins again leaves out the same rows, so that it sends the same bytes under
 *   the token. If the crash came before all letters of the batch were written, the trial finds the others
 *   again.
 * - Rows that are given up together with all that is left of their batch keep its token, since a part of them
 *   may be stored. Single ones have a token of their own, `<batch>/<first row>-<end>`.
 *
 * Where it is not known what an earlier insert of the batch has done, the store's memory of the token is not
 * enough (`in-doubt-insert.ts`). Batches for which the store has too little memory go the same way, in parts.
 *
 * This holds as long as a table judges the same row in the same way. There is one exception: an insert's
 * answer is lost, and then somebody changes the table by hand, so that it refuses rows that it already has.
 * These rows become a dead letter as well. If that insert had stored only the first blocks of a batch of more
 * than a million rows, the blocks after the refused rows also move up, and as many rows as were left out are
 * wrongly taken for stored.
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
import type { DeadLetters } from './dead-letters/letters.ts';
import { insertMissing } from './in-doubt-insert.ts';
import { InsertParts } from './insert-parts.ts';
import { mergedBlocks } from './merged-blocks.ts';
import type { ProvisionedBatch } from './provisioning.ts';
import { findRefusedRows, type Refusal } from './refused-rows.ts';
import { blocksOf, countRows, type Rows, takeRows, withoutRows } from './row-ranges.ts';
import type { SampleSorter } from './sample-sorter.ts';
import { batchRows, nameOf, segmentsOf, type TableBatch } from './table-batch.ts';

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

/** One try of a batch. */
interface Attempt extends ProvisionedBatch {
  /** The last one of the batch. */
  readonly segment: number;
  readonly rows: Rows;
  /** Rows that are left out, since the dead letters have them. */
  dead: readonly RowRange[];
  /** An insert of it may have been sent before, and it is not known what became of it. */
  readonly inDoubt: boolean;
  readonly signal: AbortSignal;
}

/** The state of a table that refuses batches, kept until it takes a whole one. */
interface RefusalHistory {
  /** Consecutive refusals that the rows do not explain. */
  unexplained: number;
  /** How many trials the next batch gets. */
  trials: number;
}

export class BatchInserter {
  readonly #options: BatchInserterOptions;
  readonly #refusals = new Map<string, RefusalHistory>();
  readonly #parts = new InsertParts();
  readonly #comparisons: Comparisons;
  /** Trials of one node share a table, so that one of them, or one comparison, runs at a time. */
  readonly #experiments = new Semaphore(1);

  constructor(options: BatchInserterOptions) {
    this.#options = options;
    this.#comparisons = new Comparisons(options.store, options.node);
  }

  /**
   * Stores a batch whose records are in memory, unless its tenant or dataset was deleted meanwhile.
   * @param inDoubt an insert of it may have been sent before, and it is not known what became of it
   * @param signal aborting it ends the wait for the store
   * @throws whatever is worth another try
   */
  async insert(provisioned: ProvisionedBatch, inDoubt: boolean, signal: AbortSignal): Promise<void> {
    const { batch, token } = provisioned;
    const [, segment] = segmentsOf(batch);
    const rows = await this.#inOrder(batch);
    const dead = await this.#options.deadLetters.rangesOf(token);
    const attempt: Attempt = { ...provisioned, segment, rows, dead, inDoubt, signal };
    while (!(await this.#tryInsert(attempt))) {
      // Each turn has found more rows that are dead.
    }
  }

  /**
   * The rows of a batch, samples in the order of their table. Either way it is a function of the batch alone,
   * so that rows have the same places in it each time.
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
  async #tryInsert(attempt: Attempt): Promise<boolean> {
    const { catalog, metrics } = this.#options;
    const { batch, refusal } = attempt;
    const { tenant, dataset } = batch;
    const left = withoutRows(attempt.rows, attempt.dead);
    if (left.length === 0 || catalog.hasEnded(tenant, dataset)) return true;
    try {
      if (refusal !== undefined) throw refusal;
      const stop = metrics.insertDuration.startTimer();
      await this.#send(attempt, left);
      stop();
    } catch (error) {
      this.#parts.noteFailure(nameOf(batch), error);
      // Its tables may have been dropped during the insert.
      if (catalog.hasEnded(tenant, dataset)) return true;
      if (!(error instanceof StoreError) || error.retryable) throw error;
      await this.#handleRefusal(attempt, left, error);
      return false;
    }
    this.#noteSuccess(attempt);
    metrics.insertRows.inc(countRows(left));
    return true;
  }

  async #send({ batch, token, inDoubt, signal }: Attempt, left: readonly Rows[]): Promise<void> {
    const { store, clock } = this.#options;
    const { database, table, columns } = batch;
    const parts = this.#parts.of(nameOf(batch));
    if (inDoubt || parts > 1) {
      const insert = { batch, token, rows: left, parts, signal };
      const context = { ...this.#options, comparisons: this.#comparisons };
      await this.#experiments.run(() => insertMissing(context, insert));
      return;
    }
    const blocks = await mergedBlocks(left, clock);
    await store.insert({ database, table, columns, token, blocks }, signal);
  }

  /** Decides about a refusal. @throws the refusal, if it is to be tried again */
  async #handleRefusal(attempt: Attempt, left: readonly Rows[], error: StoreError): Promise<void> {
    const { catalog } = this.#options;
    const { batch, token } = attempt;
    const history = this.#refusals.get(nameOf(batch)) ?? { unexplained: 0, trials: limits.maxRowTrials };
    this.#refusals.set(nameOf(batch), history);
    const refusals = await this.#experiments.run(() => this.#explain(attempt, left, history));
    if (refusals.length === 0) {
      history.unexplained = Math.min(history.unexplained + 1, limits.maxUnexplainedRefusals);
      if (history.unexplained < limits.maxUnexplainedRefusals) {
        catalog.forget(batch.tenant, batch.dataset, batch.kind);
        throw error;
      }
      await this.#giveUp(attempt, left, token, error);
    }
    for (const refusal of refusals) {
      const rows = takeRows(attempt.rows, refusal);
      await this.#giveUp(attempt, [rows], `${token}/${refusal.from}-${refusal.to}`, refusal.error);
    }
  }

  /** The rows that are the reason; none if the reason is something else. */
  async #explain(
    attempt: Attempt,
    left: readonly Rows[],
    history: RefusalHistory,
  ): Promise<readonly Refusal[]> {
    const { store, node } = this.#options;
    const { columns } = attempt.batch;
    try {
      const table = await TrialTable.make(store, node, attempt.batch);
      const trial = async (...rows: Rows[]) => {
        if (attempt.signal.aborted) throw new AppError('shutting_down', 'the service is shutting down');
        await table.insert({ columns, token: attempt.token, blocks: blocksOf(rows) }, attempt.signal);
      };
      try {
        // A trial without rows: if this is refused, the rows are not the reason.
        await trial();
        const { refusals, usedUp } = await findRefusedRows(left, trial, history.trials);
        history.trials = usedUp
          ? Math.max(limits.minRowTrials, Math.floor(history.trials / 2))
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

  /** Writes rows to the dead letters. */
  async #giveUp(attempt: Attempt, rows: readonly Rows[], token: string, error: StoreError): Promise<void> {
    const { deadLetters, clock } = this.#options;
    const { tenant, dataset, kind, database, table, columns } = attempt.batch;
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
      segment: attempt.segment,
      batch: attempt.token,
      ranges,
      token,
      error: {
        code: error.clickHouseCode ?? null,
        message: error.message.slice(0, limits.maxDeadReasonLength),
      },
      time: new Date(clock.nowMicros() / 1000).toISOString(),
    } as const;
    await deadLetters.add(note, blocksOf(rows));
    attempt.dead = [...attempt.dead, ...ranges];
  }

  /**
   * A table that takes the rest of a batch is not broken. One that takes all of a batch no longer refuses
   * anything.
   */
  #noteSuccess({ batch, dead }: Attempt): void {
    this.#parts.noteSuccess(nameOf(batch));
    const history = this.#refusals.get(nameOf(batch));
    if (history === undefined) return;
    if (dead.length === 0) this.#refusals.delete(nameOf(batch));
    else history.unexplained = 0;
  }
}
