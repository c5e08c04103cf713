/**
 * When a table may go on to its next insert.
 *
 * The store remembers a number of tokens for each table and no more. So a table must not go on to its next insert
 * while the log still has all of the last one, where a crash would have it inserted again:
 *
 * - As long as all goes well it waits until a segment of it is gone, which takes as long as its slowest table.
 * - Where all tables that are left are in trouble, having failed and not succeeded since, or belong to a bundle that is
 *   to come, it is noted durably which ones the store has (`wal/stored-notes.ts`), and these go on. So a table that
 *   cannot move, or waits, holds up no other; it costs a small file for each segment that it is in.
 */
import { type Retrying, untilDone } from '../lib/backoff.ts';
import type { Backlog } from '../wal/backlog.ts';
import type { SealedSegment } from '../wal/segment.ts';
import type { Lane, Load, Shipment } from './shipment.ts';

export interface PassageOptions {
  readonly backlog: Pick<Backlog, 'checkpoint' | 'evict'>;
  readonly lanes: ReadonlyMap<string, Lane>;
  /** Aborted when the drain stops. */
  readonly signal: AbortSignal;
  readonly retrying: (segment: SealedSegment, step: string) => Retrying;
}

export class Passage {
  readonly #options: PassageOptions;
  /** Shipments behind which a table waits until it may go on. */
  readonly #awaited = new Set<Shipment>();

  constructor(options: PassageOptions) {
    this.#options = options;
  }

  /** Waits until a table that is done with a shipment may go on. @returns false if the drain was stopped before */
  async mayPass(lane: Lane, shipment: Shipment): Promise<boolean> {
    while (!shipment.lets(lane)) {
      if (this.#options.signal.aborted) return false;
      this.#awaited.add(shipment);
      this.#noteIfStuck(shipment);
      await shipment.passable.next();
    }
    return true;
  }

  /** Whether a table of a shipment is on its way and not in trouble. */
  moves({ left }: Shipment): boolean {
    const { lanes } = this.#options;
    return [...left].some((lane) => !lane.inTrouble && lanes.get(lane.lead)?.inTrouble !== true);
  }

  /** To be called when a table has arrived, or is in trouble. */
  noteWhatIsStuck(): void {
    for (const shipment of this.#awaited) this.#noteIfStuck(shipment);
  }

  /** A segment is gone: the tables that were done with it may go on. */
  open({ shipments }: Load): void {
    for (const shipment of shipments) {
      this.#awaited.delete(shipment);
      shipment.passable.notify();
    }
  }

  /** The signal was aborted. */
  stop(): void {
    for (const shipment of this.#awaited) shipment.passable.notify();
  }

  /** Lets the tables that are done with a shipment go on, if nothing else of its segments moves, or that takes long. */
  #noteIfStuck(shipment: Shipment): void {
    if (!this.#awaited.has(shipment) || shipment.noting !== undefined || shipment.toNote().length === 0)
      return;
    const willBeGone = () => shipment.loads.some(({ isDone }) => isDone);
    const delays = (other: Shipment) => (other === shipment || !other.isBundle) && this.moves(other);
    if (willBeGone() || shipment.loads.some(({ shipments }) => [...shipments].some(delays))) return;
    const { backlog, retrying } = this.#options;
    const note = async () => {
      if (willBeGone()) return;
      await backlog.checkpoint(shipment.last, shipment.toNote());
      for (const load of shipment.loads) if (!this.#isNeeded(load)) backlog.evict(load.segment);
    };
    shipment.noting = untilDone(note, retrying(shipment.last, 'note')).then(() => {
      shipment.noting = undefined;
      shipment.passable.notify();
    });
  }

  /** Whether something of it will be inserted soon, so that it should stay in memory. */
  #isNeeded({ waiting, shipments }: Load): boolean {
    return waiting.size > 0 || [...shipments].some((shipment) => this.moves(shipment));
  }
}
