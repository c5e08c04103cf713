/**
 * Moves sealed segments into the store.
 *
 * - A segment makes one insert for each table in it, with the token `<node>-<segment>-<database>.<table>`. The
 *   store drops what it has already, so a segment may be inserted any number of times. Where the store itself may
 *   have been killed, or have lost power, since an insert was sent, that is not trusted, and the rows are looked for
 *   (`doubtful-insert.ts`): after an insert that failed, which may have stored some of its rows, and for the first one
 *   of each table that an earlier life of the process has left. It was the only one that may have been under way.
 * - A table takes its segments in their order, one at a time. The tables of a dataset follow their first one, the
 *   series, so that a reader never finds a sample without its labels. Otherwise tables move at the same time.
 * - A failed insert is tried again, with growing pauses, until it succeeds or the drain stops; meanwhile the log
 *   grows up to its bound and then refuses new writes. Pauses end when the store answers after it did not. Rows
 *   that the store refuses for good go to the dead letters (`batch-inserter.ts`), and everything else goes on.
 * - A segment leaves the log when the store or the dead letters have all of it, and not before.
 *
 * The store remembers a number of tokens for each table and no more. So a table must not go on to its next segment
 * while the log still has the last one, where a crash would have it inserted again:
 *
 * - As long as all goes well it waits until the segment is gone, which takes as long as its slowest table.
 * - Where all tables that are left of the segment are in trouble, having failed and not succeeded since, it is
 *   noted durably which ones the store has (`wal/stored-notes.ts`), and these go on. So a table that cannot move
 *   holds up no other; it costs a small file for each segment that it is in.
 */
import { AppError } from '../errors.ts';
import { type Retrying, sleep, untilDone } from '../lib/backoff.ts';
import { Slots } from '../lib/slots.ts';
import type { Wakeup } from '../lib/wakeup.ts';
import { limits } from '../limits.ts';
import { StoreError } from '../store/errors.ts';
import type { Backlog } from '../wal/backlog.ts';
import type { SealedSegment } from '../wal/segment.ts';
import { batchesOf, nameOf, type TableBatch } from './batch.ts';
import { BatchInserter, type BatchInserterOptions } from './batch-inserter.ts';
import { Lane, Shipment } from './shipment.ts';

export interface DrainOptions extends BatchInserterOptions {
  readonly backlog: Backlog;
  /** Wakes when the store answers after it did not. */
  readonly storeReturned: Wakeup;
  /** Told when the store did not answer. */
  readonly onNoAnswer: () => void;
  /** Makes what else is to outlive a segment durable elsewhere; then the segment is removed. */
  readonly beforeRemove?: (segment: SealedSegment) => Promise<void>;
}

export class Drain {
  readonly #options: DrainOptions;
  readonly #inserter: BatchInserter;
  readonly #slots = new Slots(limits.maxParallelInserts);
  /** What has come, oldest first, until it and all before it are gone. */
  readonly #queue: Shipment[] = [];
  /** By table; only those that a segment of the queue needs. */
  readonly #lanes = new Map<string, Lane>();
  readonly #stopping = new AbortController();
  readonly #waiters = new Set<{ readonly number: number; done(): void }>();
  /** Segments in which a table waits until it may go on. */
  readonly #awaited = new Set<Shipment>();
  #newest = 0;
  /** The store has the segment of this number and all before it. */
  #drained = 0;
  #removing: Promise<void> = Promise.resolve();
  #started = false;

  constructor(options: DrainOptions) {
    this.#options = options;
    this.#inserter = new BatchInserter(options);
  }

