import { Wakeup } from '../lib/wakeup.ts';
import type { SealedSegment } from '../wal/segment.ts';

/** The way of one table into the store: one segment behind another. */
export class Lane {
  /** `<database>.<table>`, unquoted. */
  readonly name: string;
  /** The name of the lane that goes before it in each segment; its own, if it is that. */
  readonly lead: string;
  /** Fulfils when all that was put into it has gone, or the drain has stopped. */
  tail: Promise<unknown> = Promise.resolve();
  /** The last segment that was put into it. */
  newest: Shipment | undefined;
  /** Failed, and not succeeded since. */
  inTrouble = false;

  constructor(name: string, lead: string) {
    this.name = name;
    this.lead = lead;
  }
}

/** A segment on its way into the store. */
export class Shipment {
  readonly segment: SealedSegment;
  readonly isLeft: boolean;
  /** The tables that the store does not have yet. */
  readonly left = new Set<Lane>();
  /** Tables to which an insert may have been sent before, and it is not known what became of it. */
  readonly doubtful = new Set<Lane>();
  /** Wakes when it is gone, when it was noted what the store has of it, and when the drain stops. */
  readonly passable = new Wakeup();
  readonly #arrived: string[] = [];
  /** The log does not have it any more. */
  isGone = false;
  /** Under way: the note of what the store has. */
  noting: Promise<void> | undefined;

  /** @param isLeft an earlier life of the process left it */
  constructor(segment: SealedSegment, isLeft: boolean) {
    this.segment = segment;
    this.isLeft = isLeft;
  }

  arrived(lane: Lane): void {
    this.left.delete(lane);
    this.#arrived.push(lane.name);
  }

  /** The tables that the store has and no note says so. */
  toNote(): readonly string[] {
    return this.#arrived.filter((name) => !this.segment.stored.tables.has(name));
  }

  /** Whether a table that is done with it may go on. */
  lets(lane: Lane): boolean {
    return this.isGone || this.segment.stored.tables.has(lane.name);
  }
}
