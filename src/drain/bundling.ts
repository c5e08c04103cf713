import { type Retrying, untilDone } from '../lib/backoff.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import type { Backlog } from '../wal/backlog.ts';
import type { SealedSegment } from '../wal/segment.ts';
import { nameOf, type TableBatch } from './batch.ts';
import { QuietTables, type QuietTablesOptions, type Waited } from './quiet-tables.ts';
import { type Load, Shipment } from './shipment.ts';

export interface BundlingOptions {
  readonly quiet: QuietTablesOptions;
  readonly backlog: Pick<Backlog, 'writeManifest'>;
  readonly clock: Clock & Timers;
  /** Aborted when the drain stops. */
  readonly signal: AbortSignal;
  /** Whether a table of a shipment is on its way and not in trouble. */
  readonly moves: (shipment: Shipment) => boolean;
  /** Puts a table's part of a bundle behind what its lane has already, and behind the note of the bundle. */
  readonly send: (bundle: Shipment, batch: TableBatch, noted: Promise<unknown> | undefined) => void;
  readonly leaveIfDone: (loads: readonly Load[]) => void;
  readonly retrying: (segment: SealedSegment, step: string) => Retrying;
}

/**
 * When the wait of quiet tables ends (`quiet-tables.ts`): they go in bundles, one bundle after another, so that the inserts
 * of one never pile up behind those of the one before. Where the store does not make as many as come, each takes those
 * that have waited for longest: a table then waits for as long as the store takes for all that wait. A bundle that cannot
 * move holds up no other.
 */
export class Bundling {
  readonly #options: BundlingOptions;
  readonly #quiet: QuietTables;
  /** Bundles that are not in the store yet. */
  readonly #underWay = new Set<Shipment>();
  /**
   * Fulfils when the newest bundle is noted, or the drain has stopped. One is noted after another: a later life would send
   * one that it finds before what waits, also what came earlier.
   */
  #noted: Promise<unknown> = Promise.resolve();
  #cancelTimer = () => {};

  constructor(options: BundlingOptions) {
    this.#options = options;
    this.#quiet = new QuietTables(options.quiet, options.clock);
  }

  /** Whether no table waits, or is on its way after it did. */
  get isIdle(): boolean {
    return this.#quiet.dueInMs === undefined && this.#underWay.size === 0;
  }

  /** For how long some table should have been on its way that waits still. */
  get overdueMs(): number {
    return Math.max(0, -(this.#quiet.dueInMs ?? 0));
  }

  /** Keeps what is to wait of a segment. @returns the rest */
  take(load: Load, batches: readonly TableBatch[], isLeft: (batch: TableBatch) => boolean): TableBatch[] {
    return this.#quiet.take(load, batches, isLeft);
  }

  /** Ends the waits that are over, if the store is done with those that ended before; to be called when that may have changed. */
  endDue(): void {
    this.#cancelTimer();
    const { clock, signal, moves } = this.#options;
    if (signal.aborted) return;
    while ((this.#quiet.dueInMs ?? 1) <= 0) {
      if ([...this.#underWay].some(moves)) return;
      this.end(this.#quiet.due());
    }
    const { dueInMs } = this.#quiet;
    if (dueInMs !== undefined) this.#cancelTimer = clock.after(dueInMs, () => this.endDue());
  }

  /** Ends the wait of all tables, or of those of some datasets, by their first tables. */
  end(leads?: Iterable<string>): void {
    const waited = this.#quiet.release(leads);
    if (waited === undefined) return;
    const { backlog, retrying } = this.#options;
    const segments = waited.loads.map(({ segment }) => segment);
    const tables = new Map(
      waited.batches.map((batch) => [nameOf(batch), batch.parts[0]?.segment.number ?? 0]),
    );
    const [oldest] = segments;
    if (oldest === undefined) throw new Error('BUG: a bundle of nothing');
    const note = () => backlog.writeManifest(segments, tables);
    this.#noted = this.#noted.then(() => untilDone(note, retrying(oldest, 'bundle')));
    this.send(waited, this.#noted);
  }

  /** @param noted fulfils when the bundle is; undefined if it is */
  send({ loads, batches }: Waited, noted?: Promise<unknown>): void {
    const { send, leaveIfDone } = this.#options;
    const bundle = new Shipment(loads, true);
    for (const batch of batches) send(bundle, batch, noted);
    if (bundle.isDone) leaveIfDone(loads);
    else this.#underWay.add(bundle);
  }

  /** The store has all of a shipment. */
  arrived(shipment: Shipment): void {
    this.#underWay.delete(shipment);
  }

  /** No wait ends by itself any more. */
  stop(): void {
    this.#cancelTimer();
  }
}
