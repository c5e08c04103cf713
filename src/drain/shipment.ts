import { Signal } from '../lib/signal.ts';
import type { SealedSegment } from '../wal/segment.ts';

/** The way of one table into the store: one shipment behind another. */
export class Lane {
  /** `<database>.<table>`, unquoted. */
  readonly name: string;
  /** The name of the lane that goes before it in each shipment; its own, if it is that. */
  readonly lead: string;
  /** Fulfils when all that was put into it has gone, or the drain has stopped. */
  tail: Promise<unknown> = Promise.resolve();
  /** The last shipment that was put into it. */
  newest: Shipment | undefined;
  /** Failed, and not succeeded since. */
  inTrouble = false;

  constructor(name: string, lead: string) {
    this.name = name;
    this.lead = lead;
  }
}

/** A segment until the log does not have it any more. */
export class Load {
  readonly segment: SealedSegment;
  /** An earlier life of the process left it. */
  readonly isLeft: boolean;
  /** What keeps it back: datasets whose part waits for more, by the names of their first tables; bundles to be recovered. */
  readonly waiting = new Set<string>();
  /** What took parts of it. */
  readonly shipments = new Set<Shipment>();
  /** Whether it is being removed. */
  isLeaving = false;
  isGone = false;

  /** @param isLeft an earlier life of the process left it */
  constructor(segment: SealedSegment, isLeft: boolean) {
    this.segment = segment;
    this.isLeft = isLeft;
  }

  /** Whether the store has all of it. */
  get isDone(): boolean {
    return this.waiting.size === 0 && [...this.shipments].every(({ isDone }) => isDone);
  }
}

/** Tables that take their parts of one segment, or of several, into the store, each in one insert. */
export class Shipment {
  /** In their order. */
  readonly loads: readonly Load[];
  /** The tables that the store does not have yet. */
  readonly left = new Set<Lane>();
  /** Tables to which an insert may have been sent before, and it is not known what became of it. */
  readonly doubtful = new Set<Lane>();
  /** Wakes when a part of it is gone, when it was noted what the store has of it, and when the drain stops. */
  readonly passable = new Signal();
  readonly #last: SealedSegment;
  readonly #arrived: string[] = [];
  /** Under way: the note of what the store has. */
  noting: Promise<void> | undefined;

  /** Whether its tables have waited for more. */
  readonly isBundle: boolean;

  constructor(loads: readonly Load[], isBundle: boolean) {
    const last = loads.at(-1);
    if (last === undefined) throw new Error('BUG: a shipment of nothing');
    this.loads = loads;
    this.isBundle = isBundle;
    this.#last = last.segment;
    for (const load of loads) load.shipments.add(this);
  }

  /** The segment that notes about it go with. */
  get last(): SealedSegment {
    return this.#last;
  }

  /** Whether the store has all of it. */
  get isDone(): boolean {
    return this.left.size === 0;
  }

  arrived(lane: Lane): void {
    this.left.delete(lane);
    this.#arrived.push(lane.name);
  }

  /** The tables that the store has and no note says so. */
  toNote(): readonly string[] {
    return this.#arrived.filter((name) => !this.#last.checkpoint.tables.has(name));
  }

  /** Whether a table that is done with it may go on. */
  lets(lane: Lane): boolean {
    return this.loads.some(({ isGone }) => isGone) || this.#last.checkpoint.tables.has(lane.name);
  }
}
