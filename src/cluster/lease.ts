import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { sleep } from '../lib/backoff.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import type { NodeRegistry, ReadPosition } from './nodes.ts';

export interface LeaseOptions {
  readonly registry: Pick<NodeRegistry, 'report' | 'others'>;
  /** How long a node may trust what it has read of the metadata log; the same on all nodes. */
  readonly leaseMs: number;
  /** How far this node has read it. */
  readonly position: () => ReadPosition;
  readonly timers: Clock & Timers;
}

/**
 * What lets a deletion on one node be the end of it on all.
 *
 * - A node trusts its copy of the metadata log for `leaseMs` from the start of its last read of it, and from the start
 *   of its last report to the others, whichever was earlier. Then it knows nobody (`requireCurrent`) until it has
 *   read again.
 * - It reports before its first read and before the next one after a lease without a report, after each read that
 *   found something, and three times in each lease.
 * - Who has withdrawn something waits (`caughtUp`) until each node has reported that it has read that far, has said
 *   that it leaves, or cannot trust any more what it read before: for a lease at most.
 *
 * So a node that does not know of a deletion has either not begun, or is waited for. Durations are measured by
 * monotonic clocks; a little is added for clocks that run at different speeds. The store's clock only tells which
 * nodes are long gone.
 */
export class Lease {
  readonly #options: LeaseOptions;
  /** When the last read and the last report were begun that succeeded. */
  #readMs = Number.NEGATIVE_INFINITY;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #reported: ReadPosition | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** @throws AppError `store_unavailable` when what this node knows may be out of date */
  requireCurrent(): void {
    const { timers, leaseMs } = this.#options;
    if (timers.monotonicMs() < Math.min(this.#readMs, this.#reportedMs) + leaseMs) return;
    throw new AppError(
      'store_unavailable',
      'users, keys and roles may have changed: the store has not answered for longer than MILLRACE_IDENTITY_LEASE_MS',
    );
  }

  /**
   * Reads, so that what is known can be trusted for another while.
   * @throws what `read` throws, StoreError
   */
  async renew(read: () => Promise<void>): Promise<void> {
    const { timers, leaseMs, position } = this.#options;
    // Whoever takes this node for gone must find it here again before it reads.
    if (timers.monotonicMs() - this.#reportedMs >= leaseMs) await this.#report();
    const startedMs = timers.monotonicMs();
    await read();
    this.#readMs = startedMs;
    const isNews =
      this.#reported === undefined || parts.some((part) => position()[part] !== this.#reported?.[part]);
    if (isNews || timers.monotonicMs() - this.#reportedMs >= leaseMs / 3) await this.#report();
  }

  /**
   * Fulfils when all nodes know what this one knows now, or trust no longer what they knew before.
   * @param signal gives up
   * @throws AppError `shutting_down` when it was given up
   */
  async caughtUp(signal: AbortSignal): Promise<void> {
    const { registry, leaseMs, position, timers } = this.#options;
    const wanted = position();
    const endMs = timers.monotonicMs() + leaseMs * 1.01;
    while (!signal.aborted && timers.monotonicMs() < endMs) {
      try {
        const others = await registry.others(2 * leaseMs + limits.nodeGoneMs);
        if (others.every((each) => parts.every((part) => each[part] >= wanted[part]))) return;
      } catch (error) {
        // Until the store answers again, the others cannot read either; the end of the lease needs no answer.
        if (!(error instanceof StoreError)) throw error;
      }
      await sleep(limits.caughtUpPollMs, signal, timers);
    }
    if (signal.aborted) {
      throw new AppError(
        'shutting_down',
        'the change is made; whether all nodes know of it was not waited for',
      );
    }
  }

  /**
   * Nobody has to wait for this node any more. It must know nobody from here on.
   * @throws StoreError
   */
  async leave(): Promise<void> {
    this.#readMs = Number.NEGATIVE_INFINITY;
    await this.#options.registry.report(this.#options.position(), true);
  }

  async #report(): Promise<void> {
    const { registry, position, timers } = this.#options;
    const startedMs = timers.monotonicMs();
    const read = position();
    await registry.report(read, false);
    this.#reportedMs = startedMs;
    this.#reported = read;
  }
}

const parts = ['identities', 'tenants', 'datasets'] as const;
