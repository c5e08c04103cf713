/**
 * Moves sealed segments into the store.
 *
 * - A segment makes one insert for each table in it, with the token `<node>-<segment>-<database>.<table>`. The
 *   store drops what it has already, so a segment may be inserted any number of times. Where the store itself may
 *   have been killed, or have lost power, since an insert was sent, that is not trusted, and the rows are looked for
 *   (`doubtful-insert.ts`): after an insert that failed, which may have stored some of its rows, and for the first one
 *   of each table that an earlier life of the process has left. It was the only one that may have been under way.
 * - Where a segment has many tables, those that get little take several segments' parts in one insert
 *   (`quiet-tables.ts`), a bundle (`bundling.ts`). What it is made of is noted durably before it is sent (`wal/bundles.ts`).
 * - A table takes its segments in their order, one insert at a time. The tables of a dataset follow their first one, the
 *   series, so that a reader never finds a sample without its labels. Otherwise tables move at the same time.
 * - A failed insert is tried again, with growing pauses, until it succeeds or the drain stops; meanwhile the log
 *   grows up to its bound and then refuses new writes. Pauses end when the store answers after it did not. Rows
 *   that the store refuses for good go to the dead letters (`batch-inserter.ts`), and everything else goes on.
 * - A table goes on to its next insert when the log does not have the last one any more, or knows that it is stored
 *   (`passage.ts`).
 * - A segment leaves the log when the store or the dead letters have all of it, and not before.
 */

import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { type Retrying, sleep, untilDone } from '../lib/backoff.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { Signal } from '../lib/signal.ts';
import { Watermark } from '../lib/watermark.ts';
import { limits } from '../limits/limits.ts';
import type { Backlog } from '../wal/backlog.ts';
import type { SealedSegment } from '../wal/segment.ts';
import { batchesOf, nameOf, recordsBySegment, type TableBatch } from './batch.ts';
import { BatchInserter, type BatchInserterOptions } from './batch-inserter.ts';
import { Bundling } from './bundling.ts';
import { Departures } from './departures.ts';
import { Passage } from './passage.ts';
import { Preparation } from './preparation.ts';
import type { QuietTablesOptions } from './quiet-tables.ts';
import { RecoveredBundles } from './recovered-bundles.ts';
import { Lane, Load, Shipment } from './shipment.ts';

export interface DrainOptions extends BatchInserterOptions {
  readonly backlog: Backlog;
  readonly quiet: QuietTablesOptions;
  /** Wakes when the store answers after it did not. */
  readonly storeReturned: Signal;
  /** Told when the store did not answer. */
  readonly onNoAnswer: () => void;
  /** Makes what else is to outlive a segment durable elsewhere; then the segment is removed. */
  readonly beforeRemove?: (segment: SealedSegment) => Promise<void>;
}

export class Drain {
  readonly #options: DrainOptions;
  readonly #inserter: BatchInserter;
  readonly #preparation: Preparation;
  readonly #slots = new Semaphore(limits.maxParallelInserts);
  readonly #departures: Departures;
  /** By table; only those that a segment of the queue needs. */
  readonly #lanes = new Map<string, Lane>();
  readonly #stopping = new AbortController();
  readonly #passage: Passage;
  readonly #bundling: Bundling;
  /** The drain has the segment of this number and all before it. */
  readonly #added = new Watermark();
  #recovered: RecoveredBundles | undefined;

