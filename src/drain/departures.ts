import { type Retrying, untilDone } from '../lib/backoff.ts';
import { Watermark } from '../lib/watermark.ts';
import type { Backlog } from '../wal/backlog.ts';
import type { SealedSegment } from '../wal/segment.ts';
import type { Load } from './shipment.ts';

export interface DeparturesOptions {
  readonly backlog: Pick<Backlog, 'remove'>;
  /** Makes what else is to outlive a segment durable elsewhere; then the segment is removed. */
  readonly beforeRemove: ((segment: SealedSegment) => Promise<void>) | undefined;
  readonly retrying: (segment: SealedSegment, step: string) => Retrying;
  readonly onGone: (load: Load) => void;
}

/** Segments on their way out of the log: each is removed, one after another, when the store has all of it. */
export class Departures {
  readonly #options: DeparturesOptions;
  /** Oldest first, until it and all before it are gone. */
  readonly #queue: Load[] = [];
  /** The store has the segment of this number and all before it. */
  readonly #gone = new Watermark();
  #newest = 0;
  #removing: Promise<void> = Promise.resolve();

  constructor(options: DeparturesOptions) {
    this.#options = options;
  }

  /** What is left, oldest first; what is gone of it too, as long as something before it is not. */
  get waiting(): readonly Load[] {
    return [...this.#queue];
  }

  add(load: Load): void {
    this.#queue.push(load);
    this.#newest = load.segment.number;
  }

  /** Fulfils when the store has the segment of that number, and all before. */
  gone(number: number): Promise<void> {
    return this.#gone.reached(number);
  }

  /** Fulfils when the store has all. */
  all(): Promise<void> {
    return this.gone(this.#newest);
  }

  /** Fulfils when nothing is being removed. */
  settled(): Promise<void> {
    return this.#removing;
  }

  leaveIfDone(loads: readonly Load[]): void {
    for (const load of loads) {
      if (load.isLeaving || !load.isDone) continue;
      load.isLeaving = true;
      this.#removing = this.#removing.then(() => this.#remove(load));
    }
  }

  async #remove(load: Load): Promise<void> {
    const { backlog, beforeRemove, retrying, onGone } = this.#options;
    const { segment } = load;
    // A note that came after its segment had gone would be left behind.
    for (const { noting } of load.shipments) await noting;
    if (beforeRemove !== undefined) {
      if (!(await untilDone(() => beforeRemove(segment), retrying(segment, 'remember')))) return;
    }
    if (!(await untilDone(() => backlog.remove(segment), retrying(segment, 'remove')))) return;
    load.isGone = true;
    onGone(load);
    for (let oldest = this.#queue[0]; oldest?.isGone === true; oldest = this.#queue[0]) {
      this.#queue.shift();
      this.#gone.advance(oldest.segment.number);
    }
  }
}