  /** Begins; what was added before waits until now. */
  start(): void {
    this.#started = true;
    for (const shipment of this.#queue) this.#dispatch(shipment);
  }

  /** Takes a segment that an earlier life of the process left; they come before all others. */
  recover(segment: SealedSegment): void {
    this.#add(new Shipment(segment, true));
  }

  /** Takes the next segment; numbers only grow. */
  add(segment: SealedSegment): void {
    this.#add(new Shipment(segment, false));
  }

  #add(shipment: Shipment): void {
    this.#queue.push(shipment);
    this.#newest = shipment.segment.number;
    if (this.#started) this.#dispatch(shipment);
  }

  /** Fulfils when the store has the segment of that number, which may not even be sealed yet, and all before. */
  async drained(number: number): Promise<void> {
    if (number <= this.#drained) return;
    await new Promise<void>((done) => {
      this.#waiters.add({ number, done });
    });
  }

  /** Gives what is queued `graceMs` to get into the store; what is left stays in the log. */
  async stop(graceMs: number): Promise<void> {
    const timer = new AbortController();
    await Promise.race([this.drained(this.#newest), sleep(graceMs, timer.signal, this.#options.clock)]);
    timer.abort();
    this.#stopping.abort();
    for (const shipment of this.#awaited) shipment.passable.wake();
    await Promise.all([...this.#lanes.values()].map((lane) => lane.tail));
    await this.#removing;
    if (this.#queue.length > 0) {
      this.#options.log.info(
        { segments: this.#queue.length },
        'the store did not take all of the log; the rest follows at the next start',
      );
    }
  }

  /** Puts each table's part of a segment behind what its lane has already. */
  #dispatch(shipment: Shipment): void {
    if (this.#stopping.signal.aborted) return;
    const { stored } = shipment.segment;
    const batches = batchesOf(shipment.segment).filter((batch) => !stored.tables.has(nameOf(batch)));
    for (const batch of batches) {
      const name = nameOf(batch);
      const lane = this.#lanes.get(name) ?? new Lane(name, batch.lead);
      // Of what an earlier life left it had sent each table the first at most.
      if (shipment.isLeft && lane.newest === undefined) shipment.doubtful.add(lane);
      this.#lanes.set(name, lane);
      shipment.left.add(lane);
      const previous = lane.newest;
      lane.newest = shipment;
      const before = [lane.tail, this.#lanes.get(batch.lead)?.tail];
      lane.tail = Promise.all(before).then(() => this.#move(lane, shipment, batch, previous));
    }
    if (batches.length === 0) this.#remove(shipment);
  }

  async #move(
    lane: Lane,
    shipment: Shipment,
    batch: TableBatch,
    previous: Shipment | undefined,
  ): Promise<void> {
    const { segment } = shipment;
    if (previous !== undefined && !(await this.#mayPass(lane, previous))) return;
    const work = () => this.#slots.run(() => this.#insert(shipment, lane, batch));
    if (
      !(await untilDone(
        work,
        this.#retrying(segment, lane.name, () => this.#noteTrouble(lane)),
      ))
    )
      return;
    lane.inTrouble = false;
    shipment.arrived(lane);
    if (shipment.left.size === 0) this.#remove(shipment);
    else this.#noteIfStuck(shipment);
  }

  async #insert(shipment: Shipment, lane: Lane, batch: TableBatch): Promise<void> {
    const { backlog } = this.#options;
    const { segment, doubtful } = shipment;
    // It may have waited for its turn until now.
    if (this.#stopping.signal.aborted) throw new AppError('shutting_down', 'the service is shutting down');
    try {
      await backlog.hold(segment, new Set(batch.parts.map(({ record }) => record)));
      await this.#inserter.insert(segment.number, batch, doubtful.has(lane), this.#stopping.signal);
    } catch (error) {
      doubtful.add(lane);
      throw error;
    } finally {
      backlog.release(segment);
    }
  }

  /** Waits until a table that is done with a segment may go on. @returns false if the drain was stopped before */
  async #mayPass(lane: Lane, shipment: Shipment): Promise<boolean> {
    while (!shipment.lets(lane)) {
      if (this.#stopping.signal.aborted) return false;
      this.#awaited.add(shipment);
      this.#noteIfStuck(shipment);
      await shipment.passable.next();
    }
    return true;
  }

  #noteTrouble(lane: Lane): void {
    if (lane.inTrouble) return;
    lane.inTrouble = true;
    for (const shipment of this.#awaited) this.#noteIfStuck(shipment);
  }

  /** Lets the tables that are done with a segment go on, if nothing else moves in it. */
  #noteIfStuck(shipment: Shipment): void {
    const isStuck = (lane: Lane) => lane.inTrouble || this.#lanes.get(lane.lead)?.inTrouble === true;
    if (!this.#awaited.has(shipment) || shipment.noting !== undefined || shipment.toNote().length === 0)
      return;
    if (shipment.left.size === 0 || ![...shipment.left].every(isStuck)) return;
    const { segment } = shipment;
    const note = async () => {
      if (shipment.left.size > 0) await this.#options.backlog.note(segment, shipment.toNote());
    };
    shipment.noting = untilDone(note, this.#retrying(segment, 'note')).then(() => {
      shipment.noting = undefined;
      shipment.passable.wake();
    });
  }

  /** One segment after another. */
  #remove(shipment: Shipment): void {
    this.#removing = this.#removing.then(async () => {
      const { backlog, beforeRemove } = this.#options;
      const { segment } = shipment;
      const retrying = (step: string) => this.#retrying(segment, step);
      // A note that came after its segment had gone would be left behind.
      await shipment.noting;
      if (beforeRemove !== undefined) {
        if (!(await untilDone(() => beforeRemove(segment), retrying('remember')))) return;
      }
      if (!(await untilDone(() => backlog.remove(segment), retrying('remove')))) return;
      shipment.isGone = true;
      this.#awaited.delete(shipment);
      for (const [name, lane] of this.#lanes) if (lane.newest === shipment) this.#lanes.delete(name);
      shipment.passable.wake();
      this.#advance();
    });
  }

  #advance(): void {
    for (let oldest = this.#queue[0]; oldest?.isGone === true; oldest = this.#queue[0]) {
      this.#queue.shift();
      this.#drained = oldest.segment.number;
    }
    for (const waiter of this.#waiters) {
      if (waiter.number > this.#drained) continue;
      this.#waiters.delete(waiter);
      waiter.done();
    }
  }

  #retrying(segment: SealedSegment, step: string, onTrouble = () => {}): Retrying {
    const { clock, metrics, log, storeReturned, onNoAnswer } = this.#options;
    return {
      signal: this.#stopping.signal,
      minMs: limits.insertBackoffMinMs,
      maxMs: limits.insertBackoffMaxMs,
      timers: clock,
      wakeup: storeReturned,
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