  constructor(options: DrainOptions) {
    this.#options = options;
    this.#inserter = new BatchInserter(options);
    this.#preparation = new Preparation(options.catalog);
    this.#departures = new Departures({
      backlog: options.backlog,
      beforeRemove: options.beforeRemove,
      retrying: (segment, step) => this.#retrying(segment, step),
      onGone: (load) => this.#passOn(load),
    });
    this.#passage = new Passage({
      backlog: options.backlog,
      lanes: this.#lanes,
      signal: this.#stopping.signal,
      retrying: (segment, step) => this.#retrying(segment, step),
    });
    this.#bundling = new Bundling({
      ...options,
      signal: this.#stopping.signal,
      moves: (bundle) => this.#passage.moves(bundle),
      send: (bundle, batch, noted) => this.#send(bundle, batch, noted),
      leaveIfDone: (loads) => this.#departures.leaveIfDone(loads),
      retrying: (segment, step) => this.#retrying(segment, step),
    });
  }

  /** Begins; what was added before waits until now. */
  start(): void {
    if (this.#recovered !== undefined) return;
    const loads = this.#departures.waiting;
    this.#recovered = new RecoveredBundles(loads);
    for (const load of loads) this.#dispatch(load, this.#recovered);
  }

  /** Takes a segment that an earlier life of the process left; they come before all others. */
  recover(segment: SealedSegment): void {
    this.#add(new Load(segment, true));
  }

  /** Takes the next segment; numbers only grow. */
  add(segment: SealedSegment): void {
    this.#add(new Load(segment, false));
  }

  #add(load: Load): void {
    this.#departures.add(load);
    if (this.#recovered !== undefined) this.#dispatch(load, this.#recovered);
    this.#added.advance(load.segment.number);
  }

  /** Fulfils when the store has the segment of that number, which may not even be sealed yet, and all before. */
  drained(number: number): Promise<void> {
    return this.#departures.gone(number);
  }

  /**
   * Fulfils when the store has what the segment of that number, which may not even be sealed yet, and all before hold
   * of some datasets; they do not wait for more.
   * @param leads names of their first tables
   */
  async stored(number: number, leads: ReadonlySet<string>): Promise<void> {
    await this.#added.reached(number);
    this.#bundling.end(leads);
    const lanes = [...this.#lanes.values()].filter(({ lead }) => leads.has(lead));
    await Promise.all(lanes.map(({ tail }) => tail));
    // Then the log has nothing of them any more, unless others wait.
    if (this.#bundling.isIdle) await this.drained(number);
  }

  /** For how long some table should have been on its way that waits for more still: the store is slower than what comes. */
  get overdueMs(): number {
    return this.#bundling.overdueMs;
  }

  /** Gives what is queued `graceMs` to get into the store; what is left stays in the log. */
  async stop(graceMs: number): Promise<void> {
    this.#bundling.stop();
    this.#bundling.end();
    const timer = new AbortController();
    await Promise.race([this.#departures.all(), sleep(graceMs, timer.signal, this.#options.clock)]);
    timer.abort();
    this.#stopping.abort();
    this.#bundling.stop();
    this.#passage.stop();
    await Promise.all([...this.#lanes.values()].map((lane) => lane.tail));
    await this.#departures.settled();
    const segments = this.#departures.waiting.length;
    if (segments > 0) {
      this.#options.log.info(
        { segments },
        'the store did not take all of the log; the rest follows at the next start',
      );
    }
  }

  /** Puts each table's part of a segment behind what its lane has already, or lets it wait for more. */
  #dispatch(load: Load, recovered: RecoveredBundles): void {
    if (this.#stopping.signal.aborted) return;
    const { checkpoint } = load.segment;
    const batches = batchesOf(load.segment);
    const bundled = recovered.take(load, batches);
    const isLeft = (batch: TableBatch) => !checkpoint.tables.has(nameOf(batch)) && !bundled.has(batch);
    const prompt = this.#bundling.take(load, batches, isLeft);
    const shipment = new Shipment([load], false);
    for (const batch of prompt) this.#send(shipment, batch);
    for (const waited of recovered.completedBy(load)) this.#bundling.send(waited);
    this.#departures.leaveIfDone([load]);
    this.#bundling.endDue();
  }

  #send(shipment: Shipment, batch: TableBatch, ready?: Promise<unknown>): void {
    const name = nameOf(batch);
    const lane = this.#lanes.get(name) ?? new Lane(name, batch.lead);
    this.#lanes.set(name, lane);
    // Of what an earlier life left it had sent each table the first at most.
    const isLeft = shipment.loads.some((load) => load.isLeft);
    if (isLeft && lane.newest === undefined) shipment.doubtful.add(lane);
    shipment.left.add(lane);
    const previous = lane.newest;
    lane.newest = shipment;
    const before = [ready, lane.tail, this.#lanes.get(batch.lead)?.tail];
    lane.tail = Promise.all(before).then(() => this.#move(lane, shipment, batch, previous));
  }

  async #move(
    lane: Lane,
    shipment: Shipment,
    batch: TableBatch,
    previous: Shipment | undefined,
  ): Promise<void> {
    if (previous !== undefined && !(await this.#passage.mayPass(lane, previous))) return;
    const work = async () => {
      await this.#preparation.prepare(batch, this.#stopping.signal);
      await this.#slots.run(() => this.#insert(shipment, lane, batch));
    };
    const retrying = this.#retrying(shipment.last, lane.name, () => this.#onTrouble(lane));
    if (!(await untilDone(work, retrying))) return;
    lane.inTrouble = false;
    shipment.arrived(lane);
    if (shipment.isDone) {
      this.#bundling.arrived(shipment);
      this.#departures.leaveIfDone(shipment.loads);
    }
    this.#passage.noteWhatIsStuck();
    if (shipment.isBundle) this.#bundling.endDue();
  }

  async #insert(shipment: Shipment, lane: Lane, batch: TableBatch): Promise<void> {
    const { backlog } = this.#options;
    const { doubtful } = shipment;
    // It may have waited for its turn until now.
    if (this.#stopping.signal.aborted) throw new AppError('shutting_down', 'the service is shutting down');
    const held: SealedSegment[] = [];
    try {
      for (const [segment, records] of recordsBySegment(batch)) {
        held.push(segment);
        await backlog.hold(segment, records);
      }
      await this.#inserter.insert(batch, doubtful.has(lane), this.#stopping.signal);
    } catch (error) {
      doubtful.add(lane);
      throw error;
    } finally {
      for (const segment of held) backlog.release(segment);
    }
  }

  #onTrouble(lane: Lane): void {
    if (lane.inTrouble) return;
    lane.inTrouble = true;
    this.#passage.noteWhatIsStuck();
    this.#bundling.endDue();
  }

  /** A segment is gone: the tables that were done with it may go on. */
  #passOn(load: Load): void {
    for (const [name, { newest }] of this.#lanes) {
      if (newest?.isDone === true && newest.loads.some(({ isGone }) => isGone)) this.#lanes.delete(name);
    }
    this.#passage.open(load);
  }

  #retrying(segment: SealedSegment, step: string, onTrouble = () => {}): Retrying {
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
        onTrouble();
      },
    };
  }
}
