import { FairQueue } from '../lib/fair-queue.ts';
import type { RecentCosts } from '../lib/recent-costs.ts';
import { limits } from '../limits/limits.ts';

export type TaskLength = 'short' | 'long';

/**
 * Decides which decoding task runs next.
 *
 * - The tenant that has used the least worker time lately is next. Time is measured by the workers; bytes
 *   or requests would not tell, since a few bytes can take long. Among the tasks of one tenant, short and
 *   long ones alternate.
 * - Long tasks never occupy every worker: one worker beyond `threads` takes short tasks while all others run
 *   long ones. The operating system shares the cores among them.
 * - Memory counts as held from the start of a long task, or the end of decoding, until the blocks are in the
 *   log. Above a bound long tasks wait; above twice that bound all tasks wait.
 */
export class DecodeScheduler<Short, Long> {
  readonly short: FairQueue<Short>;
  readonly long: FairQueue<Long>;
  /**
   * Long tasks on blocks that are held already. They run first, since only their end releases that memory.
   */
  readonly overflow: FairQueue<Long>;
  readonly #threads: number;
  readonly #costs: Pick<RecentCosts, 'of'>;
  /** Tasks that run in workers. */
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

  /** Waiting tasks. */
  get size(): number {
    return this.short.size + this.long.size + this.overflow.size;
  }

  /** Which kind of task starts now; undefined if no worker is free for any that waits. */
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

  /**
   * @returns whether the spare worker runs it. The others are preferred: they remember series
   *   that they have decoded.
   */
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
