import { FairQueue } from '../lib/fair-queue.ts';
import type { RecentCosts } from '../lib/recent-costs.ts';
import { limits } from '../limits/limits.ts';

export type TaskLength = 'short' | 'long';

/**
 * What the decoding workers do next, and for whom.
 *
 * - Whose turn it is depends on the time that workers have spent on each tenant lately, as they measured it, not on bytes or
 *   requests: a few bytes can take long. Among tasks of one tenant, now a short one is next, now a long one.
 * - Long tasks never have all workers: there is one more than `threads`, which takes short ones while all the others are
 *   busy with long ones. The operating system shares the cores among them.
 * - What was decoded and is still needed is held, and so is what long tasks take while they run. Above a bound long tasks
 *   wait, above twice as much all do.
 */
export class DecodeScheduler<Short, Long> {
  readonly short: FairQueue<Short>;
  readonly long: FairQueue<Long>;
  /** Long tasks on what is held, which go first: it is let go when they are done, and no sooner. */
  readonly overflow: FairQueue<Long>;
  readonly #threads: number;
  readonly #costs: Pick<RecentCosts, 'of'>;
  /** Tasks that workers have. */
  readonly #running = { short: 0, long: 0 };
  #last: TaskLength = 'long';
  #heldBytes = 0;

  constructor(threads: number, costs: Pick<RecentCosts, 'of'>) {
    this.#threads = threads;
    this.#costs = costs;
    const costOf = (tenant: string): number => costs.of(tenant);
    this.short = new FairQueue(limits.maxQueuedDecodes, costOf);
    this.long = new FairQueue(limits.maxQueuedDecodes, costOf);
    this.overflow = new FairQueue(limits.maxQueuedDecodes, costOf);
  }

  /** Tasks that wait. */
  get size(): number {
    return this.short.size + this.long.size + this.overflow.size;
  }

  /** What a worker is to begin now; undefined while there is nothing for one that is free. */
  next(): TaskLength | undefined {
    const { short, long } = this.#running;
    const isFree = short + long < this.#threads;
    const isSpareFree = short === 0 && long === this.#threads;
    if (isFree && this.overflow.size > 0) return 'long';
    const { maxDecodedBlockBytes } = limits;
    const ofShort =
      (isFree || isSpareFree) && this.#heldBytes < 2 * maxDecodedBlockBytes ? this.short.next() : undefined;
    const ofLong = isFree && this.#heldBytes < maxDecodedBlockBytes ? this.long.next() : undefined;
    if (ofShort === undefined || ofLong === undefined) {
      return ofShort !== undefined ? 'short' : ofLong !== undefined ? 'long' : undefined;
    }
    const [shortCost, longCost] = [this.#costs.of(ofShort), this.#costs.of(ofLong)];
    if (shortCost === longCost) return this.#last === 'long' ? 'short' : 'long';
    return shortCost < longCost ? 'short' : 'long';
  }

  /** @returns whether the spare worker is to do it: the others remember the series that they have met, and are warm */
  begin(length: TaskLength): boolean {
    const isSpare = this.#running.long === this.#threads;
    this.#last = length;
    this.#running[length] += 1;
    return isSpare;
  }

  end(length: TaskLength): void {
    this.#running[length] -= 1;
  }

  hold(bytes: number): void {
    this.#heldBytes += bytes;
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}
